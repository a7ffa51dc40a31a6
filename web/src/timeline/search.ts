// Search over the names of all boxes. Names are few beside boxes: they are compared once, boxes by
// number, a part of them at a time.
import { printable } from '../units';
import { type Boxes } from './boxes';
import { type TrackInfo } from './document';
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

const CUT = '…'; // in the place of the middle of a name that is too long for the document
const LEAST_CUT = 50; // characters that are left of such a name; less are a name that has the sign itself

/** Whether a name is the text without its middle. */
function isCutOf(name: string, text: string): boolean {
  const at = name.indexOf(CUT);
  const [head, tail] = [name.slice(0, Math.max(0, at)), name.slice(at + 1)];
  return at > 0 && name.length >= LEAST_CUT && text.length >= name.length && text.startsWith(head) && text.endsWith(tail);
}

/** 1 for each name that contains the text, in either case, or is the text without its middle. */
export function matchingNames(names: readonly string[], text: string): Uint8Array {
  const wanted = printable(text).toLowerCase();
  return Uint8Array.from(names, (name) => {
    const own = name.toLowerCase();
    return Number(own.includes(wanted) || isCutOf(own, wanted));
  });
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

/** Rows of events: the critical path shows some of them again. */
const isSearched = ({ kind }: TrackInfo): boolean => kind === 'thread' || kind === 'stream' || kind === 'group';

/** Searches the events, and only where none is found the steps, whose names are those of events, too. */
function* searching(store: Store, whole: number, found: Found): Generator<void, void> {
  yield* searchingIn(store, whole, found, isSearched);
  if (found.events === 0) {
    yield* searchingIn(store, whole, found, ({ kind }) => kind === 'steps');
  }
  found.hits.sort((a, b) => beginOf(a) - beginOf(b));
  found.isComplete = true;
}

/** Searches the finest boxes there are of every stretch, one track after the other. */
function* searchingIn(store: Store, whole: number, found: Found, isWanted: (track: TrackInfo) => boolean): Generator<void, void> {
  for (const [track, info] of store.tracks.entries()) {
    const own = isWanted(info) ? store.piecesOf(track).filter((piece) => piece.source === 0) : [];
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
