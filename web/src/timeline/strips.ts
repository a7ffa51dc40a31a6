// Boxes as pixels. Every line of boxes is one line of pixels, which the canvas stretches to its height:
// the cost is that of the pixels, however many boxes there are. Rectangles drawn one by one took ten
// times as long with 60,000 of them (bench/README.md).
import { type Boxes, overlapping } from './boxes';
import { type Palette, SHADES } from './palette';
import { type Span } from './view';

const LEAST_WITH_GAP = 4; // pixels: narrower boxes have no gap after them

/** A line to be filled: boxes of a depth in a part of the view. */
export interface Line {
  boxes: Boxes;
  depth: number;
  begin: number; // of the part, in nanoseconds
  end: number;
  keeps?: ((boxes: Boxes, index: number) => boolean) | null; // those that are drawn; without it all are
}

/** A box that is wide enough for its name. */
export interface Labelled {
  boxes: Boxes;
  index: number;
  x: number; // what is seen of it, in pixels of the line
  width: number;
}

/** Lines of pixels, the picture of all boxes that are seen. */
export class Strips {
  readonly canvas = document.createElement('canvas');
  private readonly context = this.canvas.getContext('2d', { willReadFrequently: true });
  private image = new ImageData(1, 1);
  private pixels = new Uint32Array(this.image.data.buffer);
  private leastLabelled = Infinity;

  /** Empty lines; `leastLabelled`: pixels from which a box gets its name. */
  clear(width: number, lines: number, leastLabelled: number): void {
    this.leastLabelled = leastLabelled;
    if (this.image.width !== width || this.image.height < lines) {
      this.image = new ImageData(width, Math.max(lines, 16));
      this.pixels = new Uint32Array(this.image.data.buffer);
      [this.canvas.width, this.canvas.height] = [this.image.width, this.image.height];
    }
    this.pixels.fill(0);
  }

  put(): void {
    this.context?.putImageData(this.image, 0, 0);
  }

  /** Draws boxes into a line; gives those that are wide enough for a name. */
  fill(row: number, line: Line, view: Span, palette: Palette, matches: Uint8Array | null, gap: number): Labelled[] {
    const { boxes } = line;
    const { width } = this.image;
    const scale = width / (view.end - view.begin);
    const at = (ns: number) => Math.max(0, Math.min(width, Math.floor((ns - view.begin) * scale)));
    const [left, right] = [at(line.begin), at(line.end)];
    const [first, end] = overlapping(boxes, line.depth, Math.max(line.begin, view.begin), Math.min(line.end, view.end));
    const labelled: Labelled[] = [];
    let drawn = left;
    for (let i = first; i < end; ++i) {
      const from = Math.max(drawn, at(boxes.begin[i]!));
      const to = Math.min(right, Math.max(from + 1, at(boxes.end[i]!)));
      if (to <= from || line.keeps?.(boxes, i) === false) {
        continue; // its pixel is drawn already, or it is not of this line
      }
      this.paint(row, from, to - from >= LEAST_WITH_GAP * gap ? to - gap : to, colourAt(boxes, i, palette, matches));
      drawn = Math.max(left, at(boxes.end[i]!));
      if (to - from >= this.leastLabelled) {
        labelled.push({ boxes, index: i, x: from, width: to - from });
      }
    }
    return labelled;
  }

  private paint(row: number, from: number, to: number, colour: number): void {
    const offset = row * this.image.width;
    if (to - from === 1) {
      this.pixels[offset + from] = colour;
    } else {
      this.pixels.fill(colour, offset + from, offset + to);
    }
  }
}

/** Where the colours of a box are in a palette: a merged box is as pale as it is empty. */
export function shadeOf(boxes: Boxes, i: number): number {
  const duration = boxes.busy === null ? 0 : boxes.end[i]! - boxes.begin[i]!;
  const full = duration > 0 ? Math.ceil((boxes.busy![i]! / duration) * SHADES) - 1 : SHADES - 1;
  return boxes.tone[i]! * SHADES + Math.max(0, Math.min(SHADES - 1, full));
}

function colourAt(boxes: Boxes, i: number, palette: Palette, matches: Uint8Array | null): number {
  const colours = matches === null || matches[boxes.name[i]!] === 1 ? palette.full : palette.pale;
  return colours[shadeOf(boxes, i)] ?? 0xff808080;
}
