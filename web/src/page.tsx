// The page: overview, a section for each analysis with data, and what to record for the others.
import { useState } from 'preact/hooks';

import { Bars, StackedBars, hasBars } from './bars';
import { Flame, hasFlame } from './flame';
import { Heat, hasHeat } from './heat';
import { useTurn } from './hooks';
import { type Report, type Section, type SizedTable, type Table, type View, rowsOf, tableOf } from './model';
import { Overview } from './overview';
import { Roofline, hasRoofline } from './roofline';
import { Series, hasSeries } from './series';
import { TableTitle, TableView } from './table';
import { ThemeButton } from './theme';
import { readTimeline } from './timeline/document';
import { Timeline } from './timeline/timeline';
import { printable } from './units';

const SMALL_ROWS = 12;

/** Verbs as headings: "critical-path" becomes "Critical path". */
const heading = (name: string): string =>
  (name.charAt(0).toUpperCase() + name.slice(1)).replace(/[-_]/g, ' ');

interface Chart {
  has: (table: Table, view: View) => boolean;
  draw: (table: Table, view: View, section: Section) => preact.ComponentChild;
}

// What draws each kind of view.
const CHARTS: Record<string, Chart> = {
  bars: { has: hasBars, draw: (table, view) => <Bars table={table} view={view} /> },
  'stacked-bars': { has: hasBars, draw: (table, view) => <StackedBars table={table} view={view} /> },
  series: { has: hasSeries, draw: (table, view) => <Series table={table} view={view} /> },
  flame: { has: hasFlame, draw: (table, view) => <Flame table={table} view={view} /> },
  heat: { has: hasHeat, draw: (table, view) => <Heat table={table} view={view} /> },
  roofline: {
    has: hasRoofline,
    draw: (table, view, section) => (
      <Roofline table={table} view={view} roofs={tableOf(section, 'roofs')} />
    ),
  },
};

function ViewFigure({ section, view }: { section: Section; view: View }) {
  const table = tableOf(section, view.table);
  const chart = CHARTS[view.kind];
  if (table === undefined || chart === undefined || !chart.has(table, view)) {
    return null;
  }
  return (
    <figure data-kind={view.kind} data-table={view.table}>
      <figcaption>{view.title}</figcaption>
      {chart.draw(table, view, section)}
    </figure>
  );
}

function TableBlock({ sized, open }: { sized: SizedTable; open: boolean }) {
  const [isOpen, setOpen] = useState(open);
  if (rowsOf(sized.table) === 0) {
    return <p class="note">{printable(sized.table.title)}: no rows.</p>;
  }
  return (
    <details open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)} data-table={sized.table.name}>
      <summary><h3><TableTitle sized={sized} /></h3></summary>
      {isOpen && <TableView table={sized.table} />}
    </details>
  );
}

const emptyLast = (tables: SizedTable[]): SizedTable[] => [
  ...tables.filter((sized) => rowsOf(sized.table) > 0),
  ...tables.filter((sized) => rowsOf(sized.table) === 0),
];

function SectionBody({ section }: { section: Section }) {
  return (
    <>
      {section.views.map((view) => (
        <ViewFigure key={view.table + view.kind + view.title} section={section} view={view} />
      ))}
      {emptyLast(section.tables).map((sized, i) => (
        <TableBlock key={sized.table.name} sized={sized} open={i === 0 || sized.table.name === section.name || rowsOf(sized.table) <= SMALL_ROWS} />
      ))}
    </>
  );
}

/** The heading at once, so that links find it; all else in its turn. */
function SectionView({ section }: { section: Section }) {
  const id = `section-${section.name}`;
  const isDrawn = useTurn();
  return (
    <section id={section.name} aria-labelledby={id}>
      <h2 id={id}>{heading(section.name)}</h2>
      <p class="summary">{section.summary}</p>
      {section.otherLack !== '' && <p class="note">Not in the other run: {printable(section.otherLack)}</p>}
      {isDrawn && <SectionBody section={section} />}
    </section>
  );
}

function NotRecorded({ sections }: { sections: Section[] }) {
  return (
    <section id="not-recorded" aria-labelledby="not-recorded-title">
      <h2 id="not-recorded-title">Not in this recording</h2>
      <p class="summary">what these sections would tell, and how to record it</p>
      <dl class="lacks">
        {sections.map((section) => (
          <div key={section.name}>
            <dt>{heading(section.name)} <small>{section.summary}</small></dt>
            <dd>{printable(section.lack)}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

function Navigation({ sections, hasLacks }: { sections: Section[]; hasLacks: boolean }) {
  return (
    <nav aria-label="Sections">
      <ul>
        <li><a href="#overview">Overview</a></li>
        {timeline !== null && <li><a href="#timeline">Timeline</a></li>}
        {sections.map((section) => (
          <li key={section.name}><a href={`#${section.name}`}>{heading(section.name)}</a></li>
        ))}
        {hasLacks && <li><a href="#not-recorded">Not recorded</a></li>}
      </ul>
    </nav>
  );
}

const timeline = readTimeline(document.getElementById('borescope-timeline')?.textContent);

function TimelineSection() {
  return timeline === null ? null : (
    <section id="timeline" aria-labelledby="timeline-title">
      <h2 id="timeline-title">Timeline</h2>
      <Timeline document={timeline} />
    </section>
  );
}

export function Page({ report }: { report: Report }) {
  const lacking = report.sections.filter((section) => section.lack !== '');
  const told = report.sections.filter((section) => section.tables.length > 0 && section.name !== 'summary');
  const summary = report.sections.find((section) => section.name === 'summary');
  const spread = summary?.tables.filter((sized) => sized.table.name === 'step_spread') ?? [];
  return (
    <>
      <header>
        <div>
          <p class="brand">Borescope report</p>
          <h1>{printable(report.title)}</h1>
          {report.against !== '' && <p class="against">against the other run, <b>{printable(report.against)}</b></p>}
        </div>
        <ThemeButton />
      </header>
      <div class="columns">
        <Navigation sections={told} hasLacks={lacking.length > 0} />
        <main>
          <Overview report={report} />
          <TimelineSection />
          {told.map((section) => (
            <SectionView
              key={section.name}
              section={section.name === 'steps' ? { ...section, tables: [...section.tables, ...spread] } : section}
            />
          ))}
          {lacking.length > 0 && <NotRecorded sections={lacking} />}
        </main>
      </div>
      <footer>
        Made by Borescope {report.version}; the page is complete in itself and asks nothing of a
        network. It contains Preact (MIT licence).
      </footer>
    </>
  );
}
