// The pane of the timeline, which is drawn from the element `borescope-timeline` (docs/how-it-works/timeline.md). The
// filters of the page hold in it: time as its range, a step as where it looks, text as its search.
import { useMemo, useRef } from 'preact/hooks';

import { usePrinting } from '../hooks';
import { type Report, TIMELINE, find, indices, numberAt, rowsOf, sectionNamed, tableOf, textAt } from '../model';
import { useNavigation } from '../navigation';
import { RangeView } from '../range_view';
import { type Look } from '../route';
import { type PageTimeline, timelineOfPage } from '../timeline/of_page';
import { stepFocus } from '../timeline/step_focus';
import { Timeline } from '../timeline/timeline';
import { type Span } from '../timeline/view';
import { show } from '../units';

// What the verb waits says of a clock that it could put in line.
const ALIGNED: readonly string[] = ['one clock', 'aligned', 'stepped', 'doubtful'];

const rounded = (range: Span | null): readonly [number, number] | null =>
  range === null ? null : [Math.round(range.begin), Math.round(range.end)];

/** How the ranks of the timeline are in line, and how wrong that may be; empty of one rank. */
export function clockWords(report: Report, ranks: number): string {
  if (ranks < 2) {
    return '';
  }
  const table = tableOf(sectionNamed(report, 'waits'), 'clocks');
  const rows = table === undefined ? [] : indices(rowsOf(table));
  if (table === undefined || table.comparison !== 'none' || rows.length < ranks || rows.some((row) => !ALIGNED.includes(textAt(find(table, 'verdict'), row).replace(/_/g, ' ')))) {
    return 'Ranks are in line by the times that their files name: not all met in collectives, so that nothing tells how far their clocks are apart, or drift.';
  }
  const most = (name: string) => Math.max(0, ...rows.map((row) => Math.abs(numberAt(find(table, name), row))));
  const [error, whole, drift] = [most('error_ns'), most('whole_error_ns'), most('drift_ppm')];
  const inLine = `Ranks are in line by their collectives, to within ${show(error, 'ns')} in the middle of the recording.`;
  return drift > 0
    ? `${inLine} Their clocks drift by up to ${drift.toPrecision(2)} µs a second, which is not taken out here: anywhere in it a rank may be off by ${show(Math.max(error, whole), 'ns')}. Who waits for whom is worked out with the drift.`
    : `${inLine}${whole > error ? ` Anywhere in it a rank may be off by ${show(whole, 'ns')}.` : ''} No drift of their clocks can be told from chance.`;
}

function FilteredTimeline({ report, page }: { report: Report; page: PageTimeline }) {
  const { route, go, href } = useNavigation();
  const { filters } = route;
  const [begin, end] = filters.time ?? [];
  const range = useMemo(() => (begin === undefined || end === undefined ? null : { begin, end }), [begin, end]);
  const steps = tableOf(sectionNamed(report, 'steps'), 'steps');
  const focus = useMemo(
    () => (filters.step === null ? null : stepFocus(page.store, steps, filters.rank, filters.step)), [page, steps, filters.rank, filters.step]);
  const choose = (chosen: Span | null) => go({ filters: { ...filters, time: rounded(chosen) } }, 'replace');
  const clocks = useMemo(() => clockWords(report, new Set(page.store.tracks.map((track) => track.rank)).size), [report, page]);
  const look = (now: Look) => go({ look: now }, 'replace'); // addresses of other panes do not have it
  return (
    <Timeline document={page.document} store={page.store} range={range} onRange={choose} focus={focus} search={filters.text} look={route.look} onLook={look}>
      {clocks !== '' && <div class="clocks"><p class="note">{clocks} {report.sections.some(({ name, lack }) => name === 'waits' && lack === '') && <a href={href('waits')}>Clocks</a>}</p></div>}
      {route.pane === TIMELINE && <RangeView />}
    </Timeline>
  );
}

/** It is read and drawn when it is first shown or printed: a search of the browser finds nothing in it. */
export function TimelinePane({ report, isShown }: { report: Report; isShown: boolean }) {
  const isPrinting = usePrinting();
  const isWanted = useRef(false);
  isWanted.current ||= isShown || isPrinting;
  const page = useMemo(() => (isWanted.current ? timelineOfPage() : undefined), [isWanted.current]);
  return (
    <section id="timeline" aria-labelledby="section-timeline">
      <h2 id="section-timeline">Timeline</h2>
      {page === undefined ? null : page === null ? <p class="note">There is no timeline in this page.</p> : <FilteredTimeline report={report} page={page} />}
    </section>
  );
}
