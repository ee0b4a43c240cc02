/**
 * Names that follow from a log's own words: FNV-1a of 128 bits, and ids made of any text. Nothing here is secret and nobody is kept from
 * making two logs with one name; it tells an operator's log from the next one, and a copy of it from another.
 */

const OFFSET = 0x6c62272e07bb014262b821756295c58dn;
const PRIME = 0x0000000001000000000000000000013bn;
const MASK = (1n << 128n) - 1n;

const ID = /^[A-Za-z0-9_-][A-Za-z0-9._-]{0,63}$/;
const HASH_CHARS = 16;

/** 32 hex digits of the UTF-16 units of `text`, low byte first. */
export function fnv128(text: string): string {
  let hash = OFFSET;
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    hash = ((hash ^ BigInt(unit & 0xff)) * PRIME) & MASK;
    if (unit > 0xff) hash = ((hash ^ BigInt(unit >> 8)) * PRIME) & MASK;
  }
  return hash.toString(16).padStart(32, '0');
}

/** The same hash in the shape of a UUID (version 8: "made some other way"). */
export function uuidOf(text: string): string {
  const hex = fnv128(text);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20)}`;
}

/** `text` itself if it is an id of the contract, else its readable part and a hash of all of it: the same text always gives the same id. */
export function idOf(text: string): string {
  if (ID.test(text)) return text;
  const readable = text
    .replace(/[^A-Za-z0-9._-]+/g, '-')
    .replace(/^[-.]+|[-.]+$/g, '')
    .slice(0, 63 - HASH_CHARS);
  return `${readable === '' ? 'job' : readable}-${fnv128(text).slice(0, HASH_CHARS)}`;
}
