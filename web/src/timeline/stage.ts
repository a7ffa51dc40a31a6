// The state of a timeline, and what changes it. It is outside of Preact, as it changes with every frame;
// components listen to the changes that they show.
import { type Arrow, launchArrow, launchedBy } from './arrows';
import { type Boxes, boxAt, depthOf } from './boxes';
import { type ExactWindow, type TimelineDocument } from './document';
import { Picture } from './draw';
import { Frames } from './frames';
import { Head } from './head';
import { asRecorded, counterAt, eventAt, spotAt } from './hit';
import { type Stretch, mergedGrain } from './levels';
import { type Palette, paletteOf } from './palette';
import { Plans } from './plans';
import { type Layout, type Row, LINE, firstFolds, keysAround, layOut, lineTop, rowsBetween, trackKey } from './rows';
import { type Scene, type Spot, boxesIn, isSame, nsAt, stretchAt } from './scene';
import { exactSpot, launchOf } from './spots';
import { Store } from './store';
import { type Span, around, clamped, moved, zoomed } from './view';

export type Change = 'hover' | 'select' | 'settle' | 'rows' | 'range' | 'search';

/** A moment to jump to: a box, or just a stretch of a track. */
export interface Focus {
  track: number;
  begin: number;
  duration: number;
}

/** Where the pointer is, and what a counter says there. */
export interface Pointer {
  x: number;
  y: number;
  counter: string | null;
}

const FIRST_FRAME_MS = 120; // for unpacking; later frames have less
const FRAME_MS = 5;
const GLANCE_MS = 20;
const FOCUS_ROOM = 0.1; // at either side of a moment, as a share of it
const RANGE_ROOM = 0.05;
const JUMP_MS = 400; // when somebody asked for one box

/** The tracks that a row shows. */
export const tracksOf = (row: Row): readonly number[] => (row.track >= 0 ? [row.track] : row.summary.flatMap((line) => line.tracks));

/** The outermost box at a time, or the nearest in the view. */
const nearestAt = (boxes: Boxes, ns: number, view: Span): number => boxAt(boxes, 0, ns, view.end - view.begin);

interface Surfaces {
  plot: HTMLCanvasElement;
  head: HTMLCanvasElement;
  scroller: HTMLElement;
}

/** Windows that overlap as one, which is there for what the most important of them is. */
function unitedWindows(windows: readonly ExactWindow[]): ExactWindow[] {
  const result: ExactWindow[] = [];
  for (const one of [...windows].sort((a, b) => (a.rank ?? 0) - (b.rank ?? 0) || a.begin_ns - b.begin_ns)) {
    const last = result[result.length - 1];
    if (last === undefined || last.rank !== one.rank || one.begin_ns > last.end_ns) {
      result.push({ ...one });
    } else if (one.end_ns > last.end_ns) {
      Object.assign(last, { end_ns: one.end_ns, cut: one.cut === true });
    }
  }
  return result;
}

/** The windows outside of which there is something, but merged; the longest first. */
function partialWindows({ window, windows, levels }: TimelineDocument): ExactWindow[] {
  const length = ({ begin_ns, end_ns }: ExactWindow) => end_ns - begin_ns;
  const all = unitedWindows(windows ?? (window ? [window] : [])).sort((a, b) => length(b) - length(a));
  const isSame = (a: number | undefined, b: number | undefined) => a === undefined || b === undefined || a === b;
  return all.filter(({ rank, begin_ns, end_ns }) => levels.some((level) =>
    level.grain_ns > 0 && isSame(level.rank, rank) && (level.begin_ns < begin_ns || level.end_ns > end_ns)));
}

export class Stage {
  readonly store: Store;
  readonly whole: number;
  readonly exact: readonly ExactWindow[]; // where events are exact, if that is not everywhere
  layout: Layout;
  view: Span;
  selected: Spot | null = null;
  hovered: Spot | null = null;
  pointer: Pointer | null = null;
  range: Span | null = null;
  matches: Uint8Array | null = null;
  showsPath = true;
  firstFrameMs = NaN; // since the page began
  private folds: Set<string>;
  private readonly pins = new Set<number>();
  private arrows: readonly Arrow[] = [];
  private palette: Palette | null = null;
  private picture: Picture | null = null;
  private head: Head | null = null;
  private scroller: HTMLElement | null = null;
  private plot: HTMLCanvasElement | null = null;
  private size = { width: 0, height: 0 };
  private readonly plans: Plans;
  private readonly listeners = new Map<Change, Set<() => void>>();
  private readonly frames = new Frames(() => this.paint(), () => this.settle());

