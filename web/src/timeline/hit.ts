// What lies under a pixel.
import { boxAt, countOf, depthOf, durationOf } from './boxes';
import { counterValue, pointAt } from './counters';
import { LINE, lineTop, rowAt } from './rows';
import { type Scene, type Spot, boxesIn, nsAt, stretchAt } from './scene';
import { exactSpot } from './spots';
import { type Store } from './store';
import { type SummaryPart, partOf } from './summaries';

const SLACK_PX = 2; // boxes narrower than a pixel are hit from beside

/** The box at a pixel of the picture. */
export function spotAt(scene: Scene, x: number, y: number): Spot | null {
  const row = rowAt(scene.layout, y, scene.top);
  if (row === undefined || row.lines === 0) {
    return null;
  }
  const depth = Math.floor((y + (row.isPinned ? 0 : scene.top) - lineTop(row, 0)) / LINE);
  if (depth < 0 || depth >= row.lines) {
    return null;
  }
  const summary = row.summary[depth];
  const spots = (summary?.tracks ?? [row.track]).map((track) => boxOfTrack(scene, track, summary === undefined ? depth : 0, summary?.part ?? 'all', x));
  return spots.reverse().find((spot) => spot !== null) ?? null; // what is drawn last is on top
}

function boxOfTrack(scene: Scene, track: number, depth: number, part: SummaryPart, x: number): Spot | null {
  const { store, view, width } = scene;
  const ns = nsAt(view, width, x);
  const stretch = stretchAt(scene, track, ns);
  const found = stretch === undefined ? null : boxesIn(store, track, stretch);
  const index = found === null ? -1 : boxAt(found.boxes, depth, ns, (SLACK_PX / width) * (view.end - view.begin));
  if (found === null || index < 0 || partOf(part, store.tracks[track], store.tones)?.(found.boxes, index) === false) {
    return null;
  }
  return asRecorded(store, { track, piece: found.piece, boxes: found.boxes, index });
}

/** The event at a pixel: of a merged box the one that is there or nearest to it, where the page has it. */
export function eventAt(scene: Scene, x: number, y: number): Spot | null {
  const spot = spotAt(scene, x, y);
  if (spot === null || countOf(spot.boxes, spot.index) === 1) {
    return spot;
  }
  const { store, view, width } = scene;
  const [begin, end] = [spot.boxes.begin[spot.index]!, spot.boxes.end[spot.index]!];
  const ns = Math.max(begin, Math.min(end, nsAt(view, width, x)));
  for (const piece of store.piecesOf(spot.track).filter((one) => one.grain === 0 && ns >= one.begin && ns <= one.end)) {
    const boxes = store.boxes(spot.track, piece);
    const index = boxes === null ? -1 : boxAt(boxes, depthOf(spot.boxes, spot.index), ns, end - begin);
    if (boxes !== null && index >= 0) {
      return { track: spot.track, piece, boxes, index };
    }
  }
  return spot;
}

/** The event itself for a box of a merged level that is one event: only exact boxes know shapes and launches. */
export function asRecorded(store: Store, spot: Spot): Spot {
  const { boxes, index } = spot;
  return boxes.count?.[index] !== 1 ? spot
    : exactSpot(store, spot.track, boxes.begin[index]!, durationOf(boxes, index), depthOf(boxes, index)) ?? spot;
}

/** What a counter says at a pixel: its name and value; null: there is no counter there. */
export function counterAt(scene: Scene, x: number, y: number): string | null {
  const row = rowAt(scene.layout, y, scene.top);
  const info = row === undefined ? undefined : scene.store.tracks[row.track];
  if (row === undefined || info?.kind !== 'counter') {
    return null;
  }
  const ns = nsAt(scene.view, scene.width, x);
  const stretch = stretchAt(scene, row.track, ns);
  const points = stretch === undefined ? null : scene.store.points(row.track, stretch.piece);
  const at = points === null ? -1 : pointAt(points, ns);
  if (points === null || at < 0) {
    return null;
  }
  const [low, high, last] = [points.low[at]!, points.high[at]!, points.last[at]!];
  const value = counterValue(last, info.unit);
  return low === high ? `${info.name}: ${value}` : `${info.name}: ${value}, from ${counterValue(low, info.unit)} to ${counterValue(high, info.unit)}`;
}
