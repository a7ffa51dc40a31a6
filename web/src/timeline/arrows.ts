// Arrows from a launch to what it launched, and along the critical path.
import { type Boxes, depthOf, overlapping } from './boxes';
import { type TrackInfo } from './document';
import { anchorOf } from './rows';
import { type Scene, type Spot, xOf } from './scene';
import { type Store } from './store';

export interface Arrow {
  fromTrack: number;
  fromDepth: number;
  fromNs: number;
  toTrack: number;
  toDepth: number;
  toNs: number;
}

const MOST_LAUNCHED = 200; // arrows from one box
const LEAST_APART_PX = 14; // arrows of the path closer together would be a blot

/** From the launch of a box to it; null: none is known. */
export function launchArrow(spot: Spot, fromDepth: number): Arrow | null {
  const { boxes, index } = spot;
  const from = boxes.launchTrack?.[index] ?? 0;
  return from === 0 ? null : {
    fromTrack: from - 1, fromDepth, fromNs: boxes.launchNs![index]!,
    toTrack: spot.track, toDepth: depthOf(boxes, index), toNs: boxes.begin[index]!,
  };
}

/** The boxes of a track that were launched from `track` within a box there, `most` of them. */
function launchedIn(boxes: Boxes, track: number, begin: number, end: number, most: number): number[] {
  const found: number[] = [];
  for (let i = 0; i < boxes.length && found.length < most; ++i) {
    if (boxes.launchTrack![i] === track + 1 && boxes.launchNs![i]! >= begin && boxes.launchNs![i]! <= end) {
      found.push(i);
    }
  }
  return found;
}

/** What was launched within a box of the host: its kernels and copies, on tracks that are wanted. */
export function launchedBy(
  store: Store, spot: Spot, isWanted: (kind: TrackInfo['kind']) => boolean = (kind) => kind !== 'counter' && kind !== 'path', most = MOST_LAUNCHED,
): Spot[] {
  const [begin, end] = [spot.boxes.begin[spot.index]!, spot.boxes.end[spot.index]!];
  const found: Spot[] = [];
  store.tracks.forEach((info, track) => {
    const boxes = !isWanted(info.kind) || info.rank !== store.tracks[spot.track]?.rank ? null : store.boxes(track, spot.piece);
    if (boxes !== null && boxes.launchTrack !== null) {
      launchedIn(boxes, spot.track, begin, end, most - found.length).forEach((index) => found.push({ track, piece: spot.piece, boxes, index }));
    }
  });
  return found;
}

/** Arrows between pieces of the critical path that are seen, where they lie on rows. */
export function pathArrows(scene: Scene, track: number): Arrow[] {
  const arrows: Arrow[] = [];
  for (const piece of scene.store.piecesOf(track).filter((one) => one.grain === 0)) {
    const boxes = scene.store.boxes(track, piece);
    if (boxes === null || boxes.launchTrack === null) {
      continue;
    }
    const [first, end] = overlapping(boxes, 0, Math.max(scene.view.begin, piece.begin), Math.min(scene.view.end, piece.end));
    const wide = xOf(scene, Math.min(scene.view.end, piece.end)) - xOf(scene, Math.max(scene.view.begin, piece.begin));
    for (let i = Math.max(first, 1); i < end && (end - first) * LEAST_APART_PX <= wide; ++i) {
      const [from, to] = [boxes.launchTrack[i - 1]!, boxes.launchTrack[i]!];
      if (from > 0 && to > 0 && from !== to) {
        arrows.push({ fromTrack: from - 1, fromDepth: 0, fromNs: boxes.end[i - 1]!, toTrack: to - 1, toDepth: 0, toNs: boxes.begin[i]! });
      }
    }
  }
  return arrows;
}

const HEAD = 5;

function drawOne(context: CanvasRenderingContext2D, x0: number, y0: number, x1: number, y1: number): void {
  const bend = Math.max(12, Math.min(80, Math.abs(x1 - x0) / 2));
  context.beginPath();
  context.moveTo(x0, y0);
  context.bezierCurveTo(x0 + bend, y0, x1 - bend, y1, x1 - 1, y1);
  context.stroke();
  context.beginPath();
  context.moveTo(x1, y1);
  context.lineTo(x1 - HEAD, y1 - HEAD * 0.7);
  context.lineTo(x1 - HEAD, y1 + HEAD * 0.7);
  context.fill();
}

/** Where arrows to a track end; of one that has an end in a pinned row the other is below these, also where its row is
 *  hidden by them. */
function endOf({ layout, store, top }: Scene, track: number, depth: number, hasPinned: boolean): number | null {
  const y = anchorOf(layout, store.tracks, track, depth, top);
  const canHide = hasPinned && layout.byTrack.get(track)?.isPinned !== true;
  return y !== null && canHide ? Math.max(layout.pinned, y) : y;
}

/** Draws arrows whose ends have a place; canvas coordinates beyond what it can draw are cut. */
export function drawArrows(context: CanvasRenderingContext2D, scene: Scene, arrows: readonly Arrow[], colour: string): void {
  const isPinned = (track: number) => scene.layout.byTrack.get(track)?.isPinned === true;
  const place = (ns: number) => Math.max(-1e5, Math.min(1e5, xOf(scene, ns)));
  context.strokeStyle = colour;
  context.fillStyle = colour;
  context.lineWidth = 1.25;
  for (const arrow of arrows) {
    const hasPinned = isPinned(arrow.fromTrack) || isPinned(arrow.toTrack);
    const from = endOf(scene, arrow.fromTrack, arrow.fromDepth, hasPinned);
    const to = endOf(scene, arrow.toTrack, arrow.toDepth, hasPinned);
    if (from !== null && to !== null) {
      drawOne(context, place(arrow.fromNs), from, place(arrow.toNs), to);
    }
  }
}
