// What the colours of boxes mean: those tones that are seen.
import { printable } from '../units';
import { useChanges } from './changes';
import { countOf } from './boxes';
import { boxesIn } from './scene';
import { type Stage, tracksOf } from './stage';

const MOST_READ = 20_000; // boxes of a stretch: a tone that none of them has is rare

const WORDS: Record<string, string> = {
  comm: 'communication', device: 'delay between kernels', op: 'operator', python: 'Python', sync: 'wait', data: 'data loading',
  faint: 'before the recording', tail: 'others wait for this rank',
};

interface Seen {
  tones: Set<number>;
  hasMerged: boolean; // boxes of several events
}

/** What is drawn in the rows on the screen. */
function seenOn(stage: Stage): Seen {
  const seen: Seen = { tones: new Set(), hasMerged: false };
  const tracks = new Set(stage.visibleRows().filter((row) => row.lines > 0).flatMap(tracksOf));
  for (const track of tracks) {
    for (const stretch of stage.stretchesOf(track)) {
      const boxes = boxesIn(stage.store, track, stretch)?.boxes;
      for (let i = 0; boxes !== undefined && i < Math.min(MOST_READ, boxes.length); ++i) {
        seen.tones.add(boxes.tone[i]!);
        seen.hasMerged ||= countOf(boxes, i) > 1;
      }
    }
  }
  return seen;
}

export function Legend({ stage }: { stage: Stage }) {
  useChanges(stage, 'settle');
  const { tones: seen, hasMerged } = seenOn(stage);
  const tones = stage.store.tones.flatMap((tone, i) => (seen.has(i) && /^[\w-]+$/.test(tone) ? [tone] : []));
  const hasSteps = stage.store.tracks.some((info) => info.kind === 'steps' && info.events > 1);
  return (
    <ul class="legend tl-legend" aria-label="Colours of events">
      {tones.map((tone) => (
        <li key={tone}><i style={{ background: `var(--${tone}, var(--other))` }} aria-hidden="true" />{WORDS[tone] ?? printable(tone)}</li>
      ))}
      {hasMerged && <li><i class="tl-paleness" aria-hidden="true" />paler: several events in one box with time between them, the paler the less of it is busy</li>}
      {stage.matches !== null && <li><i class="tl-unfound" aria-hidden="true" />very pale: not what the search looks for</li>}
      {hasSteps && <li><i class="tl-band" aria-hidden="true" />every other step of the host; devices may run its work later</li>}
    </ul>
  );
}
