/** The lanes of the live view: what each is called and in which order they lie. */
import type { Lane, LaneKind } from '../contract/live.ts';
import { assertNever } from '../contract/errors.ts';

const LANE_ORDER: LaneKind[] = ['kernel', 'copy', 'lock', 'worker', 'synthesis'];

export function labelOf(kind: LaneKind, device: string | null, index: number): string {
  switch (kind) {
    case 'kernel':
      return index === 0 ? `${device} kernels` : `${device} kernels ${index}`;
    case 'copy':
      return index === 0 ? `${device} copies` : `${device} copies ${index}`;
    case 'lock':
      return `${device} lock`;
    case 'worker':
      return `worker ${index}`;
    case 'synthesis':
      return `synthesis ${index}`;
    default:
      return assertNever(kind);
  }
}

/** Device by device, kernels on top; synthesis belongs to no device and comes last. */
export function compareLanes(a: Lane, b: Lane): number {
  if ((a.device === null) !== (b.device === null)) return a.device === null ? 1 : -1;
  return (a.device ?? '').localeCompare(b.device ?? '') || LANE_ORDER.indexOf(a.kind) - LANE_ORDER.indexOf(b.kind) || a.index - b.index;
}
