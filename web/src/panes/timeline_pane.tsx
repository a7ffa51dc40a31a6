// The pane of the timeline, which is drawn from the element `borescope-timeline` (docs/how-it-works/timeline.md). The
// filters of the page hold in it: time as its range, a step as where it looks, text as its search.
import { useMemo, useRef } from 'preact/hooks';

import { usePrinting } from '../hooks';
import { type Report, TIMELINE, sectionNamed, tableOf } from '../model';
import { useNavigation } from '../navigation';
import { RangeView } from '../range_view';
import { type Look } from '../route';
import { type PageTimeline, timelineOfPage } from '../timeline/of_page';
import { stepFocus } from '../timeline/step_focus';
import { Timeline } from '../timeline/timeline';
import { type Span } from '../timeline/view';

const rounded = (range: Span | null): readonly [number, number] | null =>
  range === null ? null : [Math.round(range.begin), Math.round(range.end)];

function FilteredTimeline({ report, page }: { report: Report; page: PageTimeline }) {
  const { route, go } = useNavigation();
  const { filters } = route;
  const [begin, end] = filters.time ?? [];
  const range = useMemo(() => (begin === undefined || end === undefined ? null : { begin, end }), [begin, end]);
  const steps = tableOf(sectionNamed(report, 'steps'), 'steps');
  const focus = useMemo(
    () => (filters.step === null ? null : stepFocus(page.store, steps, filters.rank, filters.step)), [page, steps, filters.rank, filters.step]);
  const choose = (chosen: Span | null) => go({ filters: { ...filters, time: rounded(chosen) } }, 'replace');
  const look = (now: Look) => go({ look: now }, 'replace'); // addresses of other panes do not have it
  return (
    <Timeline document={page.document} store={page.store} range={range} onRange={choose} focus={focus} search={filters.text} look={route.look} onLook={look}>
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
