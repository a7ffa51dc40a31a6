// The names with most time; of two runs those that changed most.
import { useMemo } from 'preact/hooks';

import { rowColour } from '../colours';
import { againstOf, relativeChange } from '../compare';
import { filterTable } from '../filters';
import { useWidth } from '../hooks';
import { fitName } from '../measure';
import { type Column, type Report, type Table, find, indices, numberAt, rowsOf, sectionNamed, tableOf, textAt } from '../model';
import { useFilters, useNavigation } from '../navigation';
import type { Filters } from '../route';
import { type Format, NO_NAME, formatFor, maxOf, printable, showShare, sum, withUnit } from '../units';
import { NotFiltered, useLeft } from './overview_filters';

const NUMBER_PX = 150;
const CHANGE_PX = 300;
const NO_TEXT: Partial<Filters> = { text: '' }; // shares of a name are of all names

interface NameRow {
  row: number;
  name: string;
  value: number;
  other: number | null; // null: there is no other run
}

/** The longest first; of two runs the largest change. */
function mostOf(table: Table, value: Column, most: number): NameRow[] {
  const names = find(table, 'name');
  const against = againstOf(table, value.name);
  const rows = indices(rowsOf(table)).map((row) => ({
    row, name: textAt(names, row), value: numberAt(value, row), other: against === undefined ? null : numberAt(against, row),
  }));
  const size = (one: NameRow) => (one.other === null ? one.value : Math.abs(one.value - one.other));
  return rows.filter((one) => size(one) > 0).sort((a, b) => size(b) - size(a)).slice(0, most);
}

function Value({ one, whole, format }: { one: NameRow; whole: number; format: Format }) {
  return one.other === null
    ? <span class="bar-value">{withUnit(one.value, format)} <small>{showShare(one.value, whole)}</small></span>
    : <span class="bar-value wide">{withUnit(one.other, format)} → {withUnit(one.value, format)} <small>{relativeChange(one.value, one.other)}</small></span>;
}

interface LineProps {
  table: Table;
  section: string;
  one: NameRow;
  value: Column;
  largest: number;
  whole: number;
  format: Format;
  width: number;
  siblings: readonly string[];
}

function NameLine({ table, section, one, value, largest, whole, format, width, siblings }: LineProps) {
  const { href } = useNavigation();
  const name = printable(one.name) || NO_NAME;
  const backgroundColor = rowColour(table, one.row, value);
  const room = width - (one.other === null ? NUMBER_PX : CHANGE_PX);
  return (
    <li>
      <a href={href(section, { text: one.name })} title={name}>
        <span class="bar-label">{width > 0 ? fitName(name, room, siblings) : name}</span>
        <Value one={one} whole={whole} format={format} />
        <span class="track" aria-hidden="true"><span style={{ width: `${(one.value / largest) * 100}%`, backgroundColor }} /></span>
        {one.other !== null && <span class="track other" aria-hidden="true"><span style={{ width: `${(one.other / largest) * 100}%`, backgroundColor }} /></span>}
      </a>
    </li>
  );
}

/** What the filters leave; of two runs both sides of it. */
function useNames(source: Table | undefined): Table | undefined {
  const filters = useFilters();
  const mine = useLeft(source);
  return useMemo(() => (source?.comparison === 'matched' ? filterTable(source, filters).table : mine), [source, filters, mine]);
}

export function TopNames({ report, section, title, changed, column, most }: { report: Report; section: string; title: string; changed: string; column: string; most: number }) {
  const source = tableOf(sectionNamed(report, section), section);
  const table = useNames(source);
  const all = useLeft(source, 'this', NO_TEXT);
  const { href } = useNavigation();
  const [box, width] = useWidth<HTMLDivElement>();
  const value = table && find(table, column);
  const top = useMemo(() => (table === undefined || value === undefined ? [] : mostOf(table, value, most)), [table, value, most]);
  const siblings = useMemo(() => top.map((one) => printable(one.name) || NO_NAME), [top]);
  if (table === undefined || value === undefined || all === undefined || top.length === 0) {
    return null;
  }
  const whole = sum(find(all, column) ?? value);
  const largest = maxOf(top.map((one) => Math.max(one.value, one.other ?? 0)), 1);
  const format = formatFor(value.unit, largest, true);
  return (
    <div class="box names" ref={box}>
      <h3><a href={href(section)}>{table.comparison === 'matched' ? changed : title}</a>{report.units !== null && report.units.unit !== 'run' && <small> in a {report.units.unit}</small>}<NotFiltered table={table} /></h3>
      <ol>
        {top.map((one) => (
          <NameLine key={one.row} table={table} section={section} one={one} value={value} largest={largest} whole={whole} format={format} width={width} siblings={siblings} />
        ))}
      </ol>
    </div>
  );
}
