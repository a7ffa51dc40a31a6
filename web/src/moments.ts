// When a row of a table is, and the way there: to its moment on the timeline, which has the same clock.
import { TIMELINE, TIMELINE_ELEMENT, type Table, find } from './model';
import type { Filters } from './route';

/** The column that rows begin at. */
export const BEGIN = 'begin_offset_ns';

let isThere: boolean | undefined;

/** Whether the page has a timeline. */
export function hasTimeline(): boolean {
  isThere ??= (document.getElementById(TIMELINE_ELEMENT)?.textContent ?? 'null').trim() !== 'null';
  return isThere;
}

const numberIn = (table: Table, name: string, row: number): number | null => {
  const cell = find(table, name)?.values[row];
  return typeof cell === 'number' ? cell : null;
};

/** What leads to the moment of a row: its rank and time. null: it has none. Of two runs moments are not comparable. */
export function momentOf(table: Table, row: number): Partial<Filters> | null {
  const begin = table.comparison === 'none' ? numberIn(table, BEGIN, row) : null;
  if (begin === null) {
    return null;
  }
  const length = numberIn(table, 'duration_ns', row) ?? numberIn(table, 'span_ns', row) ?? 0;
  const end = numberIn(table, 'end_offset_ns', row) ?? begin + length;
  return { rank: numberIn(table, 'rank', row), time: [begin, Math.max(end, begin + 1)] };
}

export const MOMENT_SECTION = TIMELINE;
