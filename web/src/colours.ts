// Colours carry one meaning all over the page. Which tone a column or a cell has is decided by the
// program that wrote the page (`hints` in docs/formats/table-json.md); the style sheet holds the shades of both
// themes, by the names of the tones.
import { type Column, type Table, textAt } from './model';

const shade = (tone: string | undefined): string => `var(--${tone ?? 'compute'})`;

/** Of the cell, by the palette of its column. */
export function cellTone(column: Column | undefined, row: number): string | undefined {
  const [tones, cell] = [column?.hints?.tones, textAt(column, row)];
  return tones !== undefined && Object.prototype.hasOwnProperty.call(tones, cell) ? tones[cell] : undefined;
}

export const colourOf = (column: Column): string => shade(column.hints?.tone);

/** Of the bar of a row: by the first cell that has a tone, else that of its value. */
export function rowColour(table: Table, row: number, value: Column): string {
  const tones = table.columns.map((column) => cellTone(column, row));
  return shade(tones.find((tone) => tone !== undefined) ?? value.hints?.tone);
}

/** Of a line of a chart, by its place among them. */
export const lineColour = (tones: readonly string[], index: number): string => shade(tones[index % tones.length]);
