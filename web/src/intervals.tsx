// Intervals: a bar for each row from zero to its value, a line over what is known of it, and a mark at
// what it is held against; two bars, where there is another run.
import { Label, More, BarList, labelsOf } from './bars';
import { rowColour } from './colours';
import { againstOf, runsAt } from './compare';
import { type Column, type Table, type View, find, indices, numberAt, rowsOf } from './model';
import { RunLegend } from './runs';
import { type Format, columnLabel, formatFor, formatNumber, rowLabel, withUnit } from './units';

const MOST_NAMES = 12;
const MOST_ROWS = 24; // of what has an order of its own

interface Known {
  value: number;
  range: [number, number] | null;
  mark: number | null;
}

const has = (column: Column | undefined, row: number): column is Column =>
  typeof column?.values[row] === 'number';

/** Values whose rows have units of their own are parts of their marks; null where nothing is drawn. */
function knownAt(columns: (Column | undefined)[], mark: Column | undefined, row: number): Known | null {
  const [value, low, high] = columns;
  const whole = value?.unit === 'row' ? Math.abs(numberAt(mark, row)) : 1;
  if (!has(value, row) || !Number.isFinite(numberAt(value, row) / whole)) {
    return null;
  }
  return {
    value: numberAt(value, row) / whole,
    range: has(low, row) && has(high, row) ? [numberAt(low, row) / whole, numberAt(high, row) / whole] : null,
    mark: has(mark, row) ? numberAt(mark, row) / whole : null,
  };
}

interface Side {
  columns: (Column | undefined)[];
  mark: Column | undefined;
}

const mySide = (table: Table, view: View): Side => ({
  columns: view.values.map((name) => find(table, name)),
  mark: find(table, view.x),
});

function otherSide(table: Table, view: View): Side | null {
  const columns = view.values.map((name) => againstOf(table, name));
  return columns[0] === undefined ? null : { columns, mark: againstOf(table, view.x) };
}

const reach = (known: Known | null): number[] =>
  known === null ? [] : [known.value, ...(known.range ?? []), ...(known.mark === null ? [] : [known.mark])];

function rangeText(known: Known, format: Format): string {
  return known.range === null ? '' : `${formatNumber(known.range[0], format)} to ${formatNumber(known.range[1], format)}`;
}

function Known({ known, colour, at, isOther, title }: {
  known: Known;
  colour: string;
  at: (value: number) => number;
  isOther: boolean;
  title: string;
}) {
  const between = (from: number, to: number) => ({
    left: `${Math.min(at(from), at(to))}%`,
    width: `${Math.abs(at(to) - at(from))}%`,
  });
  return (
    <div class={isOther ? 'track interval other' : 'track interval'} title={title} aria-hidden="true">
      <span style={{ ...between(0, known.value), backgroundColor: colour }} />
      <i class="zero" style={{ left: `${at(0)}%` }} />
      {known.mark !== null && <i class="held" style={{ left: `${at(known.mark)}%` }} />}
      {known.range !== null && <i class="reach" style={between(known.range[0], known.range[1])} />}
    </div>
  );
}

function Value({ known, format, isOther }: { known: Known | null; format: Format; isOther: boolean }) {
  return (
    <div class={isOther ? 'other' : ''}>
      {known === null ? '–' : withUnit(known.value, format)}
      {known !== null && <small>{rangeText(known, format)}</small>}
      {isOther && <small> other</small>}
    </div>
  );
}

export function Intervals({ table, view }: { table: Table; view: View }) {
  const labels = labelsOf(table, view);
  const value = find(table, view.values[0] ?? '');
  const mine = mySide(table, view);
  const other = otherSide(table, view);
  if (value === undefined || labels.length === 0) {
    return null;
  }
  const known = (side: Side, row: number) => knownAt(side.columns, side.mark, row);
  const rows = indices(rowsOf(table)).filter((row) => runsAt(table, row) !== 'other' && known(mine, row) !== null);
  const areNames = find(table, view.labels[view.labels.length - 1] ?? '')?.hints?.names === true;
  const shown = rows.slice(0, areNames ? MOST_NAMES : MOST_ROWS);
  const all = shown.flatMap((row) => [...reach(known(mine, row)), ...(other === null ? [] : reach(known(other, row)))]);
  const low = all.reduce((least, one) => Math.min(least, one), 0);
  const high = all.reduce((most, one) => Math.max(most, one), 0);
  const at = (one: number) => (high > low ? ((one - low) / (high - low)) * 100 : 0);
  const format = formatFor(value.unit === 'row' ? 'share' : value.unit, Math.max(high, -low), false);
  const others = labels.map((label) => againstOf(table, label.name));
  const names = shown.map((row) => rowLabel(labels, row, others));
  const mark = mine.mark;
  const hasMarks = mark !== undefined && shown.some((row) => has(mark, row));
  return (
    <>
      {hasMarks && <ul class="legend"><li title={mark.doc}><i class="held" aria-hidden="true" />{columnLabel(mark)}</li></ul>}
      {other !== null && <RunLegend />}
      <BarList
        rows={shown}
        draw={(row, labelPx) => {
          const label = rowLabel(labels, row, others);
          const colour = rowColour(table, row, value);
          const draw = (side: Side, isOther: boolean) => {
            const one = known(side, row);
            return one === null ? null : (
              <Known known={one} colour={colour} at={at} isOther={isOther} title={`${label}: ${withUnit(one.value, format)} ${rangeText(one, format)}`} />
            );
          };
          return (
            <>
              <Label text={label} among={names} width={labelPx} />
              <div class="tracks">{draw(mine, false)}{other !== null && draw(other, true)}</div>
              <div class={other === null ? 'bar-value known' : 'bar-value known pair'}>
                <Value known={known(mine, row)} format={format} isOther={false} />
                {other !== null && <Value known={known(other, row)} format={format} isOther />}
              </div>
            </>
          );
        }}
      />
      <More count={rows.length - shown.length} />
    </>
  );
}

/** Whether there is anything to draw. */
export function hasIntervals(table: Table, view: View): boolean {
  const side = mySide(table, view);
  return labelsOf(table, view).length > 0 && indices(rowsOf(table)).some((row) => {
    const known = knownAt(side.columns, side.mark, row);
    return known !== null && reach(known).some((one) => one !== 0);
  });
}