  constructor(readonly document: TimelineDocument, store?: Store) {
    this.store = store ?? new Store(document);
    this.plans = new Plans(this.store);
    this.whole = Math.max(1, document.span_ns);
    this.exact = partialWindows(document);
    this.folds = firstFolds(document.tracks);
    this.layout = layOut(document.tracks, this.folds);
    this.view = clamped(0, this.whole, this.whole);
  }

  attach({ plot, head, scroller }: Surfaces): void {
    [this.plot, this.scroller] = [plot, scroller];
    this.picture = new Picture(plot);
    this.head = new Head(head);
    this.readTheme();
  }

  detach(): void {
    this.frames.stop();
    [this.picture, this.head, this.scroller, this.plot] = [null, null, null, null];
  }

  listen(change: Change, listener: () => void): () => void {
    const all = this.listeners.get(change) ?? new Set();
    this.listeners.set(change, all.add(listener));
    return () => all.delete(listener);
  }

  /** There is another document in the store. */
  documentsChanged(): void {
    this.plans.clear();
    this.readTheme(); // it may have new tones
  }

  /** Reads the colours of the page again: its theme has changed. */
  readTheme(): void {
    this.palette = this.plot === null ? null : paletteOf(this.store.tones, this.plot);
    this.redraw();
  }

  resize(width: number, height: number): void {
    if (width !== this.size.width || height !== this.size.height) {
      const isLower = height < this.size.height && this.selected !== null;
      this.size = { width, height };
      if (isLower) {
        this.scrollToSelected(); // the panel about it takes room from below
      }
      this.redraw();
    }
  }

  get width(): number {
    return this.size.width;
  }

  redraw(): void {
    if (this.picture !== null) {
      this.setResting(false);
      this.frames.ask();
    }
  }

  /** Says in the document whether the picture will stay as it is: what looks at it from outside can wait for that. */
  private setResting(isResting: boolean): void {
    if (this.plot !== null && this.plot.dataset['resting'] !== String(isResting)) {
      this.plot.dataset['resting'] = String(isResting);
    }
  }

  /** Paints without waiting for the next frame. */
  paintNow(): void {
    this.frames.now();
  }

  show(view: Span): void {
    this.view = view;
    this.redraw();
  }

  zoom(factor: number, ns = this.focusNs()): void {
    this.show(zoomed(this.view, ns, factor, this.whole));
  }

  move(share: number): void {
    this.show(moved(this.view, share, this.whole));
  }

  showAll(): void {
    this.show(clamped(0, this.whole, this.whole));
  }

  /** Shows what is selected, else the range, else the exact window, else everything. */
  fit(): void {
    const { selected, range, exact } = this;
    const [first] = exact;
    if (selected !== null) {
      this.show(around(selected.boxes.begin[selected.index]!, selected.boxes.end[selected.index]!, this.whole));
    } else if (range !== null) {
      this.showRange();
    } else if (first !== undefined) {
      this.show(around(first.begin_ns, first.end_ns, this.whole, 0.02));
    } else {
      this.showAll();
    }
  }

  nsAt(x: number): number {
    return nsAt(this.view, this.size.width, x);
  }

  /** Where keys zoom: at the pointer, else at what is selected if that is seen, else in the middle. */
  private focusNs(): number {
    if (this.pointer !== null) {
      return this.nsAt(this.pointer.x);
    }
    const { selected, view } = this;
    const ns = selected === null ? NaN : (selected.boxes.begin[selected.index]! + selected.boxes.end[selected.index]!) / 2;
    return ns >= view.begin && ns <= view.end ? ns : (view.begin + view.end) / 2;
  }

  point(x: number, y: number): void {
    const scene = this.scene();
    if (scene === null) {
      return;
    }
    this.store.allow(FRAME_MS);
    const hovered = spotAt(scene, x, y);
    const counter = hovered === null ? counterAt(scene, x, y) : null;
    const isNew = !isSame(hovered, this.hovered) && hovered !== this.hovered;
    this.pointer = { x, y, counter };
    this.hovered = hovered;
    this.changed('hover');
    if (isNew) {
      this.redraw();
    }
  }

