// Draws a scene: bands of steps, lines of boxes with their names, counters, and what is marked.
import { type Arrow, drawArrows, pathArrows } from './arrows';
import { depthOf, overlapping } from './boxes';
import { ticksOf } from './axis';
import { drawCounters } from './counters';
import { ShortNames } from './names';
import { type Layout, type Row, LINE, lineTop, rowsBetween, screenY } from './rows';
import { type Scene, type Spot, boxesIn, xOf } from './scene';
import { type Labelled, Strips, shadeOf } from './strips';
import { partOf } from './summaries';

const FONT_PX = 11;
const LEAST_NAMED = 36; // pixels of a box that gets its name
const NAME_PAD = 4;
const TICK_PX = 110;
const LEAST_BAND = 6;
const MONOSPACE = "ui-monospace, 'SF Mono', Menlo, Consolas, 'DejaVu Sans Mono', monospace";
const ASCII = /^[ -~…]*$/;

/** A line of boxes and the row that it belongs to. */
interface Lane {
  row: Row;
  depth: number;
}

export class Picture {
  private readonly context: CanvasRenderingContext2D;
  private readonly strips = new Strips();
  private readonly shortNames = new ShortNames();
  private characterPx = 0;
  private ratio = 1;

  constructor(private readonly canvas: HTMLCanvasElement) {
    this.context = canvas.getContext('2d', { alpha: false })!;
  }

  paint(scene: Scene): void {
    this.resize(scene);
    const { context } = this;
    context.fillStyle = scene.palette.theme.paper;
    context.fillRect(0, 0, scene.width, scene.height);
    const rows = rowsBetween(scene.layout, scene.top, scene.top + scene.height);
    this.background(scene, rows);
    this.rows(scene, rows.filter((row) => !row.isPinned));
    const pinned = rows.filter((row) => row.isPinned);
    if (pinned.length > 0) {
      this.pinned(scene, pinned);
    }
    this.marks(scene);
  }

  private rows(scene: Scene, rows: readonly Row[]): void {
    const { context } = this;
    this.boxes(scene, rows);
    context.font = `${FONT_PX}px ${scene.palette.theme.font}`;
    rows.filter((row) => row.lines === 0).forEach((row) => drawCounters(context, scene, row));
  }

  /** Rows that stay at the top, over those that scroll. */
  private pinned(scene: Scene, rows: readonly Row[]): void {
    const { context } = this;
    context.fillStyle = scene.palette.theme.paper;
    context.fillRect(0, 0, scene.width, scene.layout.pinned);
    this.rows(scene, rows);
    context.fillStyle = scene.palette.theme.accent;
    context.fillRect(0, scene.layout.pinned - 1, scene.width, 1);
  }

  private resize({ width, height }: Scene): void {
    this.ratio = Math.min(3, globalThis.devicePixelRatio || 1);
    const [wide, high] = [Math.max(1, Math.round(width * this.ratio)), Math.max(1, Math.round(height * this.ratio))];
    if (this.canvas.width !== wide || this.canvas.height !== high) {
      [this.canvas.width, this.canvas.height] = [wide, high];
      [this.canvas.style.width, this.canvas.style.height] = [`${width}px`, `${height}px`];
    }
    this.context.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
  }

  private background(scene: Scene, rows: readonly Row[]): void {
    const { context } = this;
    const { theme } = scene.palette;
    this.bands(scene);
    context.fillStyle = theme.line;
    for (const { ns } of ticksOf(scene.view.begin, scene.view.end, scene.width / TICK_PX).ticks) {
      context.fillRect(Math.round(xOf(scene, ns)), 0, 1, scene.height);
    }
    for (const row of rows) {
      if (row.kind === 'group') {
        context.fillStyle = theme.panel;
        context.fillRect(0, screenY(row, scene.top), scene.width, row.height);
      }
      context.fillStyle = theme.line;
      context.fillRect(0, screenY(row, scene.top) + row.height - 1, scene.width, 1);
    }
  }

  /** Every other step of a rank, as a band through all of its rows. */
  private bands(scene: Scene): void {
    scene.store.tracks.forEach((info, track) => {
      if (info.kind === 'steps') {
        this.bandsOf(scene, track, info.rank);
      }
    });
  }

