// What to know first, on one screen: what was recorded, what costs the time, and where it goes.
import { useMemo } from 'preact/hooks';

import { colourOf, rowColour } from '../colours';
import { sideOf } from '../compare';
import { Facts } from '../facts';
import { type Filtered, filterTable } from '../filters';
import { Findings } from '../findings';
import { useWidth } from '../hooks';
import { fitName } from '../measure';
import { type Column, type Report, type Section, type Table, type View, find, indices, numberAt, rowsOf, sectionNamed, tableOf, textAt } from '../model';
import { useFilters, useNavigation } from '../navigation';
import { kindsOf } from '../quality';
import { type Filters, isFiltering } from '../route';
import { StepColumns, hasSteps } from '../step_columns';
import { type Format, NO_NAME, columnLabel, formatFor, maxOf, printable, show, showShare, sum, withUnit } from '../units';

const MOST_NAMES = 5;
const FEWER_NAMES = 4; // beside many ranks, as all is to fit a screen
const MANY_RANKS = 7;
const MOST_RANKS = 8;
const NUMBER_PX = 150;
const NONE: Partial<Filters> = {};
const ALL_STEPS: Partial<Filters> = { step: null, text: '' }; // steps stay, and the chosen one is marked
const NO_TEXT: Partial<Filters> = { text: '' }; // shares of a name are of all names

/** What the filters leave of this run, those apart that are given. */
const useFiltered = (table: Table | undefined, without: Partial<Filters> = NONE): Filtered | undefined => {
  const filters = useFilters();
  return useMemo(() => {
    const own = table?.comparison === 'matched' ? sideOf(table, 'this') : table;
    return own && filterTable(own, { ...filters, ...without });
  }, [table, filters, without]);
};

const useLeft = (table: Table | undefined): Table | undefined => useFiltered(table)?.table;

/** Which of the filters that are set take nothing away here. */
const NotFiltered = ({ table }: { table: Table }) => {
  const filters = useFilters();
  const missing = useMemo(() => filterTable(table, filters).missing, [table, filters]);
  return missing.length === 0 ? null : <small> not filtered by {missing.join(', ')}</small>;
};

/** The parts of a whole that a view stacks, of this run, as far as there is something of them. */
const partsOf = (table: Table, view: View): Column[] =>
  view.values.map((name) => find(table, name)).filter((part): part is Column => part !== undefined && sum(part) > 0);

function Track({ parts, of }: { parts: Column[]; of: (part: Column) => number }) {
  const whole = parts.reduce((total, part) => total + of(part), 0);
  return (
    <div class="track" aria-hidden="true">
      {parts.filter((part) => of(part) > 0).map((part) => (
        <span key={part.name} style={{ width: `${(of(part) / whole) * 100}%`, backgroundColor: colourOf(part) }} />
      ))}
    </div>
  );
}

interface Part {
  name: string;
  doc: string;
  value: number;
  colour: string;
  section: string;
}

/** Work from before the recording let devices look idle: it is a part of its own. */
function timeParts(table: Table, view: View, causes: Table | undefined): Part[] {
  const before = causes && find(causes, 'before_recording_ns');
  const unseen = before === undefined ? 0 : sum(before);
  return partsOf(table, view).flatMap((part) => {
    const one = { name: columnLabel(part), doc: part.doc, value: sum(part), colour: colourOf(part), section: part.name === 'idle_ns' ? 'idle' : 'breakdown' };
    if (part.name !== 'idle_ns' || before === undefined || unseen <= 0 || unseen > one.value) {
      return [one];
    }
    const rest = { ...one, value: one.value - unseen };
    return [rest, { ...one, name: columnLabel(before), doc: before.doc, value: unseen, colour: colourOf(before) }];
  });
}

