// How people read numbers: one unit for a whole column, chosen by its largest value, as the text
// writer of the command line does.
import { labelNames } from './labels';
import { type Column, indices, numberAt } from './model';

export interface Format {
  divisor: number;
  decimals: number;
  unit: string;
  grouped: boolean;
  date: boolean;
  signed?: boolean; // a change: with "+" and a true minus
}

type Scale = readonly [number, string];
const TIME: readonly Scale[] = [[1, 'ns'], [1e3, 'µs'], [1e6, 'ms'], [1e9, 's']];
const BYTES: readonly Scale[] = [[1, 'B'], [1e3, 'KB'], [1e6, 'MB'], [1e9, 'GB'], [1e12, 'TB']];
const FLOPS: readonly Scale[] = [
  [1, 'FLOP'], [1e3, 'KFLOP'], [1e6, 'MFLOP'], [1e9, 'GFLOP'], [1e12, 'TFLOP'], [1e15, 'PFLOP'],
];

const compactDecimals = (largest: number) => (largest < 10 ? 3 : largest < 100 ? 2 : 1);

function scaled(largest: number, scales: readonly Scale[], whole: boolean): Format {
  let chosen: Scale = scales[0] ?? [1, ''];
  for (const scale of scales) {
    chosen = largest >= scale[0] ? scale : chosen;
  }
  const decimals = chosen[0] === 1 && whole ? 0 : compactDecimals(largest / chosen[0]);
  return { divisor: chosen[0], decimals, unit: chosen[1], grouped: true, date: false };
}

/** The format for numbers of a base unit up to `largest`. */
export function formatFor(unit: string | null, largest: number, whole: boolean): Format {
  const plain = { divisor: 1, decimals: whole ? 0 : compactDecimals(largest), date: false };
  switch (unit) {
    case 'ns':
      return scaled(largest, TIME, whole);
    case 'bytes':
      return scaled(largest, BYTES, whole);
    case 'flops':
      return scaled(largest, FLOPS, whole);
    case 'share':
      return { divisor: 0.01, decimals: 1, unit: '%', grouped: true, date: false };
    case 'percent':
      return { ...plain, decimals: whole ? 0 : 2, unit: '%', grouped: true };
    case null:
    case 'row': // named by another column
      return { ...plain, unit: '', grouped: !whole };
    case 'count':
      return { ...plain, unit: '', grouped: true };
    default:
      return { ...plain, unit, grouped: true };
  }
}

export function largestOf(columns: readonly Column[]): number {
  let largest = 0;
  for (const column of columns) {
    for (const cell of column.values) {
      largest = typeof cell === 'number' ? Math.max(largest, Math.abs(cell)) : largest;
    }
  }
  return largest;
}

/** The largest of any number of values; Math.max takes about a hundred thousand arguments. */
export function maxOf(values: readonly number[], least = -Infinity): number {
  return values.reduce((most, value) => Math.max(most, value), least);
}

const isWhole = (column: Column) =>
  column.values.every((cell) => typeof cell !== 'number' || Number.isInteger(cell));

/** Scaled numbers that are keys. They name their rows, so that none may look like another or like 0; the
 *  documents of the page do not tell which columns are keys. */
const SCALED_KEY = /^((from|to)_ns|message_bytes)$/;
const MOST_ROUNDED = 0.01; // of a key

/** Whether so many decimals tell `keys` apart and tell what each of them is. */
function tellApart(keys: readonly number[], divisor: number, decimals: number): boolean {
  const told = keys.map((key) => Number((key / divisor).toFixed(decimals)) * divisor);
  const isClose = (key: number, at: number) => Math.abs((told[at] ?? 0) - key) <= Math.abs(key) * MOST_ROUNDED;
  return new Set(told).size === keys.length && keys.every(isClose);
}

/** As many decimals more as keys need: at most down to the base unit, where they are exact. */
function keyFormat(columns: readonly Column[], format: Format): Format {
  const cells = new Set(columns.flatMap((column) => column.values));
  const keys = [...cells].filter((cell) => typeof cell === 'number');
  const exact = Math.round(Math.log10(format.divisor));
  let { decimals } = format;
  while (decimals < exact && !tellApart(keys, format.divisor, decimals)) {
    ++decimals;
  }
  return { ...format, decimals };
}

