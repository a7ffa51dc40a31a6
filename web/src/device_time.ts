// Where the time of devices goes: the parts that shares are of, and what is left out of them. The program
// says what is left out (table left_out of the verb summary), so that a finding, the card and this page
// have one whole.
import { colourOf } from './colours';
import { type Column, type Table, find, indices, numberAt, rowsOf, takeRows } from './model';
import { columnLabel, sum } from './units';

export const LEFT_OUT = 'left_out';
const IDLE = 'idle_ns';

export interface TimePart {
  name: string; // of its column
  label: string;
  doc: string;
  value: number;
  colour: string;
}

export interface DeviceTime {
  parts: TimePart[]; // those above zero
  whole: number; // their sum
  busy: number;
  leftOut: TimePart[]; // no part of the whole
}

export const NO_TIME: DeviceTime = { parts: [], whole: 0, busy: 0, leftOut: [] };

const partOf = (column: Column): TimePart =>
  ({ name: column.name, label: columnLabel(column), doc: column.doc, value: sum(column), colour: colourOf(column) });

/** Of the rows of `breakdown`, stacked by the columns `names`, and of the same devices in `leftOut`. */
export function deviceTime(breakdown: Table, names: readonly string[], leftOut: Table | undefined): DeviceTime {
  const left = (leftOut?.columns ?? []).filter((column) => column.role === 'sum').map(partOf).filter((part) => part.value > 0);
  const unseen = left.reduce((total, part) => total + part.value, 0);
  const columns = names.map((name) => find(breakdown, name)).filter((column) => column !== undefined);
  const parts = columns.map(partOf).map((part) => (part.name === IDLE ? { ...part, value: Math.max(0, part.value - unseen) } : part));
  const whole = parts.reduce((total, part) => total + part.value, 0);
  const idle = parts.find((part) => part.name === IDLE)?.value ?? 0;
  return { parts: parts.filter((part) => part.value > 0), whole, busy: whole - idle, leftOut: left };
}

// The columns of `breakdown` that have the colours of what `diff_time` has in rows.
const COLUMNS: Record<string, string> = {
  'compute': 'compute_ns', 'exposed communication': 'exposed_comm_ns', 'exposed copies': 'exposed_copy_ns', 'idle': IDLE,
};

/** The time of one step, as the comparison has it in the column `run`: its parts, and no more. */
export function timeOfUnit(time: Table, run: 'base_ns' | 'test_ns', breakdown: Table | undefined): DeviceTime {
  const [names, values] = [find(time, 'part'), find(time, run)];
  const parts = indices(rowsOf(time)).slice(1).map((row) => {
    const label = String(names?.values[row] ?? '');
    const column = breakdown && find(breakdown, COLUMNS[label] ?? '');
    return { name: COLUMNS[label] ?? label, label, doc: column?.doc ?? '', value: numberAt(values, row), colour: column === undefined ? 'var(--idle)' : colourOf(column) };
  });
  const whole = numberAt(values, 0);
  const idle = parts.find((part) => part.name === IDLE)?.value ?? 0;
  return { parts: parts.filter((part) => part.value > 0), whole, busy: whole - idle, leftOut: [] };
}

/** The rows of one rank. */
export function ofRank(table: Table | undefined, rank: number): Table | undefined {
  const ranks = table && find(table, 'rank');
  return table && takeRows(table, indices(rowsOf(table)).filter((row) => numberAt(ranks, row) === rank));
}
