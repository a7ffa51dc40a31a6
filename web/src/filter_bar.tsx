// The filters of all panes, in one row.
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';

import { numbersCalled } from './filters';
import type { Report } from './model';
import { useNavigation } from './navigation';
import { type Filters, NO_FILTERS, NUMBER_FILTERS, isFiltering } from './route';
import { spanText } from './timeline/axis';

export const TEXT_FILTER_ID = 'filter-text';
const PAUSE_MS = 200; // of somebody who types

type NumberFilter = (typeof NUMBER_FILTERS)[number];

function NumberChoice({ name, numbers, value, onChoose }: { name: NumberFilter; numbers: number[]; value: number | null; onChoose: (value: number | null) => void }) {
  const all = value === null || numbers.includes(value) ? numbers : [...numbers, value];
  if (all.length < 2 && value === null) {
    return null;
  }
  return (
    <select
      aria-label={`Filter by ${name}`}
      value={value === null ? '' : String(value)}
      onChange={(event) => onChoose(event.currentTarget.value === '' ? null : Number(event.currentTarget.value))}
    >
      <option value="">All {name}s</option>
      {all.map((number) => <option key={number} value={String(number)}>{name} {number}</option>)}
    </select>
  );
}

/** The text as it is typed; the page follows when there is a pause. */
function TextFilter({ text, onText }: { text: string; onText: (text: string) => void }) {
  const [typed, setTyped] = useState(text);
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  useEffect(() => {
    clearTimeout(timer.current);
    setTyped(text);
  }, [text]);
  const type = (next: string) => {
    setTyped(next);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => onText(next), PAUSE_MS);
  };
  return (
    <input
      type="search" id={TEXT_FILTER_ID} placeholder="Filter names ( / )" aria-label="Filter names in all panes" value={typed}
      onInput={(event) => type(event.currentTarget.value)}
    />
  );
}

export function FilterBar({ report }: { report: Report }) {
  const { route, go } = useNavigation();
  const { filters } = route;
  const numbers = useMemo(() => {
    const tables = report.sections.flatMap((section) => section.tables.map((sized) => sized.table));
    return NUMBER_FILTERS.map((name) => [name, numbersCalled(tables, name)] as const);
  }, [report]);
  const set = (change: Partial<Filters>, how?: 'replace') => go({ filters: { ...filters, ...change } }, how);
  return (
    <div class="filters" role="search" aria-label="Filters of all panes">
      {numbers.map(([name, of]) => (
        <NumberChoice key={name} name={name} numbers={of} value={filters[name]} onChoose={(value) => set({ [name]: value })} />
      ))}
      <TextFilter text={filters.text} onText={(text) => set({ text }, 'replace')} />
      {filters.time !== null && (
        <button type="button" class="chip" onClick={() => set({ time: null })} aria-label={`Time ${spanText(...filters.time)}: all times again`}>
          {spanText(...filters.time)} <span aria-hidden="true">×</span>
        </button>
      )}
      {isFiltering(filters) && <button type="button" onClick={() => go({ filters: NO_FILTERS })}>Clear filters</button>}
    </div>
  );
}
