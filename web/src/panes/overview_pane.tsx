// What to know first, on one screen: what was recorded, what costs the time, and where it goes. Of two runs
// both, and what changed.

import { LEFT_OUT, timeOfUnit } from '../device_time';
import { Facts } from '../facts';
import { Findings } from '../findings';
import { type Report, type Section, type Table, find, rowsOf, sectionNamed, tableOf } from '../model';
import { useFilters, useNavigation } from '../navigation';
import { kindsOf } from '../quality';
import { type Filters, isFiltering } from '../route';
import { StepColumns, hasSteps } from '../step_columns';
import { prose, sum } from '../units';
import { BestChanges, RecordingCost } from './overview_advice';
import { useLeft } from './overview_filters';
import { TopNames } from './overview_names';
import { Strip } from './overview_strip';
import { Ranks, TimeBox, type UnitTimes } from './overview_time';

const MOST_NAMES = 5;
const FEWER_NAMES = 4; // beside many ranks, as all is to fit a screen
const MANY_RANKS = 7;
const FEW_FINDINGS = 3;
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

/** What a change would bring, and what recording cost: where there is room on one screen, below the times of one rank, else
 *  below few findings. */
function Advice({ report }: { report: Report }) {
  return <><BestChanges report={report} /><RecordingCost report={report} /></>;
}

export function OverviewPane({ report }: { report: Report }) {
  const filters = useFilters();
  const summary = sectionNamed(report, 'summary');
  const [overview, verdict] = [tableOf(summary, 'overview'), tableOf(summary, 'verdict')];
  const findings = verdict === undefined ? 0 : rowsOf(verdict);
  const hasRanks = overview !== undefined && new Set(find(overview, 'rank')?.values).size > 1;
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
          <Strip />
          {hasRanks && findings <= FEW_FINDINGS && <Advice report={report} />}
          <Remarks report={report} />
        </div>
        <div><Time report={report} />{!hasRanks && <Advice report={report} />}</div>
      </div>
    </section>
  );
}
