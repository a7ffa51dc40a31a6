// The whole recording in a strip: its steps, and which share of each stretch of time devices worked. Worked out from
// the boxes of the timeline, of the coarsest level that is fine enough for the width.
import { type Boxes, busyShare, countOf, depthsOf, overlapping } from './timeline/boxes';
import { plan } from './timeline/levels';
import { type Store } from './timeline/store';

export interface StepSpan {
  name: string;
  begin: number;
  end: number;
}

export interface BusyStrip {
  whole: number; // nanoseconds since the recording began
  busy: Float64Array; // 0 to 1, of each of equal stretches: the mean of all devices
  devices: number;
  isAbout: boolean; // streams of one device overlap, or boxes are merged
  steps: StepSpan[]; // of the first rank, in the order of time, MOST_STEPS at most
  stepCount: number; // of all, those within merged boxes, too
  areStepsMerged: boolean; // some: at the edges of exact windows their count is about right
}

const MOST_STEPS = 2_000;

/** Adds to each stretch how much of it the boxes of a depth take. */
function addBoxes(boxes: Boxes, depth: number, begin: number, end: number, each: number, shares: Float64Array): void {
  const [first, last] = overlapping(boxes, depth, begin, end);
  for (let i = first; i < last; ++i) {
    const [from, to] = [Math.max(begin, boxes.begin[i]!), Math.min(end, boxes.end[i]!)];
    const density = busyShare(boxes, i);
    for (let bin = Math.max(0, Math.floor(from / each)); bin < shares.length && bin * each < to; ++bin) {
      const inside = Math.min(to, (bin + 1) * each) - Math.max(from, bin * each);
      shares[bin] = shares[bin]! + (Math.max(0, inside) * density) / each;
    }
  }
}

/** The busy share of one stream; `isMerged`: some of its boxes are several events. */
function streamShares(store: Store, track: number, whole: number, bins: number): { shares: Float64Array; isMerged: boolean } {
  const shares = new Float64Array(bins);
  let isMerged = false;
  for (const stretch of plan(store.piecesOf(track).filter((piece) => piece.source === 0), 0, whole, whole / bins)) {
    const boxes = store.boxes(track, stretch.piece);
    if (boxes !== null && depthsOf(boxes) > 0) {
      isMerged ||= boxes.count !== null;
      addBoxes(boxes, 0, stretch.begin, stretch.end, whole / bins, shares);
    }
  }
  return { shares: shares.map((share) => Math.min(1, share)), isMerged };
}

/** Each step once, from the stretch in which it begins: exact events are often those of a window only. */
function stepsOf(store: Store, whole: number): Pick<BusyStrip, 'steps' | 'stepCount' | 'areStepsMerged'> {
  const track = store.tracks.findIndex((info) => info.kind === 'steps');
  const steps: StepSpan[] = [];
  let [stepCount, areStepsMerged] = [0, false];
  for (const { piece, begin, end } of track < 0 ? [] : plan(store.piecesOf(track).filter((one) => one.source === 0), 0, whole, 1)) {
    const boxes = store.boxes(track, piece);
    const [first, last] = boxes === null || depthsOf(boxes) === 0 ? [0, 0] : overlapping(boxes, 0, begin, end);
    for (let i = first; i < last; ++i) {
      const at = boxes!.begin[i]!;
      if (at >= begin && (at < end || end >= whole)) {
        stepCount += countOf(boxes!, i);
        areStepsMerged ||= countOf(boxes!, i) > 1;
        if (steps.length < MOST_STEPS) {
          steps.push({ name: store.name(boxes!.name[i]!), begin: at, end: boxes!.end[i]! });
        }
      }
    }
  }
  return { steps, stepCount, areStepsMerged };
}

/** null: nothing ran on a device. Streams of a device count as if they did not know of each other. */
export function busyStrip(store: Store, whole: number, bins: number): BusyStrip | null {
  const idle = new Map<string, { shares: Float64Array; streams: number }>();
  let isAbout = false;
  store.allow(Infinity);
  store.tracks.forEach((info, track) => {
    if (info.kind !== 'stream') {
      return;
    }
    const { shares, isMerged } = streamShares(store, track, whole, bins);
    const device = idle.get(`${info.rank}/${info.parent}`) ?? { shares: new Float64Array(bins).fill(1), streams: 0 };
    device.shares = device.shares.map((left, bin) => left * (1 - shares[bin]!));
    device.streams += shares.some((share) => share > 0) ? 1 : 0;
    isAbout ||= isMerged || device.streams > 1;
    idle.set(`${info.rank}/${info.parent}`, device);
  });
  if (idle.size === 0 || !(whole > 0)) {
    return null;
  }
  const busy = new Float64Array(bins);
  idle.forEach(({ shares }) => shares.forEach((left, bin) => { busy[bin] = busy[bin]! + (1 - left) / idle.size; }));
  return { whole, busy, devices: idle.size, isAbout, ...stepsOf(store, whole) };
}
