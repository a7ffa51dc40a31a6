// When a row of a table is, and so the way to its moment on the timeline, which has the same clock.
import { momentsOf } from './filters';
import { TIMELINE_ELEMENT, type Table, find } from './model';
import type { Filters } from './route';

/** The column whose cells lead to the timeline. */
export const BEGIN = 'begin_offset_ns';

let isThere: boolean | undefined;

/** Whether the page has a timeline; it is not read for that. */
export function hasTimeline(): boolean {
  isThere ??= (document.getElementById(TIMELINE_ELEMENT)?.textContent ?? 'null').trim() !== 'null';
  return isThere;
}

const numberIn = (table: Table, name: string, row: number): number | null => {
  const cell = find(table, name)?.values[row];
  return typeof cell === 'number' ? cell : null;
};

/** The rank and the time of a row; null: it does not say when it is, or its table is of two runs. */
export function momentOf(table: Table, row: number): Pick<Filters, 'rank' | 'time'> | null {
  const [begin, offset] = [momentsOf(table)?.(row) ?? null, numberIn(table, BEGIN, row)];
  if (begin === null || offset === null) {
    return null;
  }
  const end = numberIn(table, 'end_offset_ns', row);
  const length = end !== null ? end - offset : numberIn(table, 'duration_ns', row) ?? numberIn(table, 'span_ns', row) ?? 0;
  return { rank: numberIn(table, 'rank', row), time: [begin, begin + Math.max(1, length)] };
}
