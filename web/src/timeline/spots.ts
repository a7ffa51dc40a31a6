// From one box to others: its launch, those around it, its neighbours, those of the same name.
import { type Boxes, boxAt, depthOf, depthsOf, enclosing, overlapping } from './boxes';
import { type Piece } from './levels';
import { type Spot } from './scene';
import { type Store } from './store';

const exactPieces = (store: Store, track: number, ns: number): Piece[] =>
  store.piecesOf(track).filter((piece) => piece.grain === 0 && ns >= piece.begin && ns <= piece.end);

/** The deepest box that begins at a time, or that of a depth; -1: none does. */
export function beginningAt(boxes: Boxes, ns: number, duration?: number, own?: number): number {
  for (let depth = own ?? depthsOf(boxes) - 1; depth >= (own ?? 0); --depth) {
    const [first, end] = overlapping(boxes, depth, ns - 1, ns);
    for (let i = end - 1; i >= first; --i) {
      if (boxes.begin[i] === ns && (duration === undefined || boxes.end[i]! - ns === duration)) {
        return i;
      }
    }
  }
  return -1;
}

/** The exact box of a track that begins at a time, of this duration and at this depth if they are given. */
export function exactSpot(store: Store, track: number, ns: number, duration?: number, depth?: number): Spot | null {
  for (const piece of exactPieces(store, track, ns)) {
    const boxes = store.boxes(track, piece);
    const index = boxes === null ? -1 : beginningAt(boxes, ns, duration, depth);
    if (boxes !== null && index >= 0) {
      return { track, piece, boxes, index };
    }
  }
  return null;
}

/** The box of any level that begins at a time, is so long and so deep: what an address names where events are merged. */
export function mergedSpot(store: Store, track: number, ns: number, duration: number, depth: number): Spot | null {
  for (const piece of [...store.piecesOf(track)].sort((a, b) => a.grain - b.grain)) {
    const boxes = store.boxes(track, piece);
    const index = boxes === null ? -1 : beginningAt(boxes, ns, duration, depth);
    if (boxes !== null && index >= 0) {
      return { track, piece, boxes, index };
    }
  }
  return null;
}

/** Where a box leads: to the call that launched it; from the critical path to the event itself. */
export function launchOf(store: Store, { boxes, index }: Spot): Spot | null {
  const track = boxes.launchTrack?.[index] ?? 0;
  return track === 0 ? null : exactSpot(store, track - 1, boxes.launchNs![index]!);
}

/** Whether a box stands on the critical path for an event of another row. */
export const isOnPath = (store: Store, { track }: Spot): boolean => store.tracks[track]?.kind === 'path';

/** The boxes around a box and the box itself, the outermost first. */
export const stackOf = (spot: Spot): Spot[] =>
  [...enclosing(spot.boxes, spot.index), spot.index].map((index) => ({ ...spot, index }));

/** The next box of the same name on the same track, or the one before. */
export function sameName(spot: Spot, direction: 1 | -1): Spot | null {
  const { boxes, index } = spot;
  const [own, name] = [boxes.begin[index]!, boxes.name[index]!];
  let [best, nearest] = [-1, Infinity];
  for (let i = 0; i < boxes.length; ++i) {
    const away = (boxes.begin[i]! - own) * direction;
    if (boxes.name[i] === name && away > 0 && away < nearest) {
      [best, nearest] = [i, away];
    }
  }
  return best < 0 ? null : { ...spot, index: best };
}

/** The box beside, above or below a box, as arrow keys move. */
export function neighbourOf(spot: Spot, key: string): Spot | null {
  const { boxes, index } = spot;
  const depth = depthOf(boxes, index);
  const [first, end] = [boxes.first[depth]!, boxes.first[depth + 1]!];
  const to: Record<string, () => number> = {
    ArrowLeft: () => (index > first ? index - 1 : -1),
    ArrowRight: () => (index + 1 < end ? index + 1 : -1),
    ArrowUp: () => (depth > 0 ? boxAt(boxes, depth - 1, boxes.begin[index]!) : -1),
    ArrowDown: () => firstBelow(boxes, depth, index),
  };
  const found = to[key]?.() ?? -1;
  return found < 0 ? null : { ...spot, index: found };
}

function firstBelow(boxes: Boxes, depth: number, index: number): number {
  if (depth + 1 >= depthsOf(boxes)) {
    return -1;
  }
  const [first, end] = overlapping(boxes, depth + 1, boxes.begin[index]!, boxes.end[index]!);
  return first < end && boxes.begin[first]! >= boxes.begin[index]! ? first : -1;
}