/** Where the time of all devices goes. */
function TimeBox({ table, view, causes }: { table: Table; view: View; causes: Table | undefined }) {
  const { href } = useNavigation();
  const parts = timeParts(table, view, causes);
  const whole = parts.reduce((total, part) => total + part.value, 0);
  return (
    <div class="box time">
      <h3><a href={href('breakdown')}>Where the device time goes</a><NotFiltered table={table} /></h3>
      <div class="track" aria-hidden="true">
        {parts.filter((part) => part.value > 0).map((part) => (
          <span key={part.name} style={{ width: `${(part.value / whole) * 100}%`, backgroundColor: part.colour }} />
        ))}
      </div>
      <ul class="legend">
        {parts.map((part) => (
          <li key={part.name} title={part.doc}>
            <a href={href(part.section)}>
              <i style={{ background: part.colour }} aria-hidden="true" />
              {part.name} <small>{show(part.value, 'ns')} · {showShare(part.value, whole)}</small>
            </a>
          </li>
        ))}
      </ul>
    </div>
  );
}

interface NameRow {
  row: number;
  name: string;
  value: number;
}

function largestOf(table: Table, value: Column, most: number): NameRow[] {
  const names = find(table, 'name');
  const rows = indices(rowsOf(table)).map((row) => ({ row, name: textAt(names, row), value: numberAt(value, row) }));
  return rows.filter((one) => one.value > 0).sort((a, b) => b.value - a.value).slice(0, most);
}

function NameLine(props: { table: Table; section: string; one: NameRow; value: Column; largest: number; whole: number; format: Format; width: number; siblings: readonly string[] }) {
  const { one, value } = props;
  const { href } = useNavigation();
  const name = printable(one.name) || NO_NAME;
  return (
    <li>
      <a href={href(props.section, { text: one.name })} title={name}>
        <span class="bar-label">{props.width > 0 ? fitName(name, props.width - NUMBER_PX, props.siblings) : name}</span>
        <span class="bar-value">{withUnit(one.value, props.format)} <small>{showShare(one.value, props.whole)}</small></span>
        <span class="track" aria-hidden="true">
          <span style={{ width: `${(one.value / props.largest) * 100}%`, backgroundColor: rowColour(props.table, one.row, value) }} />
        </span>
      </a>
    </li>
  );
}

/** The names with most time, each a link to its rows. */
function TopNames({ report, section, title, column, most }: { report: Report; section: string; title: string; column: string; most: number }) {
  const source = tableOf(sectionNamed(report, section), section);
  const table = useLeft(source);
  const all = useFiltered(source, NO_TEXT)?.table;
  const { href } = useNavigation();
  const [box, width] = useWidth<HTMLDivElement>();
  const value = table && find(table, column);
  const top = useMemo(() => (table === undefined || value === undefined ? [] : largestOf(table, value, most)), [table, value, most]);
  const siblings = useMemo(() => top.map((one) => printable(one.name) || NO_NAME), [top]);
  if (table === undefined || value === undefined || all === undefined) {
    return null;
  }
  const whole = sum(find(all, column) ?? value);
  const largest = maxOf(top.map((one) => one.value), 1);
  const format = formatFor(value.unit, largest, true);
  return top.length === 0 ? null : (
    <div class="box names" ref={box}>
      <h3><a href={href(section)}>{title}</a><NotFiltered table={table} /></h3>
      <ol>
        {top.map((one) => (
          <NameLine key={one.row} table={table} section={section} one={one} value={value} largest={largest} whole={whole} format={format} width={width} siblings={siblings} />
        ))}
      </ol>
    </div>
  );
}

interface RankLine {
  rank: number;
  values: Map<string, number>; // by part
}

/** The devices of a rank together. */
function ranksOf(table: Table, parts: Column[]): RankLine[] {
  const lines = new Map<number, RankLine>();
  for (const row of indices(rowsOf(table))) {
    const rank = numberAt(find(table, 'rank'), row);
    const line = lines.get(rank) ?? { rank, values: new Map<string, number>() };
    parts.forEach((part) => line.values.set(part.name, (line.values.get(part.name) ?? 0) + numberAt(part, row)));
    lines.set(rank, line);
  }
  return [...lines.values()].sort((a, b) => a.rank - b.rank);
}

