// What a box follows and what follows it: on its row, by launches, on the critical path and on other ranks.
import { launchedBy } from './arrows';
import { depthOf, overlapping } from './boxes';
import { type Spot } from './scene';
import { beginningAt, isOnPath } from './spots';
import { type Store } from './store';

/** Boxes that a box leads to, under one title. */
export interface Flow {
  title: string;
  spots: readonly Spot[];
  more: number; // that are not among them
}

const MOST_SHOWN = 12;

const flow = (title: string, spots: readonly Spot[]): Flow[] =>
  (spots.length === 0 ? [] : [{ title, spots: spots.slice(0, MOST_SHOWN), more: Math.max(0, spots.length - MOST_SHOWN) }]);

/** What a host box launched, in the order of time; groups show again what is on a stream. */
function launched(store: Store, spot: Spot): Spot[] {
  const isHost = store.tracks[spot.track]?.kind === 'thread' && spot.piece.grain === 0;
  const all = isHost ? launchedBy(store, spot, (kind) => kind === 'stream', Infinity) : []; // all are counted
  return all.sort((a, b) => a.boxes.begin[a.index]! - b.boxes.begin[b.index]!);
}

/** The stretches of the critical path that are of an event: of those that begin at one time the innermost. */
function pathOf(store: Store, spot: Spot): Spot[] {
  const rank = store.tracks[spot.track]?.rank;
  const begin = spot.boxes.begin[spot.index]!;
  const found: Spot[] = [];
  if (beginningAt(spot.boxes, begin) !== spot.index) {
    return found;
  }
  store.tracks.forEach((info, track) => {
    const boxes = info.kind === 'path' && info.rank === rank && spot.piece.grain === 0 ? store.boxes(track, spot.piece) : null;
    for (let i = 0; boxes?.launchTrack != null && i < boxes.length; ++i) {
      if (boxes.launchTrack[i] === spot.track + 1 && boxes.launchNs![i] === begin) {
        found.push({ track, piece: spot.piece, boxes, index: i });
      }
    }
  });
  return found;
}

/** Communication of the same group on other ranks at the same time. */
function elsewhere(store: Store, spot: Spot): Spot[] {
  const own = store.tracks[spot.track];
  const [begin, end] = [spot.boxes.begin[spot.index]!, spot.boxes.end[spot.index]!];
  const found: Spot[] = [];
  store.tracks.forEach((info, track) => {
    if (own?.kind !== 'group' || info.kind !== 'group' || info.rank === own.rank || info.name !== own.name) {
      return;
    }
    const pieces = store.piecesOf(track).filter((piece) => piece.begin <= end && piece.end >= begin).sort((a, b) => a.grain - b.grain);
    const boxes = pieces[0] === undefined ? null : store.boxes(track, pieces[0]);
    const [first, last] = boxes === null ? [0, 0] : overlapping(boxes, 0, begin, end);
    for (let i = first; i < last; ++i) {
      if (boxes!.begin[i]! < end && boxes!.end[i]! > begin) {
        found.push({ track, piece: pieces[0]!, boxes: boxes!, index: i });
      }
    }
  });
  return found;
}

/** Where a box leads besides its launch and what is around it. */
export function flowOf(store: Store, spot: Spot): Flow[] {
  const fromPath = isOnPath(store, spot) ? [] : pathOf(store, spot);
  return [
    ...flow('Launches', launched(store, spot)),
    ...flow('On the critical path', fromPath),
    ...flow('On other ranks at the same time', elsewhere(store, spot)),
  ];
}

/** The box before or after on the same line, and the time in between; null: there is none. */
export function besideOnLine(spot: Spot, direction: 1 | -1): { spot: Spot; apart: number } | null {
  const { boxes, index } = spot;
  const depth = depthOf(boxes, index);
  const to = index + direction;
  if (to < boxes.first[depth]! || to >= boxes.first[depth + 1]!) {
    return null;
  }
  const [earlier, later] = direction > 0 ? [index, to] : [to, index];
  return { spot: { ...spot, index: to }, apart: boxes.begin[later]! - boxes.end[earlier]! };
}
