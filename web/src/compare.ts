// Pages about two runs: their tables hold what both say, row by row (matched) or one after the other
// (joined); docs/use/report.md tells the columns.
import { type Cell, type Column, type Table, find, indices, rowsOf } from './model';
import { formatFor, withUnit } from './units';

export type Run = 'this' | 'other';

const AGAINST = 'against_';
const CHANGE = 'change_';

/** What a column of a matched table holds. */
export type Part = 'own' | 'against' | 'change';

export function partOf(table: Table, column: Column): Part {
  const isOf = (prefix: string) =>
    column.name.startsWith(prefix) && find(table, column.name.slice(prefix.length)) !== undefined;
  if (table.comparison !== 'matched') {
    return 'own';
  }
  return isOf(AGAINST) ? 'against' : isOf(CHANGE) ? 'change' : 'own';
}

/** The column of this run that another one belongs to; itself, if it is of this run. */
export function ownName(table: Table, column: Column): string {
  const part = partOf(table, column);
  return column.name.slice(part === 'against' ? AGAINST.length : part === 'change' ? CHANGE.length : 0);
}

export function againstOf(table: Table, name: string): Column | undefined {
  return table.comparison === 'matched' ? find(table, AGAINST + name) : undefined;
}

export function changeOf(table: Table, name: string): Column | undefined {
  return table.comparison === 'matched' ? find(table, CHANGE + name) : undefined;
}

/** Which run has a row: "both", "this", "other". */
export function runsAt(table: Table, row: number): string {
  return table.comparison === 'matched' ? String(find(table, 'runs')?.values[row] ?? '') : 'this';
}

const lacks = (table: Table, run: Run, row: number): boolean =>
  runsAt(table, row) === (run === 'this' ? 'other' : 'this');

function sideOfMatched(table: Table, run: Run): Column[] {
  const own = table.columns.filter((column) => partOf(table, column) === 'own' && column.name !== 'runs');
  return own.map((column) => {
    const from = run === 'this' ? column : againstOf(table, column.name) ?? column;
    const cell = (row: number): Cell => (lacks(table, run, row) ? null : from.values[row] ?? null);
    return { ...column, values: indices(rowsOf(table)).map(cell) };
  });
}

function sideOfJoined(table: Table, run: Run): Column[] {
  const runs = find(table, 'run');
  const rows = indices(rowsOf(table)).filter((row) => runs?.values[row] === run);
  return table.columns
    .filter((column) => column !== runs)
    .map((column) => ({ ...column, values: rows.map((row) => column.values[row] ?? null) }));
}

/** What one run says. Rows of a matched table stay where they are, without values where that run has
 *  no such row. */
export function sideOf(table: Table, run: Run): Table {
  const of = { matched: sideOfMatched, joined: sideOfJoined, none: () => table.columns }[table.comparison];
  return { ...table, comparison: 'none', columns: of(table, run) };
}

/** The same with the rows of that run only. */
export function rowsOfRun(table: Table, run: Run): Table {
  const side = sideOf(table, run);
  if (table.comparison !== 'matched') {
    return side;
  }
  const rows = indices(rowsOf(table)).filter((row) => !lacks(table, run, row));
  const columns = side.columns.map((column) => ({ ...column, values: rows.map((row) => column.values[row] ?? null) }));
  return { ...side, columns };
}

/** "+12.0 %, ×1.12" of a number that was `other` before. */
export function relativeChange(mine: number, other: number): string {
  if (other === 0 || mine === 0) {
    return mine === other ? '±0\u00a0%' : other === 0 ? 'only here' : 'only other';
  }
  const share = (mine - other) / Math.abs(other);
  const ratio = mine / other;
  const percent = `${signed(share * 100, Math.abs(share) < 10 ? 1 : 0)}\u00a0%`;
  return mine === other ? percent : `${percent}, ×${ratio < 0.095 ? ratio.toPrecision(2) : ratio < 100 ? ratio.toFixed(2) : ratio.toFixed(0)}`;
}

/** With its sign, and a true minus. */
export function signed(value: number, decimals: number): string {
  const text = Math.abs(value).toFixed(decimals);
  return Number(text) === 0 ? `±${text}` : `${value > 0 ? '+' : '−'}${text}`;
}

/** "+1.2 ms". */
export function showChange(value: number, unit: string | null): string {
  const size = Math.abs(value);
  const text = withUnit(size, formatFor(unit, size, Number.isInteger(value)));
  return value === 0 ? `±${text}` : `${value > 0 ? '+' : '−'}${text}`;
}
