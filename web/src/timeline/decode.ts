// Unpacks a chunk into arrays. A chunk may have a million boxes, so unpacking is a generator: whoever
// drives it stops when its time is used up and goes on later.
import { type Boxes, type Points } from './boxes';
import { type ChunkInfo } from './document';
import { inflated } from './inflate';
import { NumberReader, bytesOf, fromZigzag } from './leb128';

type Numbers = Float64Array | Uint32Array | Uint16Array | Uint8Array;
export type Work<T> = Generator<void, T>;

const STRIDE = 1 << 15; // values between two pauses
const MOST_DEPTHS = 4096;

/** Fills an array with the next column, each value made by `make` from what is read. */
function* column<T extends Numbers>(reader: NumberReader, target: T, make?: (value: number, i: number) => number): Work<T> {
  for (let i = 0; i < target.length; ++i) {
    const value = reader.next();
    target[i] = make === undefined ? value : make(value, i);
    if (i % STRIDE === STRIDE - 1) {
      yield;
    }
  }
  return target;
}

/** Sums up differences. */
function summing(of: (value: number) => number = (value) => value): (value: number) => number {
  let sum = 0;
  return (value) => (sum += of(value));
}

/** The times of launches, which only boxes with a track of their launch have. */
function* launchTimes(reader: NumberReader, track: Uint32Array, begin: Float64Array): Work<Float64Array> {
  const times = new Float64Array(track.length);
  for (let i = 0; i < track.length; ++i) {
    times[i] = track[i] === 0 ? 0 : begin[i]! - fromZigzag(reader.next());
    if (i % STRIDE === STRIDE - 1) {
      yield;
    }
  }
  return times;
}

/** The order of boxes by depth that keeps their order by time, and where each depth begins. */
function byDepth(depth: Uint16Array): { order: Uint32Array | null; first: Uint32Array } {
  let deepest = 0;
  for (const one of depth) {
    deepest = Math.max(deepest, one);
  }
  const first = new Uint32Array(deepest + 2);
  for (const one of depth) {
    first[one + 1]! += 1;
  }
  for (let i = 1; i < first.length; ++i) {
    first[i]! += first[i - 1]!;
  }
  if (deepest === 0) {
    return { order: null, first };
  }
  const next = first.slice();
  const order = new Uint32Array(depth.length);
  depth.forEach((one, i) => { order[next[one]!++] = i; });
  return { order, first };
}

function inOrder<T extends Numbers>(values: T, order: Uint32Array | null): T {
  if (order === null) {
    return values;
  }
  const sorted = values.slice() as T;
  for (let i = 0; i < order.length; ++i) {
    sorted[i] = values[order[i]!]!;
  }
  return sorted;
}

/** The latest end so far in each depth. Boxes of one depth seldom overlap: then it is `end` itself. */
function reachOf(end: Float64Array, first: Uint32Array): Float64Array {
  let reach = end;
  for (let depth = 0; depth + 1 < first.length; ++depth) {
    for (let i = first[depth]! + 1; i < first[depth + 1]!; ++i) {
      if (reach[i]! < reach[i - 1]!) {
        reach = reach === end ? end.slice() : reach;
        reach[i] = reach[i - 1]!;
      }
    }
  }
  return reach;
}

function* mergedColumns(reader: NumberReader, duration: Float64Array): Work<Pick<Boxes, 'count' | 'busy'>> {
  const count = yield* column(reader, new Float64Array(duration.length));
  const busy = yield* column(reader, new Float64Array(duration.length), (idle, i) => duration[i]! - idle);
  return { count, busy };
}

function* exactColumns(reader: NumberReader, begin: Float64Array): Work<Pick<Boxes, 'detail' | 'launchTrack' | 'launchNs'>> {
  const detail = yield* column(reader, new Uint32Array(begin.length));
  const launchTrack = yield* column(reader, new Uint32Array(begin.length));
  const launchNs = yield* launchTimes(reader, launchTrack, begin);
  return { detail, launchTrack, launchNs };
}

const MOST_BYTES = 90; // of a box: ten numbers of at most nine bytes

/** The columns of a chunk, unpacked where they are packed. */
function* columnsOf(chunk: ChunkInfo): Work<NumberReader> {
  const isCount = Number.isSafeInteger(chunk.boxes) && chunk.boxes >= 0;
  const packed = chunk.packed ?? '';
  const bytes = packed !== '' && isCount
    ? yield* inflated(yield* bytesOf(packed), chunk.boxes * MOST_BYTES) : yield* bytesOf(chunk.data ?? '');
  if (!isCount || chunk.boxes > bytes.length) { // each column has a byte a box
    throw new Error('the columns end early');
  }
  return new NumberReader(bytes);
}

export function* decodeBoxes(chunk: ChunkInfo): Work<Boxes> {
  const reader = yield* columnsOf(chunk);
  const begin = yield* column(reader, new Float64Array(chunk.boxes), summing());
  const duration = yield* column(reader, new Float64Array(chunk.boxes));
  const depth = yield* column(reader, new Uint16Array(chunk.boxes), (value) => Math.min(value, MOST_DEPTHS));
  const name = yield* column(reader, new Uint32Array(chunk.boxes));
  const tone = yield* column(reader, new Uint8Array(chunk.boxes), (value) => Math.min(value, 255));
  const merged = chunk.level > 0 ? yield* mergedColumns(reader, duration) : { count: null, busy: null };
  const exact = chunk.level > 0
    ? { detail: null, launchTrack: null, launchNs: null } : yield* exactColumns(reader, begin);
  yield;
  const { order, first } = byDepth(depth);
  const end = duration.map((value, i) => value + begin[i]!);
  const sort = <T extends Numbers>(values: T | null) => (values === null ? null : inOrder(values, order));
  yield;
  const ends = inOrder(end, order);
  return {
    length: chunk.boxes, first, begin: inOrder(begin, order), end: ends, reach: reachOf(ends, first),
    name: inOrder(name, order), tone: inOrder(tone, order), count: sort(merged.count), busy: sort(merged.busy),
    detail: sort(exact.detail), launchTrack: sort(exact.launchTrack), launchNs: sort(exact.launchNs),
  };
}

const THOUSANDTHS = 1000;

export function* decodePoints(chunk: ChunkInfo): Work<Points> {
  const reader = yield* columnsOf(chunk);
  const begin = yield* column(reader, new Float64Array(chunk.boxes), summing());
  const values = function* (): Work<Float64Array> {
    const sum = summing(fromZigzag);
    return yield* column(reader, new Float64Array(chunk.boxes), (value) => sum(value) / THOUSANDTHS);
  };
  const low = yield* values();
  const high = yield* values();
  const last = yield* values();
  return { length: chunk.boxes, begin, low, high, last };
}