  leave(): void {
    this.pointer = null;
    this.hovered = null;
    this.changed('hover');
    this.redraw();
  }

  /** The rows that are on the screen. */
  visibleRows(): Row[] {
    const top = this.scroller?.scrollTop ?? 0;
    return rowsBetween(this.layout, top, top + this.size.height);
  }

  /** The first line of a row in pixels of the plot. */
  yOf(row: Row): number {
    return lineTop(row, 0) - (row.isPinned ? 0 : this.scroller?.scrollTop ?? 0);
  }

  /** Selects the box at the time of the selected one in the next row above or below that has one. */
  selectBeside(direction: 1 | -1): void {
    const { selected, layout, store } = this;
    const at = layout.rows.findIndex((row) => row.track === selected?.track);
    this.store.allow(JUMP_MS);
    for (let i = at + direction; selected !== null && at >= 0 && i >= 0 && i < layout.rows.length; i += direction) {
      const row = layout.rows[i]!;
      const ns = Math.max(this.view.begin, Math.min(this.view.end, selected.boxes.begin[selected.index]!));
      const stretch = row.lines > 0 ? stretchAt(this, row.track, ns) : undefined;
      const found = stretch === undefined ? null : boxesIn(store, row.track, stretch);
      const index = found === null ? -1 : nearestAt(found.boxes, ns, this.view);
      if (found !== null && index >= 0) {
        this.reveal(asRecorded(store, { track: row.track, ...found, index }));
        return;
      }
    }
  }

  spotAt(x: number, y: number): Spot | null {
    const scene = this.scene();
    this.store.allow(JUMP_MS);
    return scene === null ? null : spotAt(scene, x, y);
  }

  /** What a click means: one event, also where several are drawn as one box. */
  eventAt(x: number, y: number): Spot | null {
    const scene = this.scene();
    this.store.allow(JUMP_MS);
    return scene === null ? null : eventAt(scene, x, y);
  }

  select(spot: Spot | null): void {
    this.selected = spot;
    this.store.allow(JUMP_MS);
    this.arrows = spot === null ? [] : this.arrowsOf(spot);
    this.changed('select');
    this.redraw();
  }

  /** Lets what somebody asked for be unpacked at once, even where a frame would not wait for it. */
  allowJump(): void {
    this.store.allow(JUMP_MS);
  }

  /** The same for what only the pointer asked for. */
  allowGlance(): void {
    this.store.allow(GLANCE_MS);
  }

  /** Selects a box and brings it into sight. */
  reveal(spot: Spot): void {
    const [begin, end] = [spot.boxes.begin[spot.index]!, spot.boxes.end[spot.index]!];
    const isSeen = begin < this.view.end && end > this.view.begin;
    const pixels = ((end - begin) / (this.view.end - this.view.begin)) * this.size.width;
    if (!isSeen || pixels < 1) {
      const least = (this.view.end - this.view.begin) / 2;
      const isTiny = pixels < 1;
      const room = isTiny ? (end - begin) * 10 : Math.max(least, (end - begin) / 2);
      this.show(clamped((begin + end) / 2 - room, (begin + end) / 2 + room, this.whole));
    }
    this.uncover(spot.track);
    this.select(spot);
    this.scrollTo(spot.track, depthOf(spot.boxes, spot.index));
    this.scroller?.scrollIntoView({ block: 'nearest' });
  }

  /** Jumps to a moment, and selects the box there if there is one. */
  focus({ track, begin, duration }: Focus): void {
    this.show(around(begin, begin + duration, this.whole, FOCUS_ROOM));
    this.store.allow(JUMP_MS);
    const spot = exactSpot(this.store, track, begin, duration) ?? exactSpot(this.store, track, begin);
    this.uncover(track);
    this.select(spot);
    this.scrollTo(track, spot === null ? 0 : depthOf(spot.boxes, spot.index));
  }

  setRange(range: Span | null): void {
    this.range = range;
    this.changed('range');
    this.redraw();
  }

  /** Fits the view to the range. */
  showRange(): void {
    const { range } = this;
    if (range !== null) {
      this.show(around(range.begin, range.end, this.whole, RANGE_ROOM));
    }
  }

