/**
 * One row of pixels, painted column by column and stretched to a lane's height: what a dense lane costs does not grow with the number of
 * its spans.
 */
import { strengthOf } from './coverage.ts';

export class Strip {
  #canvas = document.createElement('canvas');
  #image: ImageData | null = null;

  /** Paints every column in `colour` (`rgb(r, g, b)`), as strong as its cover, onto `pen` from `top` on. */
  paint(pen: CanvasRenderingContext2D, cover: Float64Array, colour: string, top: number, height: number): void {
    const own = this.#canvas.getContext('2d');
    if (!own) return;
    if (this.#canvas.width !== cover.length || !this.#image) {
      this.#canvas.width = cover.length;
      this.#canvas.height = 1;
      this.#image = own.createImageData(cover.length, 1);
    }
    const [red = 0, green = 0, blue = 0] = (colour.match(/\d+(\.\d+)?/g) ?? []).map(Number);
    const { data } = this.#image;
    for (let column = 0, at = 0; column < cover.length; column++, at += 4) {
      data[at] = red;
      data[at + 1] = green;
      data[at + 2] = blue;
      data[at + 3] = Math.round(strengthOf(cover[column]!) * 255);
    }
    own.putImageData(this.#image, 0, 0);
    pen.imageSmoothingEnabled = false;
    pen.drawImage(this.#canvas, 0, 0, cover.length, 1, 0, top, cover.length, height);
  }
}
