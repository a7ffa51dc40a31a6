// What lies under a pixel.
import { boxAt, depthOf, durationOf } from './boxes';
import { counterValue, pointAt } from './counters';
import { LINE, lineTop, rowAt } from './rows';
import { type Scene, type Spot, boxesIn, nsAt, stretchAt } from './scene';
import { exactSpot } from './spots';
import { type Store } from './store';

const SLACK_PX = 2; // boxes narrower than a pixel are hit from beside

/** The box at a pixel of the picture. */
export function spotAt(scene: Scene, x: number, y: number): Spot | null {
  const row = rowAt(scene.layout, y + scene.top);
  if (row === undefined || row.lines === 0) {
    return null;
  }
  const depth = Math.floor((y + scene.top - lineTop(row, 0)) / LINE);
  const ns = nsAt(scene.view, scene.width, x);
  const stretch = stretchAt(scene, row.track, ns);
  const found = stretch === undefined || depth < 0 || depth >= row.lines ? null : boxesIn(scene.store, row.track, stretch);
  if (found === null) {
    return null;
  }
  const index = boxAt(found.boxes, depth, ns, (SLACK_PX / scene.width) * (scene.view.end - scene.view.begin));
  return index < 0 ? null : asRecorded(scene.store, { track: row.track, piece: found.piece, boxes: found.boxes, index });
}

/** The event itself for a box of a merged level that is one event: only exact boxes know shapes and launches. */
export function asRecorded(store: Store, spot: Spot): Spot {
  const { boxes, index } = spot;
  return boxes.count?.[index] !== 1 ? spot
    : exactSpot(store, spot.track, boxes.begin[index]!, durationOf(boxes, index), depthOf(boxes, index)) ?? spot;
}

/** What a counter says at a pixel: its name and value; null: there is no counter there. */
export function counterAt(scene: Scene, x: number, y: number): string | null {
  const row = rowAt(scene.layout, y + scene.top);
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
