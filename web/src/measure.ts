// How wide text is, so that columns hold it and no more of a name is left out than must be.
import { labelNames } from './labels';

const canvas = document.createElement('canvas').getContext('2d');
const widths = new Map<string, number>();
const MOST_KEPT = 20_000;

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

const LEAST_STEP_PX = 4; // labels of columns that differ by less are the same
const labelled = new WeakMap<readonly string[], Map<number, Map<string, string>>>();

/** A name as it fits beside its siblings, from which it differs; computed once for all of them. */
export function fitName(name: string, pixels: number, siblings: readonly string[]): string {
  if (textWidth(name) <= pixels) {
    return name;
  }
  const step = Math.floor(pixels / LEAST_STEP_PX) * LEAST_STEP_PX;
  const byWidth = labelled.get(siblings) ?? new Map<number, Map<string, string>>();
  const labels = byWidth.get(step) ?? labelNames(siblings, step, textWidth);
  labelled.set(siblings, byWidth.set(step, labels));
  return labels.get(name) ?? name;
}
