// The chunks of the documents, unpacked when they are first needed and never longer at a time than a
// frame allows.
import { type Boxes, type Points } from './boxes';
import { type Work, decodeBoxes, decodePoints } from './decode';
import { type ChunkInfo, type TimelineDocument, type TrackInfo } from './document';
import { type Piece, unitedPieces } from './levels';

const NOTHING: Boxes = {
  length: 0, first: new Uint32Array(1), begin: new Float64Array(0), end: new Float64Array(0), reach: new Float64Array(0),
  name: new Uint32Array(0), tone: new Uint8Array(0), count: null, busy: null, detail: null, launchTrack: null, launchNs: null,
};
const NO_POINTS: Points = { length: 0, begin: NOTHING.begin, low: NOTHING.begin, high: NOTHING.begin, last: NOTHING.begin };

/** A chunk and how far it is unpacked. */
interface Packed<T> {
  work: Work<T> | null; // null: done
  value: T | null;
}

/** The names and tones of one document as those of the first. */
interface Translation {
  names: Uint32Array;
  tones: Uint8Array;
}

/** What identifies a track in documents of one recording. */
const identity = (track: TrackInfo): string => JSON.stringify([track.rank, track.kind, track.parent, track.name]);

export class Store {
  readonly tracks: readonly TrackInfo[];
  readonly names: string[];
  readonly tones: string[];
  readonly pieces: Piece[] = [];
  problem = ''; // what was wrong with the first chunk that could not be read
  private readonly boxChunks = new Map<string, Packed<Boxes>>();
  private readonly pointChunks = new Map<string, Packed<Points>>();
  private readonly byTrack = new Map<number, readonly Piece[]>();
  private deadline = Infinity;
  private isWaiting = false;
  private sources = 0;
  private readonly watchers = new Set<() => void>();

  constructor(document: TimelineDocument) {
    this.tracks = document.tracks;
    this.names = [...document.names];
    this.tones = [...document.tones];
    this.add(document);
  }

  /** Adds a document of the same recording, such as one of a stretch in finer detail. */
  add(document: TimelineDocument): void {
    const source = this.sources++;
    const translation = source === 0 ? null : this.translate(document);
    const places = new Map(this.tracks.map((track, i) => [identity(track), i]));
    const placeOf = (track: number) => {
      const info = document.tracks[track];
      return info === undefined ? undefined : places.get(identity(info)) ?? track;
    };
    const toOwn = source === 0 ? (track: number) => track : placeOf;
    for (const chunk of document.chunks) {
      this.addChunk(source, chunk, toOwn, translation);
    }
    const pieces = document.levels.map(({ level, grain_ns, begin_ns, end_ns, rank, depths }): Piece => ({ source, level, grain: grain_ns, begin: begin_ns, end: end_ns, rank, depths }));
    this.pieces.push(...unitedPieces(pieces));
    this.changed();
  }

  /** Calls back whenever a document was added or forgotten, until the returned function is called. */
  watch(watcher: () => void): () => void {
    this.watchers.add(watcher);
    return () => this.watchers.delete(watcher);
  }

  /** The pieces that a track has: those of its rank for which there is a chunk. */
  piecesOf(track: number): readonly Piece[] {
    const known = this.byTrack.get(track);
    if (known !== undefined) {
      return known;
    }
    const info = this.tracks[track];
    const chunks = info?.kind === 'counter' ? this.pointChunks : this.boxChunks;
    const own = this.pieces.filter(({ rank, source, level }) => (rank === undefined || rank === info?.rank) && chunks.has(keyOf(source, level, track)));
    this.byTrack.set(track, own);
    return own;
  }

  /** Forgets a document that was added. */
  remove(source: number): void {
    this.pieces.splice(0, Infinity, ...this.pieces.filter((piece) => piece.source !== source));
    for (const chunks of [this.boxChunks, this.pointChunks]) {
      [...chunks.keys()].filter((key) => key.startsWith(`${source}/`)).forEach((key) => chunks.delete(key));
    }
    this.changed();
  }

  get newestSource(): number {
    return this.sources - 1;
  }

  /** Chunks are unpacked for so many milliseconds from now on; what does not fit waits for the next frame. */
  allow(milliseconds: number): void {
    this.deadline = performance.now() + milliseconds;
    this.isWaiting = false;
  }

  /** Whether anything asked for since `allow` is not unpacked yet. */
  get hasMore(): boolean {
    return this.isWaiting;
  }