/** Moments since the recording began: to the nanosecond in short ones, to the microsecond in longer
 *  ones. */
function offsetFormat(largest: number): Format {
  const [divisor, unit] = largest < 1e7 ? [1e3, 'µs'] : [1e6, 'ms'];
  return { divisor, decimals: 3, unit, grouped: true, date: false, signed: true };
}

/** One format for columns of one unit. */
export function chooseFormat(...columns: Column[]): Format {
  const first = columns[0];
  if (first === undefined) {
    return formatFor(null, 0, true);
  }
  if (first.name.endsWith('unix_ns')) {
    return { divisor: 1, decimals: 0, unit: '', grouped: false, date: true };
  }
  if (/(^|_)(begin|end)_ns$/.test(first.name)) {
    return { divisor: 1e9, decimals: 6, unit: 's', grouped: true, date: false };
  }
  if (first.name.endsWith('_offset_ns')) {
    return offsetFormat(largestOf(columns));
  }
  if (first.name === 'ts_ns') {
    return { divisor: 1e3, decimals: 3, unit: 'µs', grouped: false, date: false };
  }
  const format = formatFor(first.unit, largestOf(columns), columns.every(isWhole));
  return SCALED_KEY.test(first.name) ? keyFormat(columns, format) : format;
}

/** Whether a number is written with all its digits, not with an exponent. */
export const isWrittenOut = (value: number, format: Format): boolean => Math.abs(value / format.divisor) <= 1e18;

export function formatNumber(value: number, format: Format): string {
  if (format.date) {
    return `${new Date(value / 1e6).toISOString().replace('T', ' ').slice(0, 23)} UTC`;
  }
  if (format.signed === true) {
    const size = formatNumber(Math.abs(value), { ...format, signed: false });
    if (size.startsWith('<')) {
      return value < 0 ? `>−${size.slice(1)}` : size;
    }
    return /[1-9]/.test(size) ? `${value > 0 ? '+' : '−'}${size}` : size;
  }
  const shown = value / format.divisor;
  if (!isWrittenOut(value, format)) {
    return shown.toExponential(3);
  }
  const text = shown.toFixed(format.decimals).replace(/^-(0(\.0*)?)$/, '$1');
  if (value !== 0 && format.decimals > 0 && !/[1-9]/.test(text)) {
    return `${value < 0 ? '>−' : '<'}${(10 ** -format.decimals).toFixed(format.decimals)}`; // not zero
  }
  if (!format.grouped) {
    return text;
  }
  const [integer = '', fraction] = text.split('.');
  const grouped = integer.replace(/\B(?=(\d{3})+(?!\d))/g, ',');
  return fraction === undefined ? grouped : `${grouped}.${fraction}`;
}

/** A number with its unit: "12.3 ms". */
export function withUnit(value: number, format: Format): string {
  const number = formatNumber(value, format);
  return format.unit === '' ? number : `${number}\u00a0${format.unit}`;
}

/** One number alone, with the unit that suits it. */
export function show(value: number, unit: string | null): string {
  return withUnit(value, formatFor(unit, Math.abs(value), Number.isInteger(value)));
}

/** A share as tables show it: "12.5 %", and "<0.1 %" of what is small but not zero. */
export function showShare(part: number, whole: number): string {
  return whole > 0 ? withUnit(part / whole, formatFor('share', 1, false)) : '–';
}

export function formatCell(column: Column, format: Format, row: number): string {
  const cell = column.values[row];
  if (cell === null || cell === undefined) {
    return '–';
  }
  if (typeof cell === 'boolean') {
    return cell ? 'yes' : 'no';
  }
  return typeof cell === 'number' ? formatNumber(cell, format) : isProse(column) ? prose(cell) : textOf(column, cell);
}

