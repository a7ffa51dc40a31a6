// The pane of the timeline, which is drawn from the element `borescope-timeline` (docs/timeline.md).
import type { ComponentType } from 'preact';
import { useMemo } from 'preact/hooks';

import { TIMELINE_ELEMENT } from '../model';
import { useNavigation } from '../navigation';

type Range = readonly [number, number]; // nanoseconds since the recording began

export interface TimelineProps {
  document: unknown;
  range: Range | null; // null: all of it
  onRange: (range: Range | null) => void;
  focus: { rank: number | null; step: number | null; text: string };
}

// What draws it, in a page that has it.
const TIMELINE = null as ComponentType<TimelineProps> | null;

function embeddedTimeline(): unknown {
  const text = document.getElementById(TIMELINE_ELEMENT)?.textContent ?? '';
  return text.trim() === '' ? null : JSON.parse(text);
}

export function TimelinePane() {
  const { route, go } = useNavigation();
  const { filters } = route;
  const data = useMemo(embeddedTimeline, []);
  return (
    <section id="timeline" aria-labelledby="section-timeline">
      <h2 id="section-timeline">Timeline</h2>
      {data === null || TIMELINE === null
        ? <p class="note">There is no timeline in this page.</p>
        : <TIMELINE document={data} range={filters.time} onRange={(time) => go({ filters: { ...filters, time } }, 'replace')} focus={filters} />}
    </section>
  );
}