  setMatches(matches: Uint8Array | null): void {
    this.matches = matches;
    this.redraw();
  }

  get pinned(): readonly number[] {
    return [...this.pins];
  }

  /** Keeps a row at the top, or no longer. */
  pin(track: number): void {
    if (!this.pins.delete(track)) {
      this.pins.add(track);
    }
    this.relayOut();
  }

  /** Keeps these rows at the top, and no others. */
  setPins(tracks: readonly number[]): void {
    const before = this.pinned;
    if (tracks.length === before.length && tracks.every((track, i) => track === before[i])) {
      return;
    }
    this.pins.clear();
    tracks.forEach((track) => this.pins.add(track));
    this.relayOut();
  }

  toggle(key: string): void {
    if (!this.folds.delete(key)) {
      this.folds.add(key);
    }
    this.relayOut();
  }

  private relayOut(): void {
    this.layout = layOut(this.store.tracks, this.folds, this.pins);
    this.changed('rows');
    this.redraw();
  }

  /** Unfolds what hides a track. */
  private uncover(track: number): void {
    const info = this.store.tracks[track];
    const keys = info === undefined ? [] : [...keysAround(info), trackKey(track)].filter((key) => this.folds.delete(key));
    if (keys.length > 0) {
      this.relayOut();
    }
  }

  private scrollToSelected(): void {
    if (this.selected !== null) {
      this.scrollTo(this.selected.track, depthOf(this.selected.boxes, this.selected.index));
    }
  }

  private scrollTo(track: number, depth: number): void {
    const row = this.layout.byTrack.get(track);
    if (row === undefined || row.isPinned || this.scroller === null) {
      return;
    }
    const [y, top] = [lineTop(row, depth), this.scroller.scrollTop];
    if (y < top + this.layout.pinned || y + LINE > top + this.scroller.clientHeight) {
      this.scroller.scrollTop = y - this.scroller.clientHeight / 2;
    }
  }

  private arrowsOf(spot: Spot): Arrow[] {
    const scene = this.scene();
    const kind = this.store.tracks[spot.track]?.kind;
    const launched = scene !== null && kind === 'thread' && spot.piece.grain === 0 ? launchedBy(this.store, spot) : [];
    const whole = kind === 'path' ? [] : [spot];
    return [...whole, ...launched].map((one) => {
      const from = launchOf(this.store, one);
      return launchArrow(one, from === null ? 0 : depthOf(from.boxes, from.index));
    }).filter((arrow) => arrow !== null);
  }

  /** What of the view is drawn merged: its grain, 0 for nothing. */
  get merged(): number {
    const isMade = (track: number) => this.store.tracks[track]?.kind === 'wait'; // of few boxes, which are never merged
    const tracks = this.visibleRows().flatMap(tracksOf).filter((track) => !isMade(track));
    const nsPerPixel = (this.view.end - this.view.begin) / Math.max(1, this.size.width);
    return mergedGrain(tracks.flatMap((track) => this.stretchesOf(track)), nsPerPixel);
  }

  /** What of the view is drawn from which level, for a track. */
  stretchesOf(track: number): Stretch[] {
    return this.plans.of(track, this.view, this.size.width);
  }

  private settle(): void {
    this.changed('settle');
    this.setResting(true);
  }

  changed(change: Change): void {
    this.listeners.get(change)?.forEach((listener) => listener());
  }

  private scene(): Scene | null {
    const { store, layout, palette, view, matches, selected, hovered, range, showsPath, arrows, size, exact } = this;
    return palette === null || size.width === 0 ? null : {
      store, layout, palette, view, matches, exact, selected, hovered, range, showsPath, arrows, ...size,
      top: this.scroller?.scrollTop ?? 0, stretchesOf: (track) => this.stretchesOf(track),
    };
  }

  private paint(): void {
    const isFirst = Number.isNaN(this.firstFrameMs);
    this.store.allow(isFirst ? FIRST_FRAME_MS : FRAME_MS);
    const scene = this.scene();
    if (scene === null) {
      return;
    }
    this.picture?.paint(scene);
    this.head?.paint(scene, this.whole);
    this.firstFrameMs = isFirst ? performance.now() : this.firstFrameMs;
    if (this.store.hasMore) {
      this.redraw();
    }
  }
}
