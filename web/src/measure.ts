// How wide text is, so that columns hold it and no more of a name is left out than must be.
import { shortenName } from './units';

const canvas = document.createElement('canvas').getContext('2d');
const widths = new Map<string, number>();
const MOST_KEPT = 20_000;
const LEAST_CHARACTER_PX = 3;

/** Pixels of text in the font of tables and labels. */
export function textWidth(text: string): number {
  const known = widths.get(text);
  if (known !== undefined) {
    return known;
  }
  if (canvas === null) {
    return text.length * 7.3;
  }
  if (widths.size === 0) {
    canvas.font = `13px ${getComputedStyle(document.body).fontFamily}`;
  }
  const width = canvas.measureText(text).width;
  if (widths.size > MOST_KEPT) {
    widths.clear();
  }
  widths.set(text, width);
  return width;
}

/** As much of a name as fits. */
export function fitName(name: string, pixels: number): string {
  if (textWidth(name) <= pixels) {
    return name;
  }
  let [low, high] = [1, Math.min(name.length, Math.ceil(pixels / LEAST_CHARACTER_PX))];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (textWidth(shortenName(name, middle)) <= pixels) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  return shortenName(name, low);
}
