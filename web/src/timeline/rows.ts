// Where each track lies: below its process or device, below its rank; groups, queues and deep tracks fold, and a
// folded group shows what is in it on a line or two. Pinned rows are above all others, and stay there.
import { type TrackInfo } from './document';
import { type SummaryLine, summaryOf } from './summaries';

export const LINE = 16; // pixels of one depth
export const COUNTER = 40;
export const HEADING = 22;
const MOST_DEPTHS = 1000;
const PAD = 3; // above and below the lines of a track
const MANY_RANKS = 2; // more are folded at first: each shows its work and its communication

export interface Row {
  kind: 'group' | 'track';
  key: string; // by which it is folded
  label: string;
  indent: number;
  y: number;
  height: number;
  track: number; // -1 for a group
  lines: number; // depths drawn, or lines of a folded group; 0 for open groups and counters
  summary: readonly SummaryLine[]; // of a folded group: what each line shows
  isFolded: boolean;
  canFold: boolean;
  isPinned: boolean;
}

export interface Layout {
  rows: Row[];
  height: number;
  pinned: number; // pixels of the rows that stay at the top
  byTrack: Map<number, Row>; // tracks in folded groups are not in it
}

const rankKey = (rank: number): string => `rank ${rank}`;
const parentKey = (track: TrackInfo): string => `${track.rank}/${track.parent}`;
const queuesKey = (track: TrackInfo): string => `${parentKey(track)}/queues`;
export const trackKey = (track: number): string => `track ${track}`;

/** Launches that wait on a stream: one of very many rows that say little alone. */
const isQueue = (track: TrackInfo): boolean => track.kind === 'counter' && track.unit === 'launches' && track.parent !== '';

/** What must be unfolded for a track to be seen. */
export function keysAround(track: TrackInfo): string[] {
  return [rankKey(track.rank), parentKey(track), ...(isQueue(track) ? [queuesKey(track)] : [])];
}

/** Queues are folded, and the ranks where there are many: the first picture has all of them. */
export function firstFolds(tracks: readonly TrackInfo[]): Set<string> {
  const ranks = [...new Set(tracks.map((track) => track.rank))];
  return new Set([...(ranks.length > MANY_RANKS ? ranks.map(rankKey) : []), ...tracks.filter(isQueue).map(queuesKey)]);
}

function trackRow(info: TrackInfo, track: number, y: number, indent: number, folds: ReadonlySet<string>): Row {
  const isCounter = info.kind === 'counter';
  const isFolded = folds.has(trackKey(track));
  const depths = Math.max(1, Math.min(MOST_DEPTHS, info.depths));
  const lines = isCounter ? 0 : isFolded ? 1 : depths;
  const label = info.name === '' ? info.kind : info.name;
  const height = (isCounter ? COUNTER : lines * LINE) + 2 * PAD;
  return { kind: 'track', key: trackKey(track), label, indent, y, height, track, lines, summary: [], isFolded, canFold: !isCounter && depths > 1, isPinned: false };
}

/** A line of a row as pixels from the top of all. */
export const lineTop = (row: Row, depth: number): number => row.y + PAD + Math.min(depth, Math.max(0, row.lines - 1)) * LINE;

class Builder {
  readonly rows: Row[] = [];
  y = 0;
  private hidden = Infinity; // rows indented more than this are in a folded group

  constructor(private readonly folds: ReadonlySet<string>) {}

  /** `summary`: what it shows when it is folded. */
  group(key: string, label: string, indent: number, summary: () => SummaryLine[]): void {
    if (!this.enters(indent)) {
      return;
    }
    const isFolded = this.folds.has(key);
    const shown = isFolded ? summary() : [];
    const lines = shown.filter((line) => line.part !== 'counters').length;
    const height = Math.max(HEADING, lines * LINE + 2 * PAD);
    this.rows.push({ kind: 'group', key, label, indent, y: this.y, height, track: -1, lines, summary: shown, isFolded, canFold: true, isPinned: false });
    this.y += height;
    this.hidden = isFolded ? indent : Infinity;
  }

  track(info: TrackInfo, track: number, indent: number): void {
    if (this.enters(indent)) {
      const row = trackRow(info, track, this.y, indent, this.folds);
      this.rows.push(row);
      this.y += row.height;
    }
  }

  /** A row at the top, which no group hides. */
  pin(info: TrackInfo, track: number, label: string): void {
    const row = { ...trackRow(info, track, this.y, 0, this.folds), label, isPinned: true };
    this.rows.push(row);
    this.y += row.height;
  }

  /** Whether a row of this indent is seen; one that is not deeper than a folded group ends it. */
  private enters(indent: number): boolean {
    this.hidden = indent <= this.hidden ? Infinity : this.hidden;
    return this.hidden === Infinity;
  }
}

/** What comes first within a rank: steps and the critical path, then devices, then what has the deepest rows. */
function placeOf(infos: readonly TrackInfo[]): number {
  const has = (...kinds: TrackInfo['kind'][]) => infos.some(({ kind }) => kinds.includes(kind));
  return has('steps', 'path') ? 0 : has('thread') ? 2 : 1;
}

/** Adds a value to the list of a key. */
function put<Key, Value>(lists: Map<Key, Value[]>, key: Key, value: Value): void {
  const list = lists.get(key);
  if (list === undefined) {
    lists.set(key, [value]);
  } else {
    list.push(value);
  }
}

/** Tracks with those of the same rank and parent beside each other, devices above processes, else in the order of the
 *  first of each. */
