// What the filters of the page leave of a table. A filter acts on tables that have the columns for it
// and is named as not acting on others, so that no number is taken for something that it is not.
import { type Column, type Table, find, indices, numberAt, rowsOf, takeRows, textAt } from './model';
import { type Filters, NUMBER_FILTERS } from './route';
import { isProse, textOf } from './units';

/** Texts that name what people look for, beside columns that say so themselves (hints.names). */
const NAMES =
  /^(name|op|operator|kernel|kernels|annotation|activity|caller|called_from|before|after|from_name|to_name|collective|pattern|shapes)$/;

export interface Filtered {
  table: Table; // the rows that are left
  rows: readonly number[] | null; // of the whole table; null: all of them
  applied: string[]; // filters that acted
  missing: string[]; // filters that are set and cannot act
}

type Keeps = (row: number) => boolean;

const isName = (column: Column): boolean =>
  column.type === 'string' && !isProse(column) && (column.hints?.names === true || NAMES.test(column.name));

/** The columns of a key: of two runs also what the other has there. */
const keyColumns = (table: Table, name: string): Column[] =>
  [find(table, name), find(table, `against_${name}`)].filter((column) => column !== undefined);

function byNumber(table: Table, name: string, wanted: number): Keeps | null {
  const columns = keyColumns(table, name);
  return columns.length === 0 ? null : (row) => columns.some((column) => column.values[row] === wanted);
}

/** Of a tree, whose rows have a depth: what matches, with all that it is in and all that is in it. */
function withBranches(depths: Column, rows: number, matches: Keeps): Keeps {
  const kept = new Set<number>();
  const path: number[] = [];
  let below = Infinity; // the depth from which on rows are in one that matches
  for (const row of indices(rows)) {
    const depth = numberAt(depths, row);
    path.length = Math.min(depth, path.length);
    path.push(row);
    below = depth <= below ? Infinity : below;
    if (below === Infinity && matches(row)) {
      path.forEach((above) => kept.add(above));
      below = depth;
    } else if (below !== Infinity) {
      kept.add(row);
    }
  }
  return (row) => kept.has(row);
}

/** Whether a cell has a text in lower case, as it was recorded or as it is shown. */
export function hasText(column: Column, row: number, wanted: string): boolean {
  const cell = textAt(column, row);
  return cell.toLowerCase().includes(wanted) || textOf(column, cell).toLowerCase().includes(wanted);
}

function byText(table: Table, text: string): Keeps | null {
  const columns = table.columns.filter(isName);
  const wanted = text.trim().toLowerCase();
  const matches = (row: number) => columns.some((column) => hasText(column, row, wanted));
  const depths = find(table, 'depth');
  if (columns.length === 0) {
    return null;
  }
  return depths === undefined ? matches : withBranches(depths, rowsOf(table), matches);
}

/** When rows begin, in nanoseconds since the first recording began; null: the table does not say. */
export function momentsOf(table: Table): ((row: number) => number | null) | null {
  const [clock, ranks] = [find(table, 'ts_ns'), find(table, 'rank')];
  const offsets = find(table, 'begin_offset_ns') ?? find(table, 'elapsed_ns'); // both from the begin of the recording of the rank
  const column = offsets ?? (table.clocks !== undefined && ranks !== undefined ? clock : undefined);
  if (column === undefined || table.comparison !== 'none') {
    return null;
  }
  return (row) => {
    const [at, own] = [column.values[row], table.clocks?.get(numberAt(ranks, row))];
    return typeof at !== 'number' ? null : at + (own?.shift ?? 0) - (column === clock ? own?.begin ?? 0 : 0);
  };
}

/** How long a row lasts that says when it begins and ends: to its end, else of the given length. */
export function lastingOf(table: Table, row: number, length: Column | undefined): number {
  const [begin, end] = [find(table, 'begin_offset_ns')?.values[row], find(table, 'end_offset_ns')?.values[row]];
  return typeof begin === 'number' && typeof end === 'number' ? end - begin : numberAt(length, row);
}

const LENGTHS = ['duration_ns', 'span_ns', 'gap_ns', 'capture_ns', 'host_ns'] as const;

/** Rows that last into the range, of tables that say when their rows begin. */
function byTime(table: Table, [begin, end]: readonly [number, number]): Keeps | null {
  const momentOf = momentsOf(table);
  const lengths = LENGTHS.map((name) => find(table, name)).find((column) => column !== undefined);
  if (momentOf === null) {
    return null;
  }
  return (row) => {
    const at = momentOf(row);
    return at !== null && at < end && at + lastingOf(table, row, lengths) >= begin;
  };
}

/** Each filter that is set, with what it keeps. */
function testsOf(table: Table, filters: Filters): [string, Keeps | null][] {
  const tests: [string, Keeps | null][] = [];
  for (const name of NUMBER_FILTERS) {
    const wanted = filters[name];
    if (wanted !== null) {
      tests.push([name, byNumber(table, name, wanted)]);
    }
  }
  if (filters.text.trim() !== '') {
    tests.push(['text', byText(table, filters.text)]);
  }
  if (filters.time !== null) {
    tests.push(['time', byTime(table, filters.time)]);
  }
  return tests;
}

export function filterTable(table: Table, filters: Filters): Filtered {
  const tests = testsOf(table, filters);
  const acting = tests.filter((test): test is [string, Keeps] => test[1] !== null);
  const missing = tests.filter(([, keeps]) => keeps === null).map(([name]) => name);
  if (acting.length === 0) {
    return { table, rows: null, applied: [], missing };
  }
  const rows = indices(rowsOf(table)).filter((row) => acting.every(([, keeps]) => keeps(row)));
  return { table: takeRows(table, rows), rows, applied: acting.map(([name]) => name), missing };
}

/** Whether rows lie in each other by this column, so that its sum counts time twice: of a tree all do; of
 *  other tables the totals beside what is of a row itself. */
const isInclusive = (table: Table, column: Column): boolean =>
  find(table, 'depth') !== undefined || (column.name.startsWith('total_') && find(table, column.name.replace('total_', 'self_')) !== undefined);

/** Whether the numbers of a column may be added up. */
export const isAdditive = (table: Table, column: Column): boolean =>
  column.role === 'sum' && !isInclusive(table, column) && table.comparison !== 'joined';

/** The distinct numbers of all columns that are called so, ascending. */
export function numbersCalled(tables: readonly Table[], name: string): number[] {
  const found = new Set<number>();
  for (const column of tables.flatMap((table) => keyColumns(table, name))) {
    for (const cell of column.values) {
      if (typeof cell === 'number') {
        found.add(cell);
      }
    }
  }
  return [...found].sort((a, b) => a - b);
}
