// The columns of a table on the page, and how wide they are.
import { type Part, againstOf, changeOf, ownName, partOf } from './compare';
import { textWidth } from './measure';
import { type Column, type Table, find, indices, isNumeric, rowsOf } from './model';
import { type Format, chooseFormat, columnLabel, formatCell, formatNumber, isProse, isWrittenOut, maxOf } from './units';

const MOST_CHARACTERS = 44;
const CHARACTER_PX = 7.3;
const DIGIT_PX = 8.4; // of the widest fonts
const PADDING_PX = 22;
const LEVEL_PX = 10;
const MOST_LEVELS = 24; // further ones are not set in
const MOST_WANTED_PX = 1200;
const PAPER_PX = 690;
const PRINT_SCALE = 0.69;
const LEAST_TEXT_PX = 140;
const MOST_SHARE = 0.55; // of the width, for one text
const MEASURED = 12; // texts of a column, the longest ones
const MOST_MEASURED = 400; // characters, no more than fit

/** A column on the page: of this run, of the other, or what changed. */
export interface Shown {
  column: Column;
  part: Part;
  format: Format;
  label: string;
  of: string; // before the label: what it is the other's value or the change of
  width: number; // at least
  wanted: number; // so that nothing is cut
}

const PART_LABEL: Record<Part, string> = { own: '', against: 'other', change: 'change' };

const isSameInBoth = (table: Table, column: Column): boolean => {
  const [against, change] = [againstOf(table, column.name), changeOf(table, column.name)];
  const rows = indices(rowsOf(table));
  return against === undefined
    ? column.name === 'runs' && rows.every((row) => column.values[row] === 'both')
    : rows.every((row) => column.values[row] === against.values[row] && (change?.values[row] ?? 0) === 0);
};

/** One format for what is compared, so that digits line up. */
export function formatOf(table: Table, column: Column): Format {
  const name = ownName(table, column);
  const columns = [find(table, name), againstOf(table, name), changeOf(table, name)].filter((one) => one !== undefined);
  const format = chooseFormat(...columns);
  return partOf(table, column) === 'change'
    ? { ...format, signed: true, unit: column.unit === 'share' ? 'pp' : format.unit }
    : format;
}

/** Whether a column that is 0 as a rule is so here, in both runs. */
function isOnlyZero(table: Table, column: Column): boolean {
  const name = ownName(table, column);
  const isZero = (one: Column | undefined) => one === undefined || one.values.every((value) => value === 0 || value === null);
  return table.usuallyZero?.has(name) === true && isZero(find(table, name)) && isZero(againstOf(table, name));
}

/** All columns, but of those that both runs agree on only this run's, and of where rows are found
 *  nothing, if all are found in both; without those of 0 that text leaves out, too. */
export function shownColumns(table: Table): Shown[] {
  const same = new Set(table.comparison !== 'matched' ? [] : table.columns.filter((column) => isSameInBoth(table, column)).map((column) => column.name));
  const isShown = (column: Column) =>
    partOf(table, column) === 'own' ? !(column.name === 'runs' && same.has('runs')) : !same.has(ownName(table, column));
  return table.columns.filter((column) => isShown(column) && !isOnlyZero(table, column)).map((column) => {
    const [part, format] = [partOf(table, column), formatOf(table, column)];
    const own = columnLabel(find(table, ownName(table, column)) ?? column);
    const [label, of] = part === 'own' ? [own, ''] : [PART_LABEL[part], `${own}, `];
    return { column, part, format, label, of, ...widthsOf(table, column, format, label) };
  });
}

// Keys that say where, not what; on a small screen they can wait.
const PLACES = /^(rank|gpu|stream|device|run|runs|depth|position|correlation)$/;
const MOST_FIRST_NUMBERS = 2;

/** The same columns, first those that matter: what a row is about, how much of it, and its share. */
export function mattersFirst(columns: readonly Shown[]): Shown[] {
  const isName = ({ column }: Shown) => column.type === 'string' && column.role === 'key' && !PLACES.test(column.name);
  const isTime = ({ column }: Shown) => column.unit === 'ns' && column.role !== 'key' && !/^(min|max|mean|stddev)_|begin|end_/.test(column.name);
  const names = columns.filter(isName).slice(0, 1);
  const keys = names.length > 0 ? names : columns.filter(({ column }) => column.role === 'key').slice(0, 2);
  const numbers = columns.filter((one) => isTime(one) || one.column.unit === 'share').slice(0, MOST_FIRST_NUMBERS);
  const first = [...keys, ...numbers];
  return [...first, ...columns.filter((one) => !first.includes(one))];
}