function grouped(tracks: readonly TrackInfo[]): number[] {
  const groups = new Map<string, number[]>();
  const ranks = new Map<number, string[]>();
  tracks.forEach((info, track) => {
    const key = info.parent === '' ? `${info.rank} ${trackKey(track)}` : parentKey(info);
    if (!groups.has(key)) {
      put(ranks, info.rank, key);
    }
    put(groups, key, track);
  });
  const places = new Map([...groups].map(([key, own]) => [key, placeOf(own.map((track) => tracks[track]!))]));
  const inPlace = (keys: string[]) => [...keys].sort((a, b) => places.get(a)! - places.get(b)!);
  return [...ranks.values()].flatMap(inPlace).flatMap((key) => groups.get(key) ?? []);
}

/** "rank 1 · GPU 0 · stream 7" of what is apart from its group. */
const wholeLabel = (info: TrackInfo, hasRanks: boolean): string =>
  [hasRanks ? rankKey(info.rank) : '', info.parent, info.name === '' ? info.kind : info.name].filter((part) => part !== '').join(' · ');

/** Which tracks are in each group: worked out once, as there are thousands of tracks in a large job. */
class Members {
  readonly ofRank = new Map<number, number[]>();
  readonly ofParent = new Map<string, number[]>();
  readonly queues = new Map<string, number[]>(); // by parent
  private readonly communicating = new Set<number>();

  constructor(private readonly tracks: readonly TrackInfo[]) {
    tracks.forEach((info, track) => {
      put(this.ofRank, info.rank, track);
      put(this.ofParent, parentKey(info), track);
      if (isQueue(info)) {
        put(this.queues, parentKey(info), track);
      }
      if (info.kind === 'group') {
        this.communicating.add(info.rank);
      }
    });
  }

  summary(members: readonly number[] | undefined): SummaryLine[] {
    return summaryOf(this.tracks, members ?? [], this.communicating);
  }
}

/** Adds the headings of the groups that a track begins. */
class Headings {
  private rank = '';
  private parent = '';
  private queues = '';
  private readonly members: Members;

  constructor(private readonly builder: Builder, tracks: readonly TrackInfo[], private readonly hasRanks: boolean) {
    this.members = new Members(tracks);
  }

  /** The indent of the track. */
  before(info: TrackInfo): number {
    const { builder, members } = this;
    const outer = this.hasRanks ? 1 : 0;
    const parent = parentKey(info);
    if (this.hasRanks && rankKey(info.rank) !== this.rank) {
      builder.group(rankKey(info.rank), rankKey(info.rank), 0, () => members.summary(members.ofRank.get(info.rank)));
    }
    if (info.parent !== '' && parent !== this.parent) {
      builder.group(parent, info.parent, outer, () => members.summary(members.ofParent.get(parent)));
    }
    const queues = isQueue(info) ? members.queues.get(parent)?.length ?? 0 : 0;
    const key = queues > 1 ? queuesKey(info) : '';
    if (key !== '' && key !== this.queues) {
      builder.group(key, `queues of ${queues} streams`, outer + 1, () => members.summary(members.queues.get(parent)));
    }
    [this.rank, this.parent, this.queues] = [rankKey(info.rank), parent, key];
    return outer + (info.parent === '' ? 0 : 1) + (key === '' ? 0 : 1);
  }
}

/** The rows from top to bottom; the pinned ones first. */
export function layOut(tracks: readonly TrackInfo[], folds: ReadonlySet<string>, pins: ReadonlySet<number> = new Set()): Layout {
  const builder = new Builder(folds);
  const hasRanks = new Set(tracks.map((track) => track.rank)).size > 1;
  [...pins].filter((track) => tracks[track] !== undefined).forEach((track) => builder.pin(tracks[track]!, track, wholeLabel(tracks[track]!, hasRanks)));
  const pinned = builder.y;
  const headings = new Headings(builder, tracks, hasRanks);
  for (const track of grouped(tracks)) {
    const indent = headings.before(tracks[track]!);
    if (!pins.has(track)) {
      builder.track(tracks[track]!, track, indent);
    }
  }
  const byTrack = new Map(builder.rows.filter((row) => row.kind === 'track').map((row) => [row.track, row]));
  return { rows: builder.rows, height: builder.y, pinned, byTrack };
}

/** How far down of a picture that is scrolled by so much a row begins: pinned ones stay. */
export const screenY = (row: Row, top: number): number => row.y - (row.isPinned ? 0 : top);

/** The rows that a picture of a height shows which is scrolled by `top`: those below the pinned ones, then these. */
export function rowsBetween(layout: Layout, top: number, bottom: number): Row[] {
  const isSeen = (row: Row) => row.isPinned || (row.y < bottom && row.y + row.height > top + layout.pinned);
  return [...layout.rows.filter((row) => !row.isPinned && isSeen(row)), ...layout.rows.filter((row) => row.isPinned)];
}

/** The row at a pixel of a picture that is scrolled by `top`. */
export function rowAt(layout: Layout, y: number, top: number): Row | undefined {
  const at = y < layout.pinned ? y : y + top;
  return layout.rows.find((row) => row.isPinned === y < layout.pinned && at >= row.y && at < row.y + row.height);
}

/** Where arrows to a track end in a picture that is scrolled by `top`: its line, or the heading of the folded group
 *  that it is in. */
export function anchorOf(layout: Layout, tracks: readonly TrackInfo[], track: number, depth: number, top = 0): number | null {
  const row = layout.byTrack.get(track);
  if (row !== undefined) {
    return (row.lines === 0 ? row.y + row.height / 2 : lineTop(row, depth) + LINE / 2) - (row.isPinned ? 0 : top);
  }
  const info = tracks[track];
  const around = info === undefined ? [] : keysAround(info);
  const group = layout.rows.find((one) => one.kind === 'group' && one.isFolded && around.includes(one.key));
  return group === undefined ? null : group.y + group.height / 2 - top;
}
