// Bars: one for each row, of one number or of the parts of a whole; two, where there is another run.
import { colourOf, rowColour } from './colours';
import { againstOf, relativeChange, runsAt, sideOf } from './compare';
import { type Column, type Table, type View, find, indices, numberAt, rowsOf } from './model';
import { RunLegend } from './runs';
import { useWidth } from './hooks';
import { fitName } from './measure';
import { type Format, NO_NAME, chooseFormat, columnLabel, formatFor, maxOf, namingColumns, rowLabel, showShare, sum, withUnit } from './units';

const MOST_BARS = 12; // of names
const MOST_ORDERED = 24; // of what has an order of its own
const MOST_STACKS = 40;
const LABEL_PX = 310;
const NARROW_PX = 640; // bars stand below their labels
const VALUE_PX = 150;

const present = (table: Table, names: string[]): Column[] =>
  names.map((name) => find(table, name)).filter((column) => column !== undefined);

/** What names a row; of joined runs, the run, too. */
export function labelsOf(table: Table, view: View): Column[] {
  const columns = present(table, table.comparison === 'joined' ? ['run', ...view.labels] : view.labels);
  const mine = indices(rowsOf(table)).filter((row) => runsAt(table, row) !== 'other');
  return namingColumns(columns, mine);
}

/** Names, or of many rows the longest ones, by length; all else in its order. */
function mostImportant(table: Table, view: View, rows: number[], length: (row: number) => number): number[] {
  const areNames = find(table, view.labels[view.labels.length - 1] ?? '')?.hints?.names === true;
  const most = areNames ? MOST_BARS : MOST_ORDERED;
  const isSorted = areNames || rows.length > most;
  return isSorted ? [...rows].sort((a, b) => length(b) - length(a)).slice(0, most) : rows;
}

/** Bars with what names them, which gets as much room as there is. */
export function BarList({ rows, draw }: { rows: number[]; draw: (row: number, labelPx: number) => preact.ComponentChild }) {
  const [box, width] = useWidth<HTMLUListElement>();
  const labelPx = width > 0 && width < NARROW_PX ? width - VALUE_PX : LABEL_PX;
  return <ul class="bars" ref={box}>{rows.map((row) => <li key={row}>{draw(row, labelPx)}</li>)}</ul>;
}

export function Label({ text, among, width }: { text: string; among: readonly string[]; width: number }) {
  return <div class="bar-label" title={text}>{fitName(text || NO_NAME, width, among)}</div>;
}

export const More = ({ count }: { count: number }) =>
  count > 0 ? <p class="note">{count.toLocaleString('en')} more in the table below.</p> : null;

interface Stretch {
  name: string;
  length: number;
  colour: string;
  title?: string;
}

/** Stretches side by side; `whole` fills the width. */
function Track({ parts, whole, isOther }: { parts: Stretch[]; whole: number; isOther: boolean }) {
  return (
    <div class={isOther ? 'track other' : 'track'} aria-hidden="true">
      {parts.filter((part) => part.length > 0).map((part) => (
        <span
          key={part.name}
          style={{ width: `${(part.length / whole) * 100}%`, backgroundColor: part.colour }}
          title={part.title}
        />
      ))}
    </div>
  );
}

/** The number of this run, and below it that of the other one. */
function PairValue({ mine, other, format }: { mine: number; other: number; format: Format }) {
  const told = (value: number) => (value === 0 ? '–' : withUnit(value, format));
  return (
    <div class="bar-value pair">
      <div>{told(mine)} <small>{relativeChange(mine, other)}</small></div>
      <div class="other">{told(other)} <small>other</small></div>
    </div>
  );
}

export function Bars({ table, view }: { table: Table; view: View }) {
  const value = find(table, view.values[0] ?? '');
  const labels = labelsOf(table, view);
  if (value === undefined || labels.length === 0) {
    return null;
  }
  const other = againstOf(table, value.name);
  const longer = (row: number) => Math.max(numberAt(value, row), numberAt(other, row));
  const rows = indices(rowsOf(table)).filter((row) => longer(row) > 0);
  const nameOf = (row: number) => rowLabel(labels, row, labels.map((label) => againstOf(table, label.name)));
  const shown = mostImportant(table, view, rows, longer);
  const names = shown.map(nameOf);
  const largest = maxOf(shown.map(longer));
  const share = find(table, 'share');
  const format = chooseFormat(...[value, other].filter((column) => column !== undefined));
  return (
    <>
      {other !== undefined && <RunLegend />}
      <BarList
        rows={shown}
        draw={(row, labelPx) => {
          const colour = rowColour(table, row, value);
          const stretch = (column: Column) => [{ name: column.name, length: numberAt(column, row), colour }];
          return (
            <>
              <Label text={nameOf(row)} among={names} width={labelPx} />
              <div class="tracks">
                <Track parts={stretch(value)} whole={largest} isOther={false} />
                {other !== undefined && <Track parts={stretch(other)} whole={largest} isOther />}
              </div>
              {other !== undefined ? <PairValue mine={numberAt(value, row)} other={numberAt(other, row)} format={format} /> : (
                <div class="bar-value">
                  {withUnit(numberAt(value, row), format)}{typeof share?.values[row] === 'number' && <small> {showShare(numberAt(share, row), 1)}</small>}
                </div>
              )}
            </>
          );
        }}
      />
      <More count={rows.length - shown.length} />
    </>
  );
}

