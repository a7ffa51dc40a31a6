// What to know first: what was recorded, what costs the time, and how far to trust it.
import { StackedBars, hasBars } from './bars';
import { type Diagnostic, type Report, type Section, type Table, find, indices, numberAt, rowsOf, tableOf, textAt } from './model';
import { printable, show, showShare, sum } from './units';

const SEVERITY_MARK: Record<string, string> = { error: '✕', warning: '▲', info: 'i' };

function Fact({ label, value, note }: { label: string; value: string; note?: string }) {
  return (
    <div class="fact">
      <dt>{label}</dt>
      <dd>{value}{note !== undefined && <small>{note}</small>}</dd>
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

function Facts({ overview, breakdown }: { overview: Table; breakdown: Table | undefined }) {
  const ranks = rowsOf(overview);
  const world = most(overview, 'world_size');
  const devices = distinct(overview, 'devices');
  const busy = showShare(total(breakdown, 'busy_ns'), total(breakdown, 'span_ns'));
  return (
    <dl class="facts">
      {devices.length > 0 && <Fact label="Devices" value={devices.join('; ')} />}
      <Fact label="Ranks" value={String(ranks)} {...(world > ranks ? { note: ` of ${world}` } : {})} />
      <Fact label="Steps" value={String(most(overview, 'steps'))} />
      <Fact label="Time" value={show(most(overview, 'span_ns'), 'ns')} />
      <Fact label="Kernels" value={show(total(overview, 'kernels'), 'count')} />
      {total(breakdown, 'span_ns') > 0 && <Fact label="Devices busy" value={busy} />}
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

function Verdict({ table }: { table: Table }) {
  const text = (name: string, row: number) => textAt(find(table, name), row);
  return (
    <ol class="verdict">
      {indices(rowsOf(table)).map((row) => (
        <li key={row}>
          <Mark severity={text('severity', row)} />
          <div>
            <h3>{printable(text('finding', row))}</h3>
            <p>{printable(text('evidence', row))}</p>
            <p class="help"><Help text={text('help', row)} /></p>
          </div>
        </li>
      ))}
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
            {one.first !== '' && <p>{printable(one.first)}</p>}
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
