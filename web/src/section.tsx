// A section: what one analysis says, as charts and tables.
import { useMemo, useState } from 'preact/hooks';

import { Bars, StackedBars, hasBars } from './bars';
import { type Filtered, filterTable } from './filters';
import { Flame, hasFlame } from './flame';
import { Heat, hasHeat } from './heat';
import { useTurn } from './hooks';
import { Inverted, hasWork } from './inverted';
import { Intervals, hasIntervals } from './intervals';
import { type Section, type SizedTable, type Table, type View, rowsOf, tableOf } from './model';
import { useFilters } from './navigation';
import type { Filters } from './route';
import { Roofline, hasRoofline } from './roofline';
import { Series, hasSeries } from './series';
import { StepColumns, hasSteps } from './step_columns';
import { TableTitle, TableView } from './table';
import { heading, prose } from './units';

const SMALL_ROWS = 12;
// Tables of single moments that links lead to: they come first and are open.
const SOUGHT: readonly string[] = ['longest_gaps'];

interface Chart {
  has: (table: Table, view: View) => boolean;
  draw: (table: Table, view: View, section: Section, text: string) => preact.ComponentChild;
  marks?: (table: Table, view: View) => Partial<Filters>; // filters that are marked in it, and take nothing away
}

// What draws each kind of view.
const CHARTS: Record<string, Chart> = {
  bars: { has: hasBars, draw: (table, view) => <Bars table={table} view={view} /> },
  'stacked-bars': {
    has: hasBars,
    draw: (table, view) => (hasSteps(table, view) ? <StepColumns table={table} view={view} /> : <StackedBars table={table} view={view} />),
    marks: (table, view) => (hasSteps(table, view) ? { step: null } : {}),
  },
  series: { has: hasSeries, draw: (table, view) => <Series table={table} view={view} /> },
  flame: {
    has: hasFlame,
    draw: (table, view, _, text) => <><Flame table={table} view={view} text={text} />{hasWork(table) && <Inverted table={table} value={view.values[0] ?? ''} />}</>,
    marks: () => ({ text: '' }),
  },
  heat: { has: hasHeat, draw: (table, view) => <Heat table={table} view={view} /> },
  intervals: { has: hasIntervals, draw: (table, view) => <Intervals table={table} view={view} /> },
  roofline: {
    has: hasRoofline,
    draw: (table, view, section) => (
      <Roofline table={table} view={view} roofs={tableOf(section, 'roofs')} measured={tableOf(section, 'counter_ops')} />
    ),
  },
};

/** What the filters leave, those apart that are given. */
const useFiltered = (table: Table | undefined, without: Partial<Filters> = {}): Filtered | undefined => {
  const filters = useFilters();
  return useMemo(() => (table === undefined ? undefined : filterTable(table, { ...filters, ...without })), [table, filters]);
};

function ViewFigure({ section, view }: { section: Section; view: View }) {
  const table = tableOf(section, view.table);
  const chart = CHARTS[view.kind];
  const filtered = useFiltered(table, table && chart?.marks?.(table, view));
  const { text } = useFilters();
  if (table === undefined || filtered === undefined || chart === undefined || !chart.has(table, view)) {
    return null;
  }
  const { applied, missing } = filtered;
  return (
    <figure data-kind={view.kind} data-table={view.table}>
      <figcaption>
        {view.title}
        {applied.length > 0 && <small> filtered by {applied.join(', ')}</small>}
        {missing.length > 0 && <small> not filtered by {missing.join(', ')}</small>}
      </figcaption>
      {chart.has(filtered.table, view) ? chart.draw(filtered.table, view, section, text) : <p class="note">Nothing of this is left by the filters.</p>}
    </figure>
  );
}

function TableBlock({ sized, open }: { sized: SizedTable; open: boolean }) {
  const [isOpen, setOpen] = useState(open);
  const filtered = useFiltered(sized.table);
  if (filtered === undefined || rowsOf(sized.table) === 0) {
    return <p class="note">{prose(sized.table.title)}: no rows.</p>;
  }
  return (
    <details open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)} data-table={sized.table.name}>
      <summary><h3><TableTitle sized={sized} /></h3></summary>
      {isOpen && <TableView whole={sized} filtered={filtered} />}
    </details>
  );
}

/** What is sought first, what has no rows last. */
function inOrder(tables: SizedTable[]): SizedTable[] {
  const place = ({ table }: SizedTable) => (rowsOf(table) === 0 ? 2 : SOUGHT.includes(table.name) ? 0 : 1);
  return [0, 1, 2].flatMap((wanted) => tables.filter((sized) => place(sized) === wanted));
}

function SectionBody({ section }: { section: Section }) {
  return (
    <>
      {section.views.map((view) => (
        <ViewFigure key={view.table + view.kind + view.title} section={section} view={view} />
      ))}
      {inOrder(section.tables).map((sized, i) => (
        <TableBlock key={sized.table.name} sized={sized} open={i === 0 || sized.table.name === section.name || SOUGHT.includes(sized.table.name) || rowsOf(sized.table) <= SMALL_ROWS} />
      ))}
    </>
  );
}

/** The heading at once, so that links find it; all else in its turn, those of the shown pane first. */
export function SectionView({ section, isShown }: { section: Section; isShown: boolean }) {
  const id = `section-${section.name}`;
  const isDrawn = useTurn(isShown);
  const body = useMemo(() => <SectionBody section={section} />, [section]); // the same for each address
  return (
    <section id={section.name} aria-labelledby={id}>
      <h2 id={id}>{heading(section.name)}</h2>
      <p class="summary">{prose(section.summary)}</p>
      {section.otherLack !== '' && <p class="note">Not in the other run: {prose(section.otherLack)}</p>}
      {isDrawn && body}
    </section>
  );
}

/** What analyses without an answer would say, and how to record it. */
export function Lacks({ sections }: { sections: Section[] }) {
  return (
    <dl class="lacks">
      {sections.map((section) => (
        <div key={section.name} id={section.name}>
          <dt>{heading(section.name)} <small>{section.summary}</small></dt>
          <dd>{prose(section.lack)}</dd>
        </div>
      ))}
    </dl>
  );
}