  /** The boxes of a track; null: not unpacked yet. */
  boxes(track: number, piece: Piece): Boxes | null {
    const chunk = this.boxChunks.get(keyOf(piece.source, piece.level, track));
    return chunk === undefined ? NOTHING : this.unpack(chunk, NOTHING);
  }

  points(track: number, piece: Piece): Points | null {
    const chunk = this.pointChunks.get(keyOf(piece.source, piece.level, track));
    return chunk === undefined ? NO_POINTS : this.unpack(chunk, NO_POINTS);
  }

  /** The boxes of a track only if they are there already. */
  ready(track: number, piece: Piece): Boxes | null {
    const chunk = this.boxChunks.get(keyOf(piece.source, piece.level, track));
    return chunk === undefined ? NOTHING : chunk.value;
  }

  name(index: number): string {
    return this.names[index] ?? '';
  }

  private changed(): void {
    this.byTrack.clear();
    this.watchers.forEach((watcher) => watcher());
  }

  private unpack<T>(chunk: Packed<T>, empty: T): T | null {
    while (chunk.work !== null) {
      if (performance.now() > this.deadline) {
        this.isWaiting = true;
        return null;
      }
      this.advance(chunk, empty);
    }
    return chunk.value;
  }

  private advance<T>(chunk: Packed<T>, empty: T): void {
    try {
      const { done, value } = chunk.work!.next();
      if (done === true) {
        chunk.work = null;
        chunk.value = value as T;
      }
    } catch (error) {
      this.problem ||= error instanceof Error ? error.message : String(error);
      chunk.work = null;
      chunk.value = empty;
    }
  }

  private addChunk(source: number, chunk: ChunkInfo, toOwn: (track: number) => number | undefined, translation: Translation | null): void {
    const track = toOwn(chunk.track);
    const info = track === undefined ? undefined : this.tracks[track];
    if (track === undefined || info === undefined) {
      return;
    }
    const key = keyOf(source, chunk.level, track);
    if (info.kind === 'counter') {
      this.pointChunks.set(key, { work: decodePoints(chunk), value: null });
    } else {
      this.boxChunks.set(key, { work: translated(decodeBoxes(chunk), translation, toOwn), value: null });
    }
  }

  private translate(document: TimelineDocument): Translation {
    const places = new Map(this.names.map((name, i) => [name, i]));
    const names = Uint32Array.from(document.names, (name) => places.get(name) ?? this.names.push(name) - 1);
    const tones = Uint8Array.from(document.tones, (tone) => {
      const known = this.tones.indexOf(tone);
      return known >= 0 ? known : this.tones.push(tone) - 1;
    });
    return { names, tones };
  }
}

/** The boxes of a track, with pauses until they are unpacked. */
export function* unpacked(store: Store, track: number, piece: Piece): Work<Boxes> {
  let boxes = store.boxes(track, piece);
  while (boxes === null) {
    yield;
    boxes = store.boxes(track, piece);
  }
  return boxes;
}

const SLICE_MS = 8;

/** Does some work in pieces of a few milliseconds and reports its result; the returned function stops it. */
export function inSlices<T>(store: Store, work: Work<T>, report: (result: T) => void): () => void {
  let timer = 0;
  const slice = () => {
    store.allow(SLICE_MS);
    const end = performance.now() + SLICE_MS;
    do {
      const { done, value } = work.next();
      if (done === true) {
        report(value);
        return;
      }
    } while (performance.now() < end);
    timer = window.setTimeout(slice);
  };
  timer = window.setTimeout(slice);
  return () => clearTimeout(timer);
}

const keyOf = (source: number, level: number, track: number): string => `${source}/${level}/${track}`;

/** Boxes of another document with the numbers of this one. */
function* translated(work: Work<Boxes>, by: Translation | null, toOwn: (track: number) => number | undefined): Work<Boxes> {
  const boxes = yield* work;
  if (by !== null) {
    boxes.name.forEach((name, i) => { boxes.name[i] = by.names[name] ?? 0; });
    boxes.tone.forEach((tone, i) => { boxes.tone[i] = by.tones[tone] ?? 0; });
    boxes.detail?.forEach((detail, i) => { boxes.detail![i] = detail === 0 ? 0 : (by.names[detail - 1] ?? 0) + 1; });
    boxes.launchTrack?.forEach((track, i) => { boxes.launchTrack![i] = track === 0 ? 0 : (toOwn(track - 1) ?? -1) + 1; });
  }
  return boxes;
}