interface Parts {
  columns: Column[]; // of this run
  others: (Column | undefined)[]; // beside them
  hasOther: boolean;
}

function partsOf(table: Table, view: View): Parts {
  const other = table.comparison === 'matched' ? sideOf(table, 'other') : undefined;
  const mine = table.comparison === 'matched' ? sideOf(table, 'this') : table;
  const all = present(mine, view.values).map((column) => ({ column, other: other && find(other, column.name) }));
  const drawn = all.filter((part) => sum(part.column) > 0 || (part.other !== undefined && sum(part.other) > 0));
  return {
    columns: drawn.map((part) => part.column),
    others: drawn.map((part) => part.other),
    hasOther: other !== undefined,
  };
}

function Legend({ parts, format, wholes }: { parts: Parts; format: Format; wholes: [number, number] }) {
  return (
    <ul class="legend">
      {parts.columns.map((part, i) => {
        const other = parts.others[i];
        return (
          <li key={part.name} title={part.doc}>
            <i style={{ background: colourOf(part) }} aria-hidden="true" />
            {columnLabel(part)} <small>
              {withUnit(sum(part), format)} · {showShare(sum(part), wholes[0])}
              {other !== undefined && `; other ${withUnit(sum(other), format)} · ${showShare(sum(other), wholes[1])}`}
            </small>
          </li>
        );
      })}
    </ul>
  );
}

export function StackedBars({ table, view }: { table: Table; view: View }) {
  const labels = labelsOf(table, view);
  const parts = partsOf(table, view);
  const total = (columns: (Column | undefined)[], row: number) =>
    columns.reduce((whole, part) => whole + numberAt(part, row), 0);
  const mine = (row: number) => total(parts.columns, row);
  const other = (row: number) => total(parts.others, row);
  const longer = (row: number) => Math.max(mine(row), other(row));
  const rows = indices(rowsOf(table)).filter((row) => longer(row) > 0);
  const isRun = labels.some((label) => label.name === 'rank');
  const shown = isRun ? rows.slice(0, MOST_STACKS) : mostImportant(table, view, rows, longer);
  const nameOf = (row: number) => rowLabel(labels, row, labels.map((label) => againstOf(table, label.name)));
  const names = shown.map(nameOf);
  const longest = Math.max(...shown.map(longer));
  const format = formatFor(parts.columns[0]?.unit ?? null, longest, true);
  const wholes: [number, number] = [
    rows.reduce((whole, row) => whole + mine(row), 0),
    rows.reduce((whole, row) => whole + other(row), 0),
  ];
  const stretches = (columns: (Column | undefined)[], row: number): Stretch[] =>
    parts.columns.map((part, i) => {
      const length = numberAt(columns[i], row);
      const title = `${columnLabel(part)}: ${withUnit(length, format)}, ${showShare(length, total(columns, row))}`;
      return { name: part.name, length, colour: colourOf(part), title };
    });
  return (
    <>
      <Legend parts={parts} format={formatFor(parts.columns[0]?.unit ?? null, Math.max(...wholes), true)} wholes={wholes} />
      {parts.hasOther && <RunLegend />}
      <BarList
        rows={shown}
        draw={(row, labelPx) => (
          <>
            <Label text={nameOf(row)} among={names} width={labelPx} />
            <div class="tracks">
              <Track parts={stretches(parts.columns, row)} whole={longest} isOther={false} />
              {parts.hasOther && <Track parts={stretches(parts.others, row)} whole={longest} isOther />}
            </div>
            {parts.hasOther ? <PairValue mine={mine(row)} other={other(row)} format={format} /> : (
              <div class="bar-value">{withUnit(mine(row), format)}</div>
            )}
          </>
        )}
      />
      <More count={rows.length - shown.length} />
    </>
  );
}

/** Whether there is anything to draw. */
export function hasBars(table: Table, view: View): boolean {
  return partsOf(table, view).columns.length > 0 && present(table, view.labels).length > 0;
}