const mostCharacters = (column: Column) => (isProse(column) ? 96 : MOST_CHARACTERS);

/** Whether the texts of a column are words, which do not break. */
export const isShort = (shown: Shown) => shown.wanted <= LEAST_TEXT_PX;

/** How far a name is set in, in the rows of a tree. */
export function indentAt(table: Table, column: Column, row: number): number {
  const depth = column.name === 'name' ? find(table, 'depth') : undefined;
  return Math.min(Number(depth?.values[row] ?? 0), MOST_LEVELS) * LEVEL_PX;
}

/** Of numbers with one format the widest are the largest and the smallest of each kind: those on either
 *  side of zero, of which the nearest have one sign more ("<0.001"), and those with an exponent. */
function widestOf(column: Column, format: Format): number[] {
  const numbers = column.values.filter((cell) => typeof cell === 'number');
  const kinds = [
    numbers.filter((value) => value > 0 && isWrittenOut(value, format)),
    numbers.filter((value) => value < 0 && isWrittenOut(value, format)),
    numbers.filter((value) => value === 0 || !isWrittenOut(value, format)),
  ];
  return kinds.filter((kind) => kind.length > 0).flatMap((kind) => [maxOf(kind), -maxOf(kind.map((value) => -value))]);
}

function numbersWidth(column: Column, format: Format): number {
  return Math.max(0, ...widestOf(column, format).map((value) => formatNumber(value, format).length)) * DIGIT_PX;
}

/** Of distinct texts those of most characters are measured, each where it is set in furthest. */
function textsWidth(table: Table, column: Column, format: Format): number {
  const indents = new Map<string, number>();
  for (const row of indices(column.values.length)) {
    const text = formatCell(column, format, row);
    indents.set(text, Math.max(indents.get(text) ?? 0, indentAt(table, column, row)));
  }
  const length = ([text, indent]: [string, number]) => text.length * CHARACTER_PX + indent;
  const longest = [...indents].sort((a, b) => length(b) - length(a)).slice(0, MEASURED);
  return Math.max(0, ...longest.map(([text, indent]) => textWidth(text.slice(0, MOST_MEASURED)) + indent));
}

/** Fixed for all rows, so that columns stay where they are while rows come and go. */
function widthsOf(table: Table, column: Column, format: Format, label: string): { width: number; wanted: number } {
  const heading = Math.max(...label.split(' ').map((word) => word.length + 2), format.unit.length) * (isNumeric(column) ? DIGIT_PX : CHARACTER_PX);
  if (isNumeric(column)) {
    const width = Math.max(heading, numbersWidth(column, format)) + PADDING_PX;
    return { width, wanted: width };
  }
  const wanted = Math.min(MOST_WANTED_PX, Math.ceil(Math.max(heading, textsWidth(table, column, format))) + PADDING_PX);
  return { width: Math.min(wanted, mostCharacters(column) * CHARACTER_PX + PADDING_PX), wanted };
}

/** The first columns, as many as a page of paper holds in small print. */
export function printedColumns(columns: readonly Shown[]): readonly Shown[] {
  let used = 0;
  return columns.filter((one) => {
    used += (isNumeric(one.column) ? one.width : Math.min(one.width, LEAST_TEXT_PX)) * PRINT_SCALE;
    return used <= PAPER_PX;
  });
}

/** Widths of columns beside each other: what is left of `available` goes to those that are cut. Where
 *  it is too little, no text takes so much of it that the others are out of sight. */
export function roomFor(shown: readonly Shown[], available: number): number[] {
  const most = Math.max(LEAST_TEXT_PX, available * MOST_SHARE);
  const columns = shown.map((one) => ({ ...one, width: isNumeric(one.column) ? one.width : Math.min(one.width, most) }));
  const spare = available - columns.reduce((sum, one) => sum + one.width, 0);
  const lacking = columns.reduce((sum, one) => sum + one.wanted - one.width, 0);
  const part = lacking > 0 ? Math.max(0, Math.min(1, spare / lacking)) : 0;
  return columns.map((one) => Math.floor(one.width + (one.wanted - one.width) * part));
}
