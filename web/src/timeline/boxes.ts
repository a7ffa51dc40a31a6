// The boxes of one track at one level, ordered by depth and then by time, so that a line of the picture
// is a stretch of each array.

export interface Boxes {
  length: number;
  first: Uint32Array; // where the boxes of each depth begin; one more at the end
  begin: Float64Array;
  end: Float64Array;
  reach: Float64Array; // the latest end of a depth up to and with this box: what a search can rely on
  name: Uint32Array;
  tone: Uint8Array;
  count: Float64Array | null; // events in a merged box; null: every box is one event
  busy: Float64Array | null;
  detail: Uint32Array | null; // 0: none; else 1 + name
  launchTrack: Uint32Array | null; // 0: none; else 1 + track
  launchNs: Float64Array | null;
}

/** A counter at one level: the extremes and the last value of each stretch. */
export interface Points {
  length: number;
  begin: Float64Array;
  low: Float64Array;
  high: Float64Array;
  last: Float64Array;
}

export const depthsOf = (boxes: Boxes): number => boxes.first.length - 1;

/** The first index in [from, to) whose value in `sorted` is more than `value`, or `to`. */
export function firstAbove(sorted: Float64Array, value: number, from: number, to: number): number {
  let [low, high] = [from, to];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (sorted[middle]! > value) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

/** The range of boxes of a depth that overlap a stretch of time; some of the first may end before it. */
export function overlapping(boxes: Boxes, depth: number, begin: number, end: number): [number, number] {
  const from = boxes.first[depth] ?? boxes.length;
  const to = boxes.first[depth + 1] ?? boxes.length;
  const first = firstAbove(boxes.reach, begin, from, to);
  return [first, firstAbove(boxes.begin, end, first, to)];
}

/** The box of a depth at a time, or the nearest one that is at most `slack` away; -1: none. */
export function boxAt(boxes: Boxes, depth: number, ns: number, slack = 0): number {
  const [first, end] = overlapping(boxes, depth, ns - slack - 1, ns + slack);
  let [best, least] = [-1, Infinity];
  for (let i = first; i < end; ++i) {
    const away = Math.max(boxes.begin[i]! - ns, ns - boxes.end[i]!, 0);
    if (away <= slack && (away < least || (away === 0 && least === 0))) {
      [best, least] = [i, away];
    }
  }
  return best;
}

export const depthOf = (boxes: Boxes, index: number): number => {
  let depth = 0;
  while (depth + 1 < depthsOf(boxes) && (boxes.first[depth + 1] ?? 0) <= index) {
    ++depth;
  }
  return depth;
};

export const countOf = (boxes: Boxes, index: number): number => boxes.count?.[index] ?? 1;

export const durationOf = (boxes: Boxes, index: number): number => boxes.end[index]! - boxes.begin[index]!;

/** The share of a box in which something ran. */
export function busyShare(boxes: Boxes, index: number): number {
  const duration = durationOf(boxes, index);
  return boxes.busy === null || duration <= 0 ? 1 : Math.max(0, Math.min(1, boxes.busy[index]! / duration));
}

/** The boxes around a box, the outermost first. */
export function enclosing(boxes: Boxes, index: number): number[] {
  const own = depthOf(boxes, index);
  const around: number[] = [];
  for (let depth = 0; depth < own; ++depth) {
    const found = boxAt(boxes, depth, boxes.begin[index]!);
    if (found >= 0 && boxes.end[found]! >= boxes.end[index]!) {
      around.push(found);
    }
  }
  return around;
}
