// What to know first, on one screen: what was recorded, what costs the time, and where it goes. Of two runs
// both, and what changed.
import { type ComponentChild } from 'preact';

import { LEFT_OUT, timeOfUnit } from '../device_time';
import { Facts } from '../facts';
import { Findings } from '../findings';
import { type Report, type Section, type Table, find, rowsOf, sectionNamed, tableOf } from '../model';
import { hasTimeline } from '../moments';
import { useFilters, useNavigation } from '../navigation';
import { kindsOf } from '../quality';
import { type Filters, isFiltering } from '../route';
import { StepColumns, hasSteps } from '../step_columns';
import { prose, sum } from '../units';
import { BestChanges, RecordingCost, changesOf, recordingCost } from './overview_advice';
import { useLeft } from './overview_filters';
import { TopNames } from './overview_names';
import { Strip } from './overview_strip';
import { Ranks, TimeBox, type UnitTimes } from './overview_time';

const MOST_NAMES = 5;
const FEWER_NAMES = 4; // beside many ranks, as all is to fit a screen
const MANY_RANKS = 7;
const ALL_STEPS: Partial<Filters> = { step: null, text: '' }; // steps stay, and the chosen one is marked

/** From the longest step to its longest gaps, and to what the host did in them. */
function GapsOf({ filters }: { filters: Partial<Filters> }) {
  const { href } = useNavigation();
  return <> <a class="show-me" href={href('idle', filters)}>Show me its longest gaps</a></>;
}

