// Where a step lies that a link or a filter names by its number.
import { lastingOf, momentsOf } from '../filters';
import { type Table, find, indices, numberAt, rowsOf } from '../model';
import { type Focus } from './stage';
import { type Store } from './store';

/** "ProfilerStep#12" and "step 12" are step 12. */
const numberOf = (name: string): number => Number(/(\d+)\D*$/.exec(name)?.[1] ?? NaN);

/** The rows of steps of a rank, or of all. */
function tracksOf(store: Store, rank: number | null): number[] {
  return [...store.tracks.keys()].filter((track) => {
    const info = store.tracks[track]!;
    return info.kind === 'steps' && (rank === null || info.rank === rank);
  });
}

/** By the table of the steps, which has a number for each, whatever its name: where that step began. */
function byTable(store: Store, steps: Table | undefined, rank: number | null, step: number): Focus | null {
  const momentOf = steps === undefined ? null : momentsOf(steps);
  if (steps === undefined || momentOf === null) {
    return null;
  }
  const [numbers, ranks] = [find(steps, 'step'), find(steps, 'rank')];
  const row = indices(rowsOf(steps)).find((at) => numbers?.values[at] === step && (rank === null || numberAt(ranks, at) === rank));
  const begin = row === undefined ? null : momentOf(row);
  const track = row === undefined ? undefined : tracksOf(store, ranks === undefined ? rank : numberAt(ranks, row))[0];
  return row === undefined || begin === null || track === undefined ? null : { track, begin, duration: lastingOf(steps, row, find(steps, 'span_ns')) };
}

/** By the number in the names of the boxes, of what the table has no row for; else the box at that place. */
function byBoxes(store: Store, rank: number | null, step: number): Focus | null {
  for (const isWanted of [
    (name: string) => numberOf(name) === step,
    (name: string, at: number) => at === step && Number.isNaN(numberOf(name)),
  ]) {
    for (const track of tracksOf(store, rank)) {
      for (const piece of [...store.piecesOf(track)].sort((a, b) => a.grain - b.grain)) {
        const boxes = store.boxes(track, piece);
        const index = boxes === null ? -1 : [...boxes.name].findIndex((name, i) => (boxes.count?.[i] ?? 1) === 1 && isWanted(store.name(name), i));
        if (boxes !== null && index >= 0) {
          return { track, begin: boxes.begin[index]!, duration: boxes.end[index]! - boxes.begin[index]! };
        }
      }
    }
  }
  return null;
}

/** The step of a rank, or of the first that has it without one; null: it is not in the page. */
export function stepFocus(store: Store, steps: Table | undefined, rank: number | null, step: number): Focus | null {
  store.allow(Infinity);
  const found = byTable(store, steps, rank, step);
  return found ?? byBoxes(store, rank, step);
}