  private bandsOf(scene: Scene, track: number, rank: number): void {
    const [top, bottom] = extentOf(scene, rank);
    this.context.fillStyle = scene.palette.theme.panel;
    for (const stretch of scene.stretchesOf(track)) {
      const boxes = boxesIn(scene.store, track, stretch)?.boxes;
      const [from, to] = boxes === undefined ? [0, 0] : overlapping(boxes, 0, stretch.begin, stretch.end);
      for (let i = from; i < to; ++i) {
        const x = Math.max(0, xOf(scene, Math.max(stretch.begin, boxes!.begin[i]!)));
        const wide = Math.min(scene.width, xOf(scene, Math.min(stretch.end, boxes!.end[i]!))) - x;
        if (i % 2 === 1 && wide > LEAST_BAND && (boxes!.count?.[i] ?? 1) === 1) {
          this.context.fillRect(x, top, wide, bottom - top);
        }
      }
    }
  }

  private boxes(scene: Scene, rows: readonly Row[]): void {
    const { context, strips, ratio } = this;
    const lanes = lanesOf(rows, scene);
    const width = Math.max(1, Math.round(scene.width * ratio));
    strips.clear(width, lanes.length, LEAST_NAMED * ratio);
    const named = lanes.map((lane, i) => this.lane(scene, lane, i));
    strips.put();
    context.imageSmoothingEnabled = false;
    lanes.forEach(({ row, depth }, i) => {
      context.drawImage(strips.canvas, 0, i, width, 1, 0, topOf(scene, row, depth), scene.width, LINE - 1);
    });
    this.prepareText();
    lanes.forEach(({ row, depth }, i) => named[i]!.forEach((one) => this.name(scene, one, topOf(scene, row, depth))));
  }

  private lane(scene: Scene, { row, depth }: Lane, line: number): Labelled[] {
    const summary = row.summary[depth];
    const { store } = scene;
    const named = (summary?.tracks ?? [row.track]).map((track) => {
      const keeps = summary === undefined ? null : partOf(summary.part, store.tracks[track], store.tones);
      return scene.stretchesOf(track).flatMap((stretch) => {
        const found = boxesIn(store, track, stretch);
        return found === null ? [] : this.strips.fill(
          line, { boxes: found.boxes, depth: summary === undefined ? depth : 0, begin: stretch.begin, end: stretch.end, keeps },
          scene.view, scene.palette, scene.matches, Math.round(this.ratio));
      });
    });
    return named.flatMap((own, i) => own.filter((one) => !named.slice(i + 1).some((later) => later.some((other) => isOver(other, one)))));
  }

  private prepareText(): void {
    const { context } = this;
    context.font = `${FONT_PX}px ${MONOSPACE}`;
    context.textBaseline = 'alphabetic';
    context.textAlign = 'left';
    this.characterPx ||= context.measureText('mmmmmmmmmm').width / 10;
  }

  private name(scene: Scene, { boxes, index, x, width }: Labelled, top: number): void {
    const room = width / this.ratio - 2 * NAME_PAD;
    const name = boxes.name[index]!;
    const text = this.shortNames.get(scene.store.names, name, Math.floor(room / this.characterPx));
    const isPale = scene.matches !== null && scene.matches[name] !== 1;
    this.context.fillStyle = isPale ? scene.palette.theme.quiet : scene.palette.text[shadeOf(boxes, index)] ?? '#000000';
    const at = [x / this.ratio + NAME_PAD, top + LINE - 4.5] as const;
    if (ASCII.test(text)) {
      this.context.fillText(text, ...at);
    } else {
      this.context.fillText(text, ...at, Math.max(1, room)); // other letters may be wider
    }
  }

  private marks(scene: Scene): void {
    const { theme } = scene.palette;
    this.exactEdges(scene);
    if (scene.range !== null) {
      this.range(scene, scene.range.begin, scene.range.end);
    }
    const paths = scene.showsPath ? scene.store.tracks.flatMap((info, track) => (info.kind === 'path' ? pathArrows(scene, track) : [])) : [];
    this.arrows(scene, paths, theme.bad);
    if (scene.hovered !== null) {
      this.outline(scene, scene.hovered, theme.quiet, 1);
    }
    if (scene.selected !== null) {
      this.outline(scene, scene.selected, theme.ink, 2);
      this.arrows(scene, scene.arrows, theme.ink);
    }
  }

  /** Those between rows that scroll go beneath the pinned ones, as these rows do. */
  private arrows(scene: Scene, arrows: readonly Arrow[], colour: string): void {
    const isPinned = (track: number) => scene.layout.byTrack.get(track)?.isPinned === true;
    const [over, below] = [true, false].map((wanted) => arrows.filter((one) => (isPinned(one.fromTrack) || isPinned(one.toTrack)) === wanted));
    this.belowPinned(scene, () => drawArrows(this.context, scene, below!, colour));
    drawArrows(this.context, scene, over!, colour);
  }

