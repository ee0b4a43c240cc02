/** The channels between preload and main, named once. Nothing else crosses. */
export const CHANNELS = {
  /** invoke (name, input) → Result */
  call: 'interlock:call',
  /** invoke (id, page): begins a live feed; what it carries comes on `message`. `page` is a number of this load of the page. */
  openLive: 'interlock:live-open',
  /** invoke (id): ends it. */
  closeLive: 'interlock:live-close',
  /** invoke (id, n): the page has taken n messages; keeps a page that stopped reading from piling them up. */
  tookLive: 'interlock:live-took',
  /** main → page: (id, message), and (id, null) when the feed has ended. */
  message: 'interlock:live-message',
} as const;
