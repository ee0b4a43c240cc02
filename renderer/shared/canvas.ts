/** A canvas in device pixels, and colours read from the tokens. */

/** Device pixels for a length in CSS pixels, whole. */
export function toDevicePixels(css: number): number {
  return Math.max(1, Math.round(css * (globalThis.devicePixelRatio || 1)));
}

/** Gives the canvas as many pixels as the screen has under it; true when that changed (and wiped it). */
export function fitCanvas(canvas: HTMLCanvasElement, cssWidth: number, cssHeight: number): boolean {
  const width = toDevicePixels(cssWidth);
  const height = toDevicePixels(cssHeight);
  if (canvas.width === width && canvas.height === height) return false;
  canvas.width = width;
  canvas.height = height;
  return true;
}

/** The colours that tokens have here and now, as the canvas understands them. */
export function readColours<const N extends string>(host: HTMLElement, names: readonly N[]): Record<N, string> {
  const probe = document.createElement('span');
  host.append(probe);
  const found: Partial<Record<N, string>> = {};
  for (const name of names) {
    probe.style.color = `var(--${name})`;
    found[name] = getComputedStyle(probe).color;
  }
  probe.remove();
  return found as Record<N, string>;
}

/** Diagonal stripes, `period` device pixels apart. */
export function createHatch(context: CanvasRenderingContext2D, colour: string, period: number, width = 1.25): CanvasPattern | string {
  const tile = document.createElement('canvas');
  tile.width = period;
  tile.height = period;
  const pen = tile.getContext('2d');
  if (!pen) return colour;
  pen.strokeStyle = colour;
  pen.lineWidth = width;
  pen.beginPath();
  for (const shift of [-period, 0, period]) {
    pen.moveTo(shift, period);
    pen.lineTo(shift + period, 0);
  }
  pen.stroke();
  return context.createPattern(tile, 'repeat') ?? colour;
}

/** Square dots, `period` device pixels apart. */
export function createDots(context: CanvasRenderingContext2D, colour: string, period: number, size: number): CanvasPattern | string {
  const tile = document.createElement('canvas');
  tile.width = period;
  tile.height = period;
  const pen = tile.getContext('2d');
  if (!pen) return colour;
  pen.fillStyle = colour;
  pen.fillRect(0, 0, size, size);
  return context.createPattern(tile, 'repeat') ?? colour;
}
