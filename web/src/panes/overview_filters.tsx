// What the filters of the page leave of the tables of the overview.
import { useMemo } from 'preact/hooks';

import { type Run, rowsOfRun } from '../compare';
import { filterTable } from '../filters';
import { type Table } from '../model';
import { useFilters } from '../navigation';
import type { Filters } from '../route';

const NONE: Partial<Filters> = {};

/** What one run says of a table that two may be in. */
export const sideOf = (table: Table | undefined, run: Run): Table | undefined =>
  table === undefined || (table.comparison === 'none' && run === 'other') ? undefined : table.comparison === 'none' ? table : rowsOfRun(table, run);

/** What the filters leave of a run, those apart that are given. */
export function useLeft(table: Table | undefined, run: Run = 'this', without: Partial<Filters> = NONE): Table | undefined {
  const filters = useFilters();
  return useMemo(() => {
    const side = sideOf(table, run);
    return side && filterTable(side, { ...filters, ...without }).table;
  }, [table, run, filters, without]);
}

/** Which of the filters that are set take nothing away here. */
export function NotFiltered({ table }: { table: Table }) {
  const filters = useFilters();
  const missing = useMemo(() => filterTable(table, filters).missing, [table, filters]);
  return missing.length === 0 ? null : <small> not filtered by {missing.join(', ')}</small>;
}
