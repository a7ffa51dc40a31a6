// Bars: one for each row, of one number or of the parts of a whole.
import { barColour, colourOf } from './colours';
import { type Column, type Table, type View, find, indices, numberAt, rowsOf, textAt } from './model';
import { type Format, chooseFormat, columnLabel, formatFor, rowLabel, shorten, showShare, sum, withUnit } from './units';

const MOST_BARS = 12;
const MOST_STACKS = 40;
const LABEL_CHARACTERS = 38;

const present = (table: Table, names: string[]): Column[] =>
  names.map((name) => find(table, name)).filter((column) => column !== undefined);

/** All rows in their order, or, of many, the longest ones first. */
function mostImportant(rows: number[], most: number, length: (row: number) => number): number[] {
  return rows.length <= most ? rows : [...rows].sort((a, b) => length(b) - length(a)).slice(0, most);
}

function Label({ text }: { text: string }) {
  return <div class="bar-label" title={text}>{shorten(text, LABEL_CHARACTERS)}</div>;
}

const More = ({ count }: { count: number }) =>
  count > 0 ? <p class="note">{count.toLocaleString('en')} more in the table below.</p> : null;

export function Bars({ table, view }: { table: Table; view: View }) {
  const value = find(table, view.values[0] ?? '');
  const labels = present(table, view.labels);
  if (value === undefined || labels.length === 0) {
    return null;
  }
  const rows = indices(rowsOf(table)).filter((row) => numberAt(value, row) > 0);
  const shown = mostImportant(rows, MOST_BARS, (row) => numberAt(value, row));
  const largest = Math.max(...shown.map((row) => numberAt(value, row)));
  const share = find(table, 'share');
  const format = chooseFormat(value);
  const classes = find(table, 'class');
  return (
    <>
      <ul class="bars">
        {shown.map((row) => {
          const length = numberAt(value, row);
          const label = rowLabel(labels, row);
          return (
            <li key={row}>
              <Label text={label} />
              <div class="track" aria-hidden="true">
                <span style={{ width: `${(length / largest) * 100}%`, background: barColour(classes === undefined ? label : textAt(classes, row), value.name, table.name) }} />
              </div>
              <div class="bar-value">
                {withUnit(length, format)}{share !== undefined && <small> {showShare(numberAt(share, row), 1)}</small>}
              </div>
            </li>
          );
        })}
      </ul>
      <More count={rows.length - shown.length} />
    </>
  );
}

function Legend({ parts, format, whole }: { parts: Column[]; format: Format; whole: number }) {
  return (
    <ul class="legend">
      {parts.map((part) => (
        <li key={part.name} title={part.doc}>
          <i style={{ background: colourOf(part.name) }} aria-hidden="true" />
          {columnLabel(part)} <small>{withUnit(sum(part), format)} · {showShare(sum(part), whole)}</small>
        </li>
      ))}
    </ul>
  );
}

export function StackedBars({ table, view }: { table: Table; view: View }) {
  const labels = present(table, view.labels);
  const parts = present(table, view.values).filter((part) => sum(part) > 0);
  const wholeOf = (row: number) => parts.reduce((total, part) => total + numberAt(part, row), 0);
  const rows = indices(rowsOf(table)).filter((row) => wholeOf(row) > 0);
  const isRun = labels.some((label) => label.name === 'rank');
  const shown = isRun ? rows.slice(0, MOST_STACKS) : mostImportant(rows, MOST_BARS, wholeOf);
  const longest = Math.max(...shown.map(wholeOf));
  const format = formatFor(parts[0]?.unit ?? null, longest, true);
  const whole = rows.reduce((total, row) => total + wholeOf(row), 0);
  return (
    <>
      <Legend parts={parts} format={formatFor(parts[0]?.unit ?? null, whole, true)} whole={whole} />
      <ul class="bars">
        {shown.map((row) => (
          <li key={row}>
            <Label text={rowLabel(labels, row)} />
            <div class="track" aria-hidden="true">
              {parts.map((part) => {
                const length = numberAt(part, row);
                return length === 0 ? null : (
                  <span
                    key={part.name}
                    style={{ width: `${(length / longest) * 100}%`, background: colourOf(part.name) }}
                    title={`${columnLabel(part)}: ${withUnit(length, format)}, ${showShare(length, wholeOf(row))}`}
                  />
                );
              })}
            </div>
            <div class="bar-value">{withUnit(wholeOf(row), format)}</div>
          </li>
        ))}
      </ul>
      <More count={rows.length - shown.length} />
    </>
  );
}

/** Whether there is anything to draw. */
export function hasBars(table: Table, view: View): boolean {
  const parts = present(table, view.values);
  return parts.some((part) => sum(part) > 0) && present(table, view.labels).length > 0;
}
