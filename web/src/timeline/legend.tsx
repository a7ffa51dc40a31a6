// What the colours of boxes mean: those tones that are seen.
import { printable } from '../units';
import { useChanges } from './changes';
import { boxesIn } from './scene';
import { type Stage } from './stage';

const MOST_READ = 20_000; // boxes of a stretch: a tone that none of them has is rare

const WORDS: Record<string, string> = {
  comm: 'communication', device: 'delay between kernels', op: 'operator', python: 'Python', sync: 'wait', data: 'data loading',
  faint: 'before the recording',
};

/** The tones of what is drawn in the rows on the screen. */
function tonesSeen(stage: Stage): Set<number> {
  const seen = new Set<number>();
  for (const { track, lines } of stage.visibleRows()) {
    for (const stretch of lines > 0 ? stage.stretchesOf(track) : []) {
      const tones = boxesIn(stage.store, track, stretch)?.boxes.tone ?? [];
      for (let i = 0; i < Math.min(MOST_READ, tones.length); ++i) {
        seen.add(tones[i]!);
      }
    }
  }
  return seen;
}

export function Legend({ stage }: { stage: Stage }) {
  useChanges(stage, 'settle');
  const seen = tonesSeen(stage);
  const tones = stage.store.tones.flatMap((tone, i) => (seen.has(i) && /^[\w-]+$/.test(tone) ? [tone] : []));
  const hasSteps = stage.store.tracks.some((info) => info.kind === 'steps' && info.events > 1);
  return (
    <ul class="legend tl-legend" aria-label="Colours of events">
      {tones.map((tone) => (
        <li key={tone}><i style={{ background: `var(--${tone}, var(--other))` }} aria-hidden="true" />{WORDS[tone] ?? printable(tone)}</li>
      ))}
      {hasSteps && <li><i class="tl-band" aria-hidden="true" />every other step of the host; devices may run its work later</li>}
    </ul>
  );
}