function Ranks({ table, view }: { table: Table; view: View }) {
  const { href } = useNavigation();
  const parts = partsOf(table, view);
  const lines = ranksOf(table, parts);
  const whole = (line: RankLine) => [...line.values.values()].reduce((total, value) => total + value, 0);
  const idle = (line: RankLine) => line.values.get('idle_ns') ?? 0;
  if (lines.length < 2) {
    return null;
  }
  return (
    <div class="box ranks">
      <h3><a href={href('breakdown')}>Ranks</a><NotFiltered table={table} /></h3>
      <ol>
        {lines.slice(0, MOST_RANKS).map((line) => (
          <li key={line.rank}>
            <a href={href('breakdown', { rank: line.rank })}>
              <span class="bar-label">rank {line.rank}</span>
              <Track parts={parts} of={(part) => line.values.get(part.name) ?? 0} />
              <span class="bar-value">{show(whole(line), 'ns')}{whole(line) > 0 && <small> idle {showShare(idle(line), whole(line))}</small>}</span>
            </a>
          </li>
        ))}
      </ol>
      {lines.length > MOST_RANKS && <p class="note"><a href={href('breakdown')}>{lines.length - MOST_RANKS} more ranks</a></p>}
    </div>
  );
}

function Steps({ section }: { section: Section | undefined }) {
  const { href } = useNavigation();
  const view = section?.views.find((one) => one.table === 'steps');
  const table = useFiltered(tableOf(section, 'steps'), ALL_STEPS)?.table;
  const { text } = useFilters();
  if (view === undefined || table === undefined || !hasSteps(table, view)) {
    return null;
  }
  return (
    <div class="box">
      <h3><a href={href('steps')}>Steps in the order of time</a>{text.trim() !== '' && <small> not filtered by text</small>}</h3>
      <StepColumns table={table} view={view} compact />
    </div>
  );
}

/** How many kinds of remarks there are on the files. */
function Remarks({ report }: { report: Report }) {
  const { href } = useNavigation();
  const kinds = kindsOf(report.diagnostics);
  const lacking = report.sections.filter((section) => section.lack !== '').length;
  return (
    <p class="note">
      <a href={href('remarks')}>{kinds.length === 0 ? 'No remarks' : `${kinds.length} ${kinds.length === 1 ? 'kind' : 'kinds'} of remarks`} on the files</a>
      {lacking > 0 && <> · <a href={href('not-recorded')}>{lacking} {lacking === 1 ? 'section' : 'sections'} without an answer</a></>}
    </p>
  );
}

export function OverviewPane({ report }: { report: Report }) {
  const filters = useFilters();
  const overview = tableOf(sectionNamed(report, 'summary'), 'overview');
  const verdict = tableOf(sectionNamed(report, 'summary'), 'verdict');
  const parts = sectionNamed(report, 'breakdown');
  const view = parts?.views.find((one) => one.table === 'breakdown');
  const whole = tableOf(parts, 'breakdown');
  const breakdown = useLeft(whole);
  const ranks = new Set(whole && find(whole, 'rank')?.values).size;
  const names = ranks < MANY_RANKS ? MOST_NAMES : FEWER_NAMES;
  const causes = useLeft(tableOf(sectionNamed(report, 'idle'), 'idle_causes'));
  const hasTime = view !== undefined && breakdown !== undefined && partsOf(breakdown, view).length > 0;
  return (
    <section id="overview" aria-labelledby="overview-title">
      <h2 id="overview-title" class="unseen">Overview</h2>
      {overview !== undefined && <Facts overview={overview} breakdown={whole} />}
      <div class="overview">
        <div>
          {verdict !== undefined && rowsOf(verdict) > 0 && (
            <div class="box">
              <h3>Findings{isFiltering(filters) && <small> of the whole run, whatever the filters</small>}</h3>
              <Findings report={report} table={verdict} />
            </div>
          )}
          <Steps section={sectionNamed(report, 'steps')} />
          <Remarks report={report} />
        </div>
        <div>
          {hasTime && <TimeBox table={breakdown} view={view} causes={causes} />}
          <TopNames report={report} section="kernels" title="Kernels with most time" column="total_ns" most={names} />
          <TopNames report={report} section="ops" title="Operators with most device time of their own" column="self_device_ns" most={names} />
          {hasTime && <Ranks table={breakdown} view={view} />}
        </div>
      </div>
    </section>
  );
}
