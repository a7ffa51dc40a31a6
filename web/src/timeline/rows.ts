// Where each track lies: below its process or device, below its rank; groups and deep tracks fold.
import { type TrackInfo } from './document';

export const LINE = 16; // pixels of one depth
export const COUNTER = 40;
export const HEADING = 22;
const MOST_DEPTHS = 1000;
const PAD = 3; // above and below the lines of a track

export interface Row {
  kind: 'group' | 'track';
  key: string; // by which it is folded
  label: string;
  indent: number;
  y: number;
  height: number;
  track: number; // -1 for a group
  lines: number; // depths drawn; 0 for groups and counters
  isFolded: boolean;
  canFold: boolean;
}

export interface Layout {
  rows: Row[];
  height: number;
  byTrack: Map<number, Row>; // tracks in folded groups are not in it
}

const rankKey = (rank: number): string => `rank ${rank}`;
const parentKey = (track: TrackInfo): string => `${track.rank}/${track.parent}`;
export const trackKey = (track: number): string => `track ${track}`;

/** What must be unfolded for a track to be seen. */
export function keysAround(track: TrackInfo): string[] {
  return [rankKey(track.rank), parentKey(track)];
}

/** Ranks but the first are folded where there are many, so that the first picture is of one whole rank. */
export function firstFolds(tracks: readonly TrackInfo[]): Set<string> {
  const ranks = [...new Set(tracks.map((track) => track.rank))];
  return new Set(ranks.length > 2 ? ranks.slice(1).map(rankKey) : []);
}

function trackRow(info: TrackInfo, track: number, y: number, indent: number, folds: ReadonlySet<string>): Row {
  const isCounter = info.kind === 'counter';
  const isFolded = folds.has(trackKey(track));
  const depths = Math.max(1, Math.min(MOST_DEPTHS, info.depths));
  const lines = isCounter ? 0 : isFolded ? 1 : depths;
  const label = info.name === '' ? info.kind : info.name;
  const height = (isCounter ? COUNTER : lines * LINE) + 2 * PAD;
  return { kind: 'track', key: trackKey(track), label, indent, y, height, track, lines, isFolded, canFold: !isCounter && depths > 1 };
}

/** A line of a row as pixels from the top of all. */
export const lineTop = (row: Row, depth: number): number => row.y + PAD + Math.min(depth, Math.max(0, row.lines - 1)) * LINE;

export const counterTop = (row: Row): number => row.y + PAD;

class Builder {
  readonly rows: Row[] = [];
  y = 0;
  private hidden = Infinity; // rows indented more than this are in a folded group

  constructor(private readonly folds: ReadonlySet<string>) {}

  group(key: string, label: string, indent: number): void {
    if (!this.enters(indent)) {
      return;
    }
    const isFolded = this.folds.has(key);
    this.rows.push({ kind: 'group', key, label, indent, y: this.y, height: HEADING, track: -1, lines: 0, isFolded, canFold: true });
    this.y += HEADING;
    this.hidden = isFolded ? indent : Infinity;
  }

  track(info: TrackInfo, track: number, indent: number): void {
    if (this.enters(indent)) {
      const row = trackRow(info, track, this.y, indent, this.folds);
      this.rows.push(row);
      this.y += row.height;
    }
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

/** Tracks with those of the same rank and parent beside each other, devices above processes, else in the order of the
 *  first of each. */
function grouped(tracks: readonly TrackInfo[]): number[] {
  const groups = new Map<string, number[]>();
  const ranks = new Map<number, string[]>();
  tracks.forEach((info, track) => {
    const key = info.parent === '' ? `${info.rank} ${trackKey(track)}` : parentKey(info);
    const own = groups.get(key);
    if (own === undefined) {
      ranks.set(info.rank, [...(ranks.get(info.rank) ?? []), key]);
    }
    groups.set(key, [...(own ?? []), track]);
  });
  const placeOfGroup = (key: string) => placeOf((groups.get(key) ?? []).map((track) => tracks[track]!));
  const inPlace = (keys: string[]) => [...keys].sort((a, b) => placeOfGroup(a) - placeOfGroup(b));
  return [...ranks.values()].flatMap(inPlace).flatMap((key) => groups.get(key) ?? []);
}

/** The rows from top to bottom. */
export function layOut(tracks: readonly TrackInfo[], folds: ReadonlySet<string>): Layout {
  const builder = new Builder(folds);
  const hasRanks = new Set(tracks.map((track) => track.rank)).size > 1;
  const outer = hasRanks ? 1 : 0;
  let [rank, parent] = ['', ''];
  for (const track of grouped(tracks)) {
    const info = tracks[track]!;
    if (hasRanks && rankKey(info.rank) !== rank) {
      builder.group(rankKey(info.rank), rankKey(info.rank), 0);
    }
    if (info.parent !== '' && parentKey(info) !== parent) {
      builder.group(parentKey(info), info.parent, outer);
    }
    [rank, parent] = [rankKey(info.rank), parentKey(info)];
    builder.track(info, track, outer + (info.parent === '' ? 0 : 1));
  }
  const byTrack = new Map(builder.rows.filter((row) => row.kind === 'track').map((row) => [row.track, row]));
  return { rows: builder.rows, height: builder.y, byTrack };
}

/** The rows that a band of pixels shows. */
export function rowsBetween(layout: Layout, top: number, bottom: number): Row[] {
  return layout.rows.filter((row) => row.y < bottom && row.y + row.height > top);
}

export function rowAt(layout: Layout, y: number): Row | undefined {
  return layout.rows.find((row) => y >= row.y && y < row.y + row.height);
}

/** Where arrows to a track end: its line, or the heading of the folded group that it is in. */
export function anchorOf(layout: Layout, tracks: readonly TrackInfo[], track: number, depth: number): number | null {
  const row = layout.byTrack.get(track);
  if (row !== undefined) {
    return row.lines === 0 ? row.y + row.height / 2 : lineTop(row, depth) + LINE / 2;
  }
  const info = tracks[track];
  const around = info === undefined ? [] : keysAround(info);
  const group = layout.rows.find((one) => one.kind === 'group' && one.isFolded && around.includes(one.key));
  return group === undefined ? null : group.y + group.height / 2;
}
