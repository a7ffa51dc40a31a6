// Counters: the value over time as an area from 0, and where points were merged their extremes.
import { type Points, firstAbove } from './boxes';
import { type Row, screenY } from './rows';
import { type Scene, xOf } from './scene';
import { type Store } from './store';
import { formatFor, withUnit } from '../units';

/** The largest value of a counter in the whole recording, and the least one if that is below 0. */
export function extent(store: Store, track: number): [number, number] {
  const [coarsest] = store.piecesOf(track).filter((piece) => piece.source === 0).sort((a, b) => b.grain - a.grain);
  const points = coarsest === undefined ? null : store.points(track, coarsest);
  return points === null ? [0, 0] : extentOf(points);
}

const extents = new WeakMap<Points, [number, number]>(); // every frame asks

function extentOf(points: Points): [number, number] {
  const known = extents.get(points);
  if (known !== undefined) {
    return known;
  }
  let [low, high] = [0, 0];
  for (let i = 0; i < points.length; ++i) {
    low = Math.min(low, points.low[i]!);
    high = Math.max(high, points.high[i]!);
  }
  extents.set(points, [low, high]);
  return [low, high];
}

/** What spans the extents of all: counters that share a row have one scale. */
export function sharedExtent(store: Store, tracks: readonly number[]): [number, number] {
  const all = tracks.map((track) => extent(store, track));
  return all.reduce(([low, high], one) => [Math.min(low, one[0]), Math.max(high, one[1])], [0, 0]);
}

/** The point that holds at a time; -1: none yet. */
export const pointAt = (points: Points, ns: number): number => firstAbove(points.begin, ns, 0, points.length) - 1;

const UNITS: Record<string, string> = { B: 'bytes', bytes: 'bytes', ns: 'ns' };

/** "1 launch" where the unit is many things. */
const singular = (unit: string): string => unit.replace(/((ch|sh|x|ss)e|([a-z]))s$/, (_, stem: string, hiss?: string, letter?: string) => hiss ?? letter ?? stem);

/** A value of a counter with its unit. */
export function counterValue(value: number, unit: string): string {
  const known = UNITS[unit] ?? (unit === '' || unit === 'count' ? 'count' : value === 1 ? singular(unit) : unit);
  return withUnit(value, formatFor(known, Math.abs(value), Number.isInteger(value)));
}

interface Plot {
  context: CanvasRenderingContext2D;
  y: (value: number) => number;
  zero: number;
  begin: number; // pixels
  end: number;
}

/** One rectangle for each value that holds for a pixel or more, one for all that share a pixel. */
function area(plot: Plot, scene: Scene, points: Points): void {
  const at = (i: number) => (i < points.length ? Math.max(plot.begin, Math.min(plot.end, xOf(scene, points.begin[i]!))) : plot.end);
  const from = Math.max(0, pointAt(points, scene.view.begin));
  let i = from;
  while (i < points.length && xOf(scene, points.begin[i]!) < plot.end) {
    const x = Math.floor(at(i));
    let [low, high] = [points.low[i]!, points.high[i]!];
    let next = i + 1;
    while (next < points.length && at(next) < x + 1) {
      low = Math.min(low, points.low[next]!);
      high = Math.max(high, points.high[next]!);
      ++next;
    }
    step(plot, x, Math.max(x + 1, Math.floor(at(next))), low, high, points.last[next - 1]!);
    i = next;
  }
}

/** The value at the end of a stretch as an area, its extremes as a fainter one. */
function step({ context, y, zero }: Plot, x: number, end: number, low: number, high: number, last: number): void {
  if (high > low) {
    context.globalAlpha = 0.35;
    context.fillRect(x, y(high), Math.min(end - x, 2), Math.max(1, y(low) - y(high)));
  }
  context.globalAlpha = 0.45;
  context.fillRect(x, Math.min(y(last), zero), end - x, Math.abs(zero - y(last)));
  context.globalAlpha = 1;
  context.fillRect(x, y(last) - 1, end - x, 1.5);
}

const PAD = 3; // above and below

/** Draws the counter of a row, or all of a folded group over each other, to one scale. */
export function drawCounters(context: CanvasRenderingContext2D, scene: Scene, row: Row): void {
  const tracks = row.track >= 0 ? [row.track] : row.summary.flatMap((line) => line.tracks);
  const [low, high] = sharedExtent(scene.store, tracks);
  tracks.forEach((track) => draw(context, scene, row, track, low, high));
  const unit = scene.store.tracks[tracks[0] ?? -1]?.unit ?? '';
  if (tracks.length > 0) {
    legend(context, scene, `up to ${counterValue(high, unit)}`, screenY(row, scene.top) + PAD + 10);
  }
}

function draw(context: CanvasRenderingContext2D, scene: Scene, row: Row, track: number, low: number, high: number): void {
  const { store, palette } = scene;
  const [top, height] = [screenY(row, scene.top) + PAD, row.height - 2 * PAD];
  const y = (value: number) => top + height - ((value - low) / (high - low || 1)) * (height - 4);
  context.fillStyle = palette.theme.accent;
  for (const stretch of scene.stretchesOf(track)) {
    const points = store.points(track, stretch.piece);
    if (points !== null) {
      area({ context, y, zero: y(0), begin: Math.max(0, xOf(scene, stretch.begin)), end: Math.min(scene.width, xOf(scene, stretch.end)) }, scene, points);
    }
  }
}

/** A word at the right edge, readable on whatever is below it. */
function legend(context: CanvasRenderingContext2D, { width, palette }: Scene, words: string, y: number): void {
  context.textAlign = 'right';
  context.strokeStyle = palette.theme.paper;
  context.lineWidth = 3;
  context.lineJoin = 'round';
  context.strokeText(words, width - 4, y);
  context.fillStyle = palette.theme.ink;
  context.fillText(words, width - 4, y);
  context.textAlign = 'left';
}
