// The names with most time; of two runs those that changed most.
import { useMemo } from 'preact/hooks';

import { rowColour } from '../colours';
import { againstOf, relativeChange } from '../compare';
import { filterTable } from '../filters';
import { useWidth } from '../hooks';
import { fitName, textWidth } from '../measure';
import { type Column, type Report, type Table, find, indices, numberAt, rowsOf, sectionNamed, tableOf, textAt } from '../model';
import { useFilters, useNavigation } from '../navigation';
import type { Filters } from '../route';
import { type Format, NO_NAME, formatFor, maxOf, printable, showShare, sum, withUnit } from '../units';
import { NotFiltered, useLeft } from './overview_filters';

const BETWEEN_PX = 16; // of a name and what follows it
const LEAST_SHARE_PX = 60;
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

/** What is written beside a name: its time, and its share or how it changed. */
function valueWords(one: NameRow, whole: number, format: Format): [string, string] {
  return one.other === null
    ? [withUnit(one.value, format), showShare(one.value, whole)]
    : [`${withUnit(one.other, format)} → ${withUnit(one.value, format)}`, relativeChange(one.value, one.other)];
}

const valueWidth = ([value, share]: [string, string]): number => textWidth(`${value} `) + Math.max(LEAST_SHARE_PX, textWidth(share));

function Value({ one, words: [value, share] }: { one: NameRow; words: [string, string] }) {
  return <span class={one.other === null ? 'bar-value' : 'bar-value wide'}>{value} <small>{share}</small></span>;
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
  const words = valueWords(one, whole, format);
  const room = width - valueWidth(words) - BETWEEN_PX;
  return (
    <li>
      <a href={href(section, { text: one.name })} title={name}>
        <span class="bar-label">{width > 0 ? fitName(name, room, siblings) : name}</span>
        <Value one={one} words={words} />
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
