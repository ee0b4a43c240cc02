/** Colour arithmetic for tests of the palettes: WCAG contrast, and distances as readers with other colour vision see them. */
type Triple = readonly [number, number, number];

function linear(hex: string): Triple {
  const [red, green, blue] = [1, 3, 5]
    .map((at) => parseInt(hex.slice(at, at + 2), 16) / 255)
    .map((value) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4));
  return [red!, green!, blue!];
}

/** WCAG 2 contrast of two `#rrggbb`, 1 to 21. */
export function contrast(a: string, b: string): number {
  const luminance = (hex: string) => {
    const [red, green, blue] = linear(hex);
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const [low, high] = [luminance(a), luminance(b)].sort((x, y) => x - y);
  return (high! + 0.05) / (low! + 0.05);
}

/** Machado, Oliveira and Fernandes 2009, severity 1, on linear RGB. */
const VISION = {
  full: [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
  deuteranopia: [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]],
  protanopia: [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
} as const; // prettier-ignore
export type Vision = keyof typeof VISION;
export const VISIONS = Object.keys(VISION) as Vision[];

function oklab([red, green, blue]: Triple): Triple {
  const l = Math.cbrt(0.4122214708 * red + 0.5363325363 * green + 0.0514459929 * blue);
  const m = Math.cbrt(0.2119034982 * red + 0.6806995451 * green + 0.1073969566 * blue);
  const s = Math.cbrt(0.0883024619 * red + 0.2817188376 * green + 0.6299787005 * blue);
  return [
    0.2104542553 * l + 0.793617785 * m - 0.0040720468 * s,
    1.9779984951 * l - 2.428592205 * m + 0.4505937099 * s,
    0.0259040371 * l + 0.7827717662 * m - 0.808675766 * s,
  ];
}

/** Euclidean distance in OKLab as such a reader sees it; 0.02 is about what can just be told apart side by side. */
export function seenDistance(a: string, b: string, vision: Vision): number {
  const see = (hex: string): Triple => {
    const lights = linear(hex);
    const [red, green, blue] = VISION[vision].map((row) =>
      Math.min(1, Math.max(0, row[0] * lights[0] + row[1] * lights[1] + row[2] * lights[2])),
    );
    return oklab([red!, green!, blue!]);
  };
  const [x, y] = [see(a), see(b)];
  return Math.hypot(x[0] - y[0], x[1] - y[1], x[2] - y[2]);
}
