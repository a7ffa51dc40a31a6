// What stays above the rows: the minimap of the whole recording and the time axis of the view.
import { exactTime, ticksOf } from './axis';
import { plan } from './levels';
import { type Scene, boxesIn, xOf } from './scene';
import { Strips } from './strips';
import { type Span } from './view';

export const MAP_PX = 40;
export const AXIS_PX = 22;
export const HEAD_PX = MAP_PX + AXIS_PX;
const MOST_LINES = 40; // of the minimap
const TICK_PX = 110;
const LABEL_PX = 90;
const LEAST_VIEW_PX = 3;

/** The tracks of the minimap: all that have boxes, or as many as it has room for. */
function mapTracks(scene: Scene): number[] {
  const all = scene.store.tracks.flatMap((info, track) => (info.kind === 'counter' || info.kind === 'path' ? [] : [track]));
  const stride = Math.max(1, Math.ceil(all.length / MOST_LINES));
  return all.filter((_, i) => i % stride === 0);
}

export class Head {
  private readonly context: CanvasRenderingContext2D;
  private readonly map = new Strips();
  private mapOf = ''; // what the map was made for
  private lines = 0;

  constructor(private readonly canvas: HTMLCanvasElement) {
    this.context = canvas.getContext('2d', { alpha: false })!;
  }

  paint(scene: Scene, whole: number): void {
    const { context } = this;
    this.resize(scene.width);
    context.fillStyle = scene.palette.theme.paper;
    context.fillRect(0, 0, scene.width, HEAD_PX);
    this.paintMap(scene, whole);
    this.paintAxis(scene);
  }

  private resize(width: number): void {
    const ratio = Math.min(3, globalThis.devicePixelRatio || 1);
    const [wide, high] = [Math.max(1, Math.round(width * ratio)), Math.round(HEAD_PX * ratio)];
    if (this.canvas.width !== wide || this.canvas.height !== high) {
      [this.canvas.width, this.canvas.height] = [wide, high];
      this.canvas.style.width = `${width}px`;
    }
    this.context.setTransform(ratio, 0, 0, ratio, 0, 0);
  }

  /** The picture of the whole, made again only when something but the view has changed. */
  private makeMap(scene: Scene, whole: number): void {
    const key = `${scene.width} ${scene.palette.css.join()} ${scene.palette.theme.paper}`;
    if (key === this.mapOf) {
      return;
    }
    const view: Span = { begin: 0, end: whole };
    const width = Math.max(1, Math.round(scene.width));
    const tracks = mapTracks(scene);
    this.map.clear(width, tracks.length, Infinity);
    let isWhole = true;
    const stretchesOf = (track: number) => plan(scene.store.piecesOf(track).filter((piece) => piece.source === 0), 0, whole, whole / width);
    tracks.forEach((track, line) => stretchesOf(track).forEach((stretch) => {
      const boxes = boxesIn(scene.store, track, stretch)?.boxes;
      isWhole &&= boxes !== undefined;
      if (boxes !== undefined) {
        this.map.fill(line, { boxes, depth: 0, begin: stretch.begin, end: stretch.end }, view, scene.palette, null, 1);
      }
    }));
    this.map.put();
    this.lines = tracks.length;
    this.mapOf = isWhole ? key : '';
  }

  private paintMap(scene: Scene, whole: number): void {
    const { context } = this;
    const { theme } = scene.palette;
    this.makeMap(scene, whole);
    context.imageSmoothingEnabled = false;
    if (this.lines > 0) {
      context.drawImage(this.map.canvas, 0, 0, Math.max(1, Math.round(scene.width)), this.lines, 0, 2, scene.width, MAP_PX - 4);
    }
    const at = (ns: number) => (ns / whole) * scene.width;
    context.fillStyle = theme.accent;
    for (const { begin_ns, end_ns } of scene.exact) {
      context.fillRect(at(begin_ns), MAP_PX - 2, Math.max(2, at(end_ns - begin_ns)), 2);
    }
    const from = at(scene.view.begin);
    const wide = Math.max(LEAST_VIEW_PX, at(scene.view.end) - from);
    context.fillStyle = theme.paper;
    context.globalAlpha = 0.62;
    context.fillRect(0, 0, from, MAP_PX);
    context.fillRect(from + wide, 0, scene.width - from - wide, MAP_PX);
    context.globalAlpha = 1;
    context.strokeStyle = theme.accent;
    context.lineWidth = 1;
    context.strokeRect(Math.round(from) + 0.5, 0.5, Math.max(2, Math.round(wide) - 1), MAP_PX - 1);
  }

  private paintAxis(scene: Scene): void {
    const { context } = this;
    const { theme } = scene.palette;
    const { origin, ticks } = ticksOf(scene.view.begin, scene.view.end, scene.width / TICK_PX);
    context.font = `11px ${theme.font}`;
    context.textBaseline = 'alphabetic';
    const start = origin === 0 ? 0 : context.measureText(exactTime(origin)).width + 12;
    if (origin > 0) {
      context.fillStyle = theme.ink;
      context.fillText(exactTime(origin), 2, MAP_PX + 15);
    }
    for (const { ns, label } of ticks) {
      const x = Math.round(xOf(scene, ns));
      context.fillStyle = theme.line;
      context.fillRect(x, MAP_PX + 2, 1, AXIS_PX - 2);
      context.fillStyle = theme.quiet;
      if (x + 4 >= start && x + Math.min(LABEL_PX, context.measureText(label).width) + 4 <= scene.width) {
        context.fillText(label, x + 4, MAP_PX + 15);
      }
    }
    context.fillStyle = theme.line;
    context.fillRect(0, HEAD_PX - 1, scene.width, 1);
  }
}
