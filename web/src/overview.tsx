// What to know first: what was recorded, what costs the time, and how far to trust it.
import { StackedBars, hasBars } from './bars';
import { againstOf, rowsOfRun, runsAt } from './compare';
import { type Diagnostic, type Report, type Section, type Table, find, indices, numberAt, rowsOf, tableOf, textAt } from './model';
import { printable, shortenName, show, showShare, sum } from './units';

const MOST_FIRST = 140; // characters
const SEVERITY_MARK: Record<string, string> = { error: '✕', warning: '▲', info: 'i' };

interface Fact {
  label: string;
  value: string;
  note?: string;
}

/** A fact of this run, and below it the other's. */
function FactView({ fact, other }: { fact: Fact; other: Fact | undefined }) {
  return (
    <div class="fact">
      <dt>{fact.label}</dt>
      <dd>{fact.value}{fact.note !== undefined && <small>{fact.note}</small>}</dd>
      {other !== undefined && <dd class="other"><small>other</small> {other.value}{other.note !== undefined && <small>{other.note}</small>}</dd>}
    </div>
  );
}

function distinct(table: Table, name: string): string[] {
  const column = find(table, name);
  const texts = indices(rowsOf(table)).map((row) => printable(textAt(column, row)));
  return [...new Set(texts)].filter((text) => text !== '');
}

const total = (table: Table | undefined, name: string): number => {
  const column = table && find(table, name);
  return column === undefined ? 0 : sum(column);
};

const most = (table: Table, name: string): number =>
  Math.max(0, ...indices(rowsOf(table)).map((row) => numberAt(find(table, name), row)));

function factsOf(overview: Table, breakdown: Table | undefined): Fact[] {
  const ranks = rowsOf(overview);
  const world = most(overview, 'world_size');
  const devices = distinct(overview, 'devices');
  const busy = showShare(total(breakdown, 'busy_ns'), total(breakdown, 'span_ns'));
  return [
    { label: 'Devices', value: devices.join('; ') },
    { label: 'Ranks', value: String(ranks), ...(world > ranks ? { note: ` of ${world}` } : {}) },
    { label: 'Steps', value: String(most(overview, 'steps') || '') },
    { label: 'Time', value: show(most(overview, 'span_ns'), 'ns') },
    { label: 'Kernels', value: show(total(overview, 'kernels'), 'count') },
    { label: 'Devices busy', value: total(breakdown, 'span_ns') > 0 ? busy : '' },
  ].filter((fact) => fact.value !== '');
}

function Facts({ overview, breakdown }: { overview: Table; breakdown: Table | undefined }) {
  const side = (run: 'this' | 'other') => factsOf(rowsOfRun(overview, run), breakdown && rowsOfRun(breakdown, run));
  const others = overview.comparison === 'none' ? [] : side('other');
  return (
    <dl class="facts">
      {side('this').map((fact) => (
        <FactView key={fact.label} fact={fact} other={others.find((one) => one.label === fact.label)} />
      ))}
    </dl>
  );
}

function Mark({ severity }: { severity: string }) {
  return (
    <span class={`mark ${severity}`} role="img" aria-label={severity}>{SEVERITY_MARK[severity] ?? '·'}</span>
  );
}

/** `names` between back quotes as code. */
function Help({ text }: { text: string }) {
  return <>{printable(text).split('`').map((part, i) => (i % 2 === 1 ? <code key={i}>{part}</code> : part))}</>;
}

const ONLY: Record<string, string> = { this: 'not in the other run', other: 'only in the other run' };

function Verdict({ table }: { table: Table }) {
  const text = (name: string, row: number) => textAt(find(table, name), row);
  const isTwo = table.comparison === 'matched';
  const against = againstOf(table, 'evidence');
  return (
    <ol class="verdict">
      {indices(rowsOf(table)).map((row) => {
        const only = isTwo ? ONLY[runsAt(table, row)] : undefined;
        const other = textAt(against, row);
        return (
          <li key={row} class={only === undefined ? '' : `only-${runsAt(table, row)}`}>
            <Mark severity={text('severity', row)} />
            <div>
              <h3>{printable(text('finding', row))}{only !== undefined && <small> {only}</small>}</h3>
              <p>{printable(text('evidence', row))}</p>
              {only === undefined && other !== '' && other !== text('evidence', row) && (
                <p class="help">Other run: {printable(other)}</p>
              )}
              <p class="help"><Help text={text('help', row)} /></p>
            </div>
          </li>
        );
      })}
    </ol>
  );
}

function Quality({ diagnostics }: { diagnostics: Diagnostic[] }) {
  if (diagnostics.length === 0) {
    return <p class="note">Nothing odd was found while reading the recording.</p>;
  }
  return (
    <ul class="verdict">
      {diagnostics.map((one, i) => (
        <li key={i}>
          <Mark severity={one.severity} />
          <div>
            <h3>{one.code} <small>{one.count.toLocaleString('en')} × in {printable(one.file)}</small></h3>
            {one.first !== '' && <p title={printable(one.first)}>{shortenName(printable(one.first), MOST_FIRST)}</p>}
            <p class="help"><Help text={one.help} /></p>
          </div>
        </li>
      ))}
    </ul>
  );
}

const named = (report: Report, name: string): Section | undefined =>
  report.sections.find((section) => section.name === name);

export function Overview({ report }: { report: Report }) {
  const overview = tableOf(named(report, 'summary'), 'overview');
  const verdict = tableOf(named(report, 'summary'), 'verdict');
  const parts = named(report, 'breakdown');
  const view = parts?.views[0];
  const breakdown = tableOf(parts, 'breakdown');
  return (
    <section id="overview" aria-labelledby="overview-title">
      <h2 id="overview-title">Overview</h2>
      {overview !== undefined && <Facts overview={overview} breakdown={breakdown} />}
      {view !== undefined && breakdown !== undefined && hasBars(breakdown, view) && (
        <figure>
          <figcaption>Where the device time goes</figcaption>
          <StackedBars table={breakdown} view={view} />
        </figure>
      )}
      {verdict !== undefined && rowsOf(verdict) > 0 && (
        <>
          <h3 class="block">Findings</h3>
          <Verdict table={verdict} />
        </>
      )}
      <h3 class="block">Data quality</h3>
      <Quality diagnostics={report.diagnostics} />
    </section>
  );
}
