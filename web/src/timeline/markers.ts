// Markers: the ranges that programs name, by NVTX, record_function and similar, summed up by name over the whole
// recording.
import { countOf, durationOf } from './boxes';
import { type Work } from './decode';
import { plan } from './levels';
import { type Spot } from './scene';
import { type Store, unpacked } from './store';

export interface MarkerSum {
  name: number;
  count: number;
  ns: number;
  longest: Spot; // one event, unless all that there are of it are merged
  isMerged: boolean; // counted for the longest name of boxes that hold several events
}

const TONE = 'annotation';
const PAUSE_EACH = 20_000;

/** The sums of all markers, the most time first. Yields now and then. */
export function* markersOf(store: Store, whole: number): Work<MarkerSum[]> {
  const sums = new Map<number, MarkerSum>();
  const tone = store.tones.indexOf(TONE);
  let seen = 0;
  for (const [track, info] of store.tracks.entries()) {
    for (const { piece, begin, end } of info.kind === 'thread' && tone >= 0 ? plan(store.piecesOf(track), 0, whole, 0) : []) {
      const boxes = yield* unpacked(store, track, piece);
      for (let i = 0; i < boxes.length; ++i) {
        if (boxes.tone[i] === tone && boxes.begin[i]! >= begin && (boxes.begin[i]! < end || end >= whole)) {
          add(sums, boxes.name[i]!, { track, piece, boxes, index: i });
        }
        if (++seen % PAUSE_EACH === 0) {
          yield;
        }
      }
    }
  }
  return [...sums.values()].sort((a, b) => b.ns - a.ns);
}

function add(sums: Map<number, MarkerSum>, name: number, spot: Spot): void {
  const [count, ns] = [countOf(spot.boxes, spot.index), spot.boxes.busy?.[spot.index] ?? durationOf(spot.boxes, spot.index)];
  const sum = sums.get(name);
  if (sum === undefined) {
    sums.set(name, { name, count, ns, longest: spot, isMerged: count > 1 });
    return;
  }
  sum.count += count;
  sum.ns += ns;
  sum.isMerged ||= count > 1;
  const isLonger = durationOf(spot.boxes, spot.index) > durationOf(sum.longest.boxes, sum.longest.index);
  const hasOne = countOf(sum.longest.boxes, sum.longest.index) === 1;
  const isBetter = count === 1 ? !hasOne || isLonger : !hasOne && isLonger;
  sum.longest = isBetter ? spot : sum.longest;
}
