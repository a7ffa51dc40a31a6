// The pane of the timeline, which is drawn from the element `borescope-timeline` (docs/timeline.md). The
// filters of the page hold in it: time as its range, a step as where it looks, text as its search.
import { useMemo } from 'preact/hooks';

import { TIMELINE_ELEMENT } from '../model';
import { useNavigation } from '../navigation';
import { type TimelineDocument, readTimeline } from '../timeline/document';
import { stepFocus } from '../timeline/step_focus';
import { Timeline } from '../timeline/timeline';
import { type Span } from '../timeline/view';

const rounded = (range: Span | null): readonly [number, number] | null =>
  range === null ? null : [Math.round(range.begin), Math.round(range.end)];

function FilteredTimeline({ data }: { data: TimelineDocument }) {
  const { route, go } = useNavigation();
  const { filters } = route;
  const [begin, end] = filters.time ?? [];
  const range = useMemo(() => (begin === undefined || end === undefined ? null : { begin, end }), [begin, end]);
  const focus = useMemo(() => (filters.step === null ? null : stepFocus(data, filters.rank, filters.step)), [data, filters.rank, filters.step]);
  const choose = (chosen: Span | null) => go({ filters: { ...filters, time: rounded(chosen) } }, 'replace');
  return <Timeline document={data} range={range} onRange={choose} focus={focus} search={filters.text} />;
}

export function TimelinePane() {
  const data = useMemo(() => readTimeline(document.getElementById(TIMELINE_ELEMENT)?.textContent), []);
  return (
    <section id="timeline" aria-labelledby="section-timeline">
      <h2 id="section-timeline">Timeline</h2>
      {data === null ? <p class="note">There is no timeline in this page.</p> : <FilteredTimeline data={data} />}
    </section>
  );
}
