// Search over the names of all boxes. Names are few beside boxes: they are compared once, boxes by
// number, a part of them at a time.
import { type Boxes } from './boxes';
import { type Stretch, plan } from './levels';
import { type Spot } from './scene';
import { type Store } from './store';

const SLICE_MS = 6;
const MOST_HITS = 20_000;

/** What a search found so far. */
export interface Found {
  matches: Uint8Array | null; // by name
  hits: Spot[]; // by time, when it is complete
  events: number; // in all hits
  isComplete: boolean;
  isCut: boolean; // there are more than can be visited one by one
}

export const NOTHING_FOUND: Found = { matches: null, hits: [], events: 0, isComplete: true, isCut: false };

/** 1 for each name that contains the text, in either case. */
export function matchingNames(names: readonly string[], text: string): Uint8Array {
  const wanted = text.toLowerCase();
  return Uint8Array.from(names, (name) => Number(name.toLowerCase().includes(wanted)));
}

/** Adds the boxes of a stretch whose names match; those that begin before it belong to the one before. */
function collect(found: Found, track: number, boxes: Boxes, stretch: Stretch, isFirst: boolean): void {
  for (let i = 0; i < boxes.length; ++i) {
    const begin = boxes.begin[i]!;
    if (found.matches![boxes.name[i]!] === 1 && begin < stretch.end && (begin >= stretch.begin || isFirst)) {
      found.events += boxes.count?.[i] ?? 1;
      if (found.hits.length < MOST_HITS) {
        found.hits.push({ track, piece: stretch.piece, boxes, index: i });
      } else {
        found.isCut = true;
      }
    }
  }
}

const beginOf = ({ boxes, index }: Spot): number => boxes.begin[index]!;

/** Searches the finest boxes there are of every stretch, one track after the other. */
function* searching(store: Store, whole: number, found: Found): Generator<void, void> {
  for (const [track, info] of store.tracks.entries()) {
    const own = info.kind === 'counter' ? [] : store.piecesOf(track).filter((piece) => piece.source === 0);
    for (const [i, stretch] of plan(own, 0, whole, 0).entries()) {
      let boxes = store.boxes(track, stretch.piece);
      while (boxes === null) {
        yield;
        boxes = store.boxes(track, stretch.piece);
      }
      collect(found, track, boxes, stretch, i === 0);
      yield;
    }
  }
  found.hits.sort((a, b) => beginOf(a) - beginOf(b));
  found.isComplete = true;
}

/** Searches in pieces of a few milliseconds and reports what is found; the returned function stops it. */
export function search(store: Store, whole: number, text: string, report: (found: Found) => void): () => void {
  const found: Found = { matches: matchingNames(store.names, text), hits: [], events: 0, isComplete: false, isCut: false };
  const work = searching(store, whole, found);
  let timer = 0;
  const slice = () => {
    store.allow(SLICE_MS);
    const end = performance.now() + SLICE_MS;
    let isDone = false;
    while (!isDone && performance.now() < end) {
      isDone = work.next().done === true;
    }
    report({ ...found });
    timer = isDone ? 0 : window.setTimeout(slice);
  };
  report({ ...found });
  timer = window.setTimeout(slice);
  return () => clearTimeout(timer);
}

/** The hit after or before a time, around the end. */
export function nextHit(hits: readonly Spot[], from: number, direction: 1 | -1): Spot | undefined {
  const ordered = direction === 1 ? hits : [...hits].reverse();
  return ordered.find((hit) => (beginOf(hit) - from) * direction > 0) ?? ordered[0];
}
