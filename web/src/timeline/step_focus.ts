// Where a step lies that a link or a filter names by its number.
import { type TimelineDocument } from './document';
import { type Focus } from './stage';
import { Store } from './store';

/** "ProfilerStep#12" and "step 12" are step 12. */
const numberOf = (name: string): number => Number(/(\d+)\D*$/.exec(name)?.[1] ?? NaN);

/** The step of a rank, or of the first that has it without one; null: it is not in the document. */
export function stepFocus(document: TimelineDocument, rank: number | null, step: number): Focus | null {
  const store = new Store(document);
  for (const [track, info] of store.tracks.entries()) {
    const isWanted = info.kind === 'steps' && (rank === null || info.rank === rank);
    for (const piece of isWanted ? [...store.piecesOf(track)].sort((a, b) => a.grain - b.grain) : []) {
      const boxes = store.boxes(track, piece);
      const index = boxes === null ? -1 : [...boxes.name].findIndex((name, i) => (boxes.count?.[i] ?? 1) === 1 && numberOf(store.name(name)) === step);
      if (boxes !== null && index >= 0) {
        return { track, begin: boxes.begin[index]!, duration: boxes.end[index]! - boxes.begin[index]! };
      }
    }
  }
  return null;
}
