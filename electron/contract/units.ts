/**
 * Units as types. A number that crosses a room carries its unit in its type or its name.
 *
 * Instants are nanoseconds since the start of a run (or, inside formats/ and store/, of a process); they are plain numbers,
 * exact to 2^53 ns (about 104 days). What can pass 2^53 (wall clock, raw monotonic clock, sector numbers) is a decimal string.
 */
declare const unit: unique symbol;
type Unit<N extends string> = number & { readonly [unit]?: N };

/** A duration or an instant, integer nanoseconds. */
export type Nanoseconds = Unit<'ns'>;
/** An amount of memory or disk, integer bytes. */
export type Bytes = Unit<'bytes'>;
/** A 64-bit integer as decimal digits, where a number would lose its last ones. */
export type DecimalString = string;

export const NS_PER_MS = 1_000_000;
export const NS_PER_S = 1_000_000_000;

/** The largest exact instant: decoders refuse more. */
export const MAX_INSTANT: Nanoseconds = Number.MAX_SAFE_INTEGER;

const SIZE = /^(\d+(?:\.\d+)?)(TiB|GiB|MiB|KiB|TB|GB|MB|KB|bytes|B)?$/;
const SIZE_UNITS: Record<string, bigint> = {
  TiB: 1n << 40n,
  GiB: 1n << 30n,
  MiB: 1n << 20n,
  KiB: 1n << 10n,
  TB: 1_000_000_000_000n,
  GB: 1_000_000_000n,
  MB: 1_000_000n,
  KB: 1_000n,
  bytes: 1n,
  B: 1n,
};

/**
 * Reads a size such as `8GiB`, `0.5GiB`, `512MB` or `1073741824`, case-exact and exactly: what would not be a whole number of
 * bytes, or is spelled in any other way (`256G`, `1 TiB`, `8gib`), is refused (null), never reinterpreted.
 */
export function parseBytes(text: string): Bytes | null {
  const match = SIZE.exec(text);
  if (!match) return null;
  const [whole = '', fraction = ''] = (match[1] ?? '').split('.');
  const unitBytes = SIZE_UNITS[match[2] ?? 'bytes'];
  if (unitBytes === undefined) return null;
  const scaled = BigInt(whole + fraction) * unitBytes;
  const divisor = 10n ** BigInt(fraction.length);
  if (scaled % divisor !== 0n) return null;
  const bytes = scaled / divisor;
  return bytes > BigInt(Number.MAX_SAFE_INTEGER) ? null : Number(bytes);
}

/** `8.0 GiB`, `512 MiB`, `17 B`: binary units, one decimal from GiB up. */
export function formatBytes(bytes: Bytes): string {
  const abs = Math.abs(bytes);
  if (abs >= 2 ** 40) return `${(bytes / 2 ** 40).toFixed(1)} TiB`;
  if (abs >= 2 ** 30) return `${(bytes / 2 ** 30).toFixed(1)} GiB`;
  if (abs >= 2 ** 20) return `${(bytes / 2 ** 20).toFixed(0)} MiB`;
  if (abs >= 2 ** 10) return `${(bytes / 2 ** 10).toFixed(0)} KiB`;
  return `${bytes} B`;
}