// kUnprintable of output/utf8.cc, which says what they are, and the last two of every plane.
const unprintable = new RegExp(
  '[\\u{0}-\\u{1F}\\u{7F}-\\u{9F}\\u{AD}\\u{34F}\\u{61C}\\u{115F}-\\u{1160}\\u{17B4}-\\u{17B5}\\u{180E}' +
    '\\u{200B}-\\u{200F}\\u{2028}-\\u{202E}\\u{2060}-\\u{206F}\\u{3164}\\u{FDD0}-\\u{FDEF}\\u{FEFF}\\u{FFA0}' +
    '\\u{FFF0}-\\u{FFFB}\\u{1BCA0}-\\u{1BCA3}\\u{1D173}-\\u{1D17A}\\u{E0000}-\\u{E00FF}\\u{E01F0}-\\u{E0FFF}' +
    Array.from({ length: 17 }, (_, plane) => `\\u{${(plane * 0x10000 + 0xfffe).toString(16)}}-\\u{${(plane * 0x10000 + 0xffff).toString(16)}}`).join('') +
    ']',
  'gu',
);

/** Text without characters that reorder, hide or break what stands around them. */
export function printable(text: string): string {
  return text.replace(unprintable, '\ufffd');
}

// Columns whose cells are words of the program, not names of what was recorded.
const WORDS = /(^|_)(cause|bound_by|kind|class|category|collective|metric|status|algorithm)$/;

/** An identifier as words: "host_wait" is "host wait". What is copied keeps the identifier. */
export const plainWords = (identifier: string): string =>
  (/^[a-z][a-z0-9]*(_[a-z0-9]+)+$/.test(identifier) ? identifier.replace(/_/g, ' ') : identifier);

/** The text of a cell as people read it. */
export const textOf = (column: Column | undefined, cell: string): string =>
  printable(column !== undefined && WORDS.test(column.name) ? plainWords(cell) : cell);

/** A sentence of the program, which says "us" as a terminal can: "12 µs", as everywhere on the page. */
export const prose = (sentence: string): string => printable(sentence).replace(/(\d) us(?!\w)/g, '$1 µs');

/** Sentences end in an ellipsis rather than lose their middle. */
export const isProse = (column: Column) => /^(help|evidence|first|summary|origins)$/.test(column.name);

/** Keeps both ends of a long name, which tell more than its middle. */
export function shorten(text: string, most: number): string {
  if (text.length <= most) {
    return text;
  }
  const head = Math.ceil((most - 1) * 0.6);
  return `${text.slice(0, head)}…${text.slice(text.length - (most - 1 - head))}`;
}

/** A name alone that is too long: what tells most of it. */
export function shortenName(name: string, most: number): string {
  return name.length <= most ? name : (labelNames([name], most, () => 1).get(name) ?? name);
}

export const NO_NAME = '(no name)';

const HEADINGS = new Map([
  ['diff', 'What changed'], ['doctor', 'Checks of the recording'], ['ops', 'Operators'], ['whatif', 'What if'],
]);

/** Verbs as headings: "critical-path" becomes "Critical path". */
export const heading = (name: string): string =>
  HEADINGS.get(name) ?? (name.charAt(0).toUpperCase() + name.slice(1)).replace(/[-_]/g, ' ');

/** "total_host_ns" as people read it. */
export function columnLabel(column: Column): string {
  const quantity: Record<string, string> = { ns: 'time', gbps: 'rate' };
  return quantity[column.name] ?? column.name.replace(/_(offset_ns|ns|bytes|gbps)$/, '').replace(/_/g, ' ');
}

/** Columns that say the same of all `rows` name none of them, where others do. */
export function namingColumns(columns: Column[], rows: readonly number[]): Column[] {
  const first = rows[0] ?? 0;
  const naming = columns.filter((column) => rows.some((row) => column.values[row] !== column.values[first]));
  return naming.length > 0 ? naming : columns;
}

/** What names a row in a chart: the cells of the label columns there are; "rank 0 | 1" where the other
 *  run has another number there. */
export function rowLabel(columns: readonly Column[], row: number, others: readonly (Column | undefined)[] = []): string {
  const parts = columns.map((column, i) => {
    const other = others[i]?.values[row] ?? null;
    const cell = column.values[row] ?? other;
    if (cell === null) {
      return '';
    }
    const both = other !== null && other !== cell ? ` | ${other}` : '';
    return typeof cell === 'number' ? `${columnLabel(column)} ${cell}${both}` : textOf(column, String(cell));
  });
  return parts.filter((part) => part !== '').join(' · ');
}

export function sum(column: Column): number {
  return indices(column.values.length).reduce((total, row) => total + numberAt(column, row), 0);
}