  /** Draws nothing over the pinned rows. */
  private belowPinned({ layout, width, height }: Scene, draw: () => void): void {
    const { context } = this;
    context.save();
    context.beginPath();
    context.rect(0, layout.pinned, width, height);
    context.clip();
    draw();
    context.restore();
  }

  /** Where the exact events of each rank begin and end. */
  private exactEdges(scene: Scene): void {
    this.context.fillStyle = scene.palette.theme.accent;
    for (const { rank, begin_ns, end_ns } of scene.exact) {
      const [top, bottom] = extentOf(scene, rank);
      [begin_ns, end_ns].forEach((ns) => this.dashes(Math.round(xOf(scene, ns)), Math.max(scene.layout.pinned, top), Math.min(scene.height, bottom)));
    }
  }

  private dashes(x: number, top: number, bottom: number): void {
    for (let y = top; x >= 0 && y < bottom; y += 8) {
      this.context.fillRect(x, y, 1, 4);
    }
  }

  private range(scene: Scene, begin: number, end: number): void {
    const { context } = this;
    const [from, to] = [Math.max(0, xOf(scene, begin)), Math.min(scene.width, xOf(scene, end))];
    context.fillStyle = scene.palette.theme.accent;
    context.globalAlpha = 0.15;
    context.fillRect(from, 0, to - from, scene.height);
    context.globalAlpha = 1;
    [from, to - 1].forEach((x) => context.fillRect(x, 0, 1, scene.height));
  }

  private outline(scene: Scene, spot: Spot, colour: string, thick: number): void {
    const row = scene.layout.byTrack.get(spot.track);
    const depth = depthOf(spot.boxes, spot.index);
    if (row === undefined || depth >= row.lines) {
      return;
    }
    const from = Math.max(-4, Math.floor(xOf(scene, spot.boxes.begin[spot.index]!)));
    const to = Math.min(scene.width + 4, Math.ceil(xOf(scene, spot.boxes.end[spot.index]!)));
    const stroke = () => {
      this.context.strokeStyle = colour;
      this.context.lineWidth = thick;
      this.context.strokeRect(from - 0.5, topOf(scene, row, depth) - 0.5, Math.max(2, to - from), LINE);
    };
    if (row.isPinned) {
      stroke();
    } else {
      this.belowPinned(scene, stroke);
    }
  }
}

/** Whether a box that is drawn later on the same line lies over another. */
const isOver = (later: Labelled, one: Labelled): boolean => later.x < one.x + one.width && later.x + later.width > one.x;

/** The pixel of a line of a row. */
const topOf = (scene: Scene, row: Row, depth: number): number => lineTop(row, depth) - (row.isPinned ? 0 : scene.top);

/** The upper and lower edge of the rows of a rank, of all without one. */
function extentOf(scene: Scene, rank: number | undefined): [number, number] {
  const known = extents.get(scene.layout) ?? new Map<number | undefined, readonly [number, number]>();
  extents.set(scene.layout, known);
  const [top, bottom] = known.get(rank) ?? extentInLayout(scene, rank);
  known.set(rank, [top, bottom]);
  return [top - scene.top, bottom - scene.top];
}

const extents = new WeakMap<Layout, Map<number | undefined, readonly [number, number]>>(); // every frame asks for each rank

function extentInLayout(scene: Scene, rank: number | undefined): readonly [number, number] {
  const isOf = (track: number | undefined) => track !== undefined && track >= 0 && (rank === undefined || scene.store.tracks[track]?.rank === rank);
  const own = scene.layout.rows.filter((row) => !row.isPinned && (isOf(row.track) || row.summary.some((line) => isOf(line.tracks[0]))));
  const [first, last] = [own[0], own[own.length - 1]];
  return first === undefined || last === undefined ? [0, 0] : [first.y, last.y + last.height];
}

/** The lines of boxes that are seen. */
function lanesOf(rows: readonly Row[], scene: Scene): Lane[] {
  return rows.flatMap((row) => {
    const above = topOf(scene, row, 0);
    const first = Math.max(0, Math.floor(-above / LINE));
    const end = Math.min(row.lines, Math.ceil((scene.height - above) / LINE));
    return [...Array(Math.max(0, end - first)).keys()].map((i) => ({ row, depth: first + i }));
  });
}