function Steps({ section, hasGaps }: { section: Section | undefined; hasGaps: boolean }) {
  const { href } = useNavigation();
  const view = section?.views.find((one) => one.table === 'steps');
  const table = useLeft(tableOf(section, 'steps'), 'this', ALL_STEPS);
  const { text } = useFilters();
  if (view === undefined || table === undefined || !hasSteps(table, view)) {
    return null;
  }
  return (
    <div class="box">
      <h3><a href={href('steps')}>Steps in the order of time</a><small> from completion to completion</small>{text.trim() !== '' && <small> not filtered by text</small>}</h3>
      <StepColumns table={table} view={view} compact more={hasGaps ? (filters) => <GapsOf filters={filters} /> : undefined} />
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

/** What a step takes in both runs; null where whole runs are compared. */
function unitTimes(report: Report): UnitTimes | null {
  const time = tableOf(sectionNamed(report, 'diff'), 'diff_time');
  const breakdown = tableOf(sectionNamed(report, 'breakdown'), 'breakdown');
  const unit = report.units?.unit ?? 'run';
  return time === undefined || rowsOf(time) === 0 || unit === 'run'
    ? null
    : { unit, mine: timeOfUnit(time, 'test_ns', breakdown), other: timeOfUnit(time, 'base_ns', breakdown) };
}

/** The answer of a comparison: the sentence, and what it is the mean of. */
function Answer({ report }: { report: Report }) {
  const { href } = useNavigation();
  const time = tableOf(sectionNamed(report, 'diff'), 'diff_time');
  if (time === undefined || rowsOf(time) === 0 || report.units === null) {
    return null;
  }
  const [answer = '', parts] = prose(time.title).split('; ');
  const { unit, this: mine, other } = report.units;
  const of = unit === 'run' ? 'whole runs are compared: not both have steps' : `means of ${mine} ${unit}${mine === 1 ? '' : 's'} here and ${other} in the other run`;
  return (
    <p class="answer">
      <a href={href('diff')}>{answer}</a>{parts !== undefined && <span> {parts}</span>} <small>{of}</small>
    </p>
  );
}

/** The bars of all devices and of each rank. */
function Time({ report }: { report: Report }) {
  const filters = useFilters();
  const section = sectionNamed(report, 'breakdown');
  const [whole, left] = [tableOf(section, 'breakdown'), tableOf(sectionNamed(report, 'summary'), LEFT_OUT)];
  const parts = section?.views.find((one) => one.table === 'breakdown')?.values ?? [];
  const [mine, leftOut] = [useLeft(whole), useLeft(left)];
  const [other, otherLeftOut] = [useLeft(whole, 'other'), useLeft(left, 'other')];
  const has = (table: Table | undefined): table is Table => table !== undefined && parts.some((name) => sum(find(table, name) ?? table.columns[0]!) > 0);
  const both = has(mine) ? { mine: { breakdown: mine, leftOut }, other: has(other) ? { breakdown: other, leftOut: otherLeftOut } : null, parts } : null;
  return (
    <>
      {both !== null && <TimeBox {...both} units={isFiltering(filters) ? null : unitTimes(report)} />}
      <TopOf report={report} ranks={whole} />
      {both !== null && <Ranks {...both} />}
    </>
  );
}

function TopOf({ report, ranks }: { report: Report; ranks: Table | undefined }) {
  const names = new Set(ranks && find(ranks, 'rank')?.values).size < MANY_RANKS ? MOST_NAMES : FEWER_NAMES;
  return (
    <>
      <TopNames report={report} section="kernels" title="Kernels with most time" changed="Kernels that changed most" column="total_ns" most={names} />
      <TopNames report={report} section="ops" title="Operators with most device time of their own" changed="Operators that changed most" column="self_device_ns" most={names} />
    </>
  );
}

/** Whether nothing at all was recorded, in any rank. */
const isEmpty = (overview: Table): boolean =>
  ['host_events', 'device_events'].every((name) => {
    const column = find(overview, name);
    return column !== undefined && sum(column) === 0;
  });

// About how high things of the overview are, in pixels, and how high a column may be on one screen of 1280 x 800.
const FINDING_PX = 57;
const MORE_FINDINGS_PX = 30;
const STEPS_PX = 128;
const TIME_PX = 95;
const NAME_PX = 24;
const RANK_PX = 20;
const LEFT_PX = 575;
const RIGHT_PX = 600;
const MOST_SHOWN_FINDINGS = 6;
const MOST_SHOWN_RANKS = 8;

type Extra = 'strip' | 'changes' | 'cost';
const EXTRAS: readonly (readonly [Extra, number])[] = [['strip', 94], ['changes', 102], ['cost', 48]];

/** Those of which the report has something. */
function extrasOf(report: Report): Map<Extra, ComponentChild> {
  const [changes, cost] = [changesOf(report), recordingCost(report)];
  return new Map<Extra, ComponentChild>([
    ...(hasTimeline() ? [['strip', <Strip key="strip" />] as const] : []),
    ...(changes !== null ? [['changes', <BestChanges key="changes" report={report} changes={changes} />] as const] : []),
    ...(cost !== '' ? [['cost', <RecordingCost key="cost" report={report} words={cost} />] as const] : []),
  ]);
}

interface Room {
  extras: Extra[];
  most: number; // pixels
  height: number;
}

/** What is beside findings and times goes into the shorter column, as far as there is room; the strip is shown always. */
function placed(there: ReadonlySet<Extra>, findings: number, hasStepChart: boolean, ranks: number): { left: Extra[]; right: Extra[] } {
  const names = ranks < MANY_RANKS ? MOST_NAMES : FEWER_NAMES;
  const columns: readonly [Room, Room] = [
    { extras: [], most: LEFT_PX, height: NAME_PX + Math.min(findings, MOST_SHOWN_FINDINGS) * FINDING_PX + (findings > MOST_SHOWN_FINDINGS ? MORE_FINDINGS_PX : 0) + (hasStepChart ? STEPS_PX : 0) },
    { extras: [], most: RIGHT_PX, height: TIME_PX + 2 * (names + 1) * NAME_PX + (ranks > 1 ? MORE_FINDINGS_PX + Math.min(ranks, MOST_SHOWN_RANKS) * RANK_PX : 0) },
  ];
  for (const [extra, height] of EXTRAS.filter(([one]) => there.has(one))) {
    const [first, second] = columns[0].height <= columns[1].height ? columns : [columns[1], columns[0]];
    const column = [first, second].find((one) => one.height + height <= one.most) ?? (extra === 'strip' ? first : undefined);
    if (column !== undefined) {
      column.extras.push(extra);
      column.height += height;
    }
  }
  return { left: columns[0].extras, right: columns[1].extras };
}

export function OverviewPane({ report }: { report: Report }) {
  const filters = useFilters();
  const summary = sectionNamed(report, 'summary');
  const [overview, verdict] = [tableOf(summary, 'overview'), tableOf(summary, 'verdict')];
  const findings = verdict === undefined ? 0 : rowsOf(verdict);
  const ranks = overview === undefined ? 0 : new Set(find(overview, 'rank')?.values).size;
  const steps = tableOf(sectionNamed(report, 'steps'), 'steps');
  const extras = extrasOf(report);
  const { left, right } = placed(new Set(extras.keys()), findings, steps !== undefined && rowsOf(steps) > 1, ranks);
  return (
    <section id="overview" aria-labelledby="overview-title">
      <h2 id="overview-title" class="unseen">Overview</h2>
      <Answer report={report} />
      {overview !== undefined && <Facts report={report} overview={overview} />}
      {overview !== undefined && isEmpty(overview) && (
        <p class="answer empty">This recording is empty: it holds no event of a host or a device. Record some steps of the program, and end the recording before the program ends.</p>
      )}
      <div class="overview">
        <div>
          {verdict !== undefined && rowsOf(verdict) > 0 && (
            <div class="box">
              <h3>Findings{isFiltering(filters) && <small> of the whole run, whatever the filters</small>}</h3>
              <Findings report={report} table={verdict} />
            </div>
          )}
          <Steps section={sectionNamed(report, 'steps')} hasGaps={tableOf(sectionNamed(report, 'idle'), 'longest_gaps') !== undefined} />
          {left.map((extra) => extras.get(extra))}
          <Remarks report={report} />
        </div>
        <div><Time report={report} />{right.map((extra) => extras.get(extra))}</div>
      </div>
    </section>
  );
}
