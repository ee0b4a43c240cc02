/** The verdict line as far as it is known today: what the windows say, and that the rest has not been analysed. Never a guess. */
import type { DeviceWindows } from '../../electron/contract/run-report.ts';
import type { LivePicture } from './live-model.ts';
import { formatPercent } from '../parts/durations.ts';
import { NOT_RECORDED, trailingLabel } from '../parts/windows.ts';

export interface Verdict {
  text: string;
  /** The count and the definition behind it. */
  explain: string;
}

export function computeVerdict(picture: LivePicture): Verdict | null {
  const { figures } = picture;
  if (!figures || picture.run === null) return null;
  const ended = picture.endedNs !== null;
  const windows = ended ? figures.run : figures.last60s;
  const wall = windows.reduce((sum, one) => sum + one.wall_ns, 0);
  if (windows.length === 0 || wall === 0) return null;
  const share = (pick: (one: DeviceWindows) => number | null) => {
    let sum: number | null = 0;
    for (const one of windows) {
      const ns = pick(one);
      sum = sum === null || ns === null ? null : sum + ns;
    }
    return sum === null ? NOT_RECORDED : `${formatPercent(sum / wall)} %`;
  };
  const kernel = share((one) => one.kernel_ns);
  const lock = share((one) => one.lock_held_ns);
  const span = ended ? 'this run, which has ended' : `the ${trailingLabel(windows[0])}`;
  const where = windows.length > 1 ? `, over ${windows.length} devices` : '';
  return {
    text: `Kernels ran ${kernel} of ${span}${where}; the lock was held ${lock}. Causes of the rest are not analysed yet.`,
    explain: `${picture.unknown.length > 0 ? 'Events are missing in part of it; that part is hatched in the lanes, and the shares are lower bounds. ' : ''}The two shares are unions over workers and streams, divided by the wall time of every device. Why the device did not compute in the rest of it needs the idle analysis, which this version does not have.`,
  };
}
