// Sums over a range of time, from the finest boxes that the page has of it: how long streams and devices
// worked, what ran on them, and what the host did. Where boxes are merged, the sums are about right, and
// some are not known.
import { type Boxes, boxAt, busyShare, depthsOf, overlapping } from './boxes';
import { type Work } from './decode';
import { type TrackInfo } from './document';
import { type Stretches, lengthOf, longestPause, unitedAll, unitedInOrder } from './intervals';
import { type Stretch, plan } from './levels';
import { type Store, inSlices, unpacked } from './store';
import { type Span } from './view';

export interface NameSum {
  name: string;
  ns: number;
  count: number; // that begin in the range
}

export interface RowSum {
  track: number;
  busyNs: number;
  count: number;
}

export interface DeviceSum {
  rank: number;
  name: string;
  busyNs: number;
  pause: { begin: number; length: number } | null; // the longest; null: not known from merged boxes
}

export interface RangeSums {
  range: Span;
  isComplete: boolean;
  grain: number; // events shorter than this are merged somewhere in the range; 0: nowhere
  missing: number; // rows of which some of the range is not in the page
  isCut: boolean; // deeper rows are not in the page
  devices: DeviceSum[];
  streams: RowSum[];
  steps: string[];
  kernels: NameSum[]; // and copies, by their time on devices
  host: NameSum[]; // by the time of their own
  operators: NameSum[]; // by the time on devices of what they launched
  unlinkedNs: number; // of devices, whose operator is not known
  launches: number | null; // null: not known
}

/** Which rows count. Devices are whole: with a stream chosen, those that have it, over all their streams. */
export interface RowFilter {
  rank: number | null;
  stream: number | null;
}

const LAUNCH = /launch/i; // cudaLaunchKernel, hipModuleLaunchKernel, cuLaunchKernelEx, cudaGraphLaunch
const OPERATOR_TONE = 'op';
const HOST_TONE = 'host'; // of calls
const PAUSE_EACH = 20_000; // boxes between two pauses

class Names {
  private readonly sums = new Map<number, { ns: number; count: number }>();

  add(name: number, ns: number, count: number): void {
    const sum = this.sums.get(name);
    if (sum === undefined) {
      this.sums.set(name, { ns, count });
    } else {
      sum.ns += ns;
      sum.count += count;
    }
  }

  /** The longest first; rows that are called the same are one. */
  sorted(store: Store): NameSum[] {
    const all = [...this.sums].map(([name, sum]) => ({ name: store.name(name), ...sum }));
    return all.filter((one) => one.ns > 0).sort((a, b) => b.ns - a.ns || (a.name < b.name ? -1 : 1));
  }
}

const isOfStream = (info: TrackInfo, filter: RowFilter): boolean =>
  filter.stream === null || info.kind !== 'stream' || Number(/(-?\d+)\D*$/.exec(info.name)?.[1]) === filter.stream;

const deviceOf = (info: TrackInfo): string => `${info.rank}/${info.parent}`;

/** What is known of a device while its streams are read. */
interface DeviceParts {
  rank: number;
  name: string;
  covered: Stretches[]; // of each stream, depth and stretch of time
  sum: number;
  isExact: boolean;
}

/** The part of a box in a stretch of time. */
const inside = (boxes: Boxes, i: number, { begin, end }: Span): number =>
  Math.max(0, Math.min(boxes.end[i]!, end) - Math.max(boxes.begin[i]!, begin));

/** Events of a box that begin in a stretch: of a merged one its part of them. */
function beginning(boxes: Boxes, i: number, { begin, end }: Span): number {
  const at = boxes.begin[i]!;
  if (boxes.count === null) {
    return at >= begin && at < end ? 1 : 0;
  }
  const duration = boxes.end[i]! - at;
  return boxes.count[i]! * (duration > 0 ? inside(boxes, i, { begin, end }) / duration : Number(at >= begin && at < end));
}

/** The boxes of a stretch, of one depth after the other. */
function covered(boxes: Boxes, depth: number, span: Span): Stretches {
  const [first, last] = overlapping(boxes, depth, span.begin, span.end);
  const all: number[] = [];
  for (let i = first; i < last; ++i) {
    const [begin, end] = [Math.max(boxes.begin[i]!, span.begin), Math.min(boxes.end[i]!, span.end)];
    if (end > begin) {
      all.push(begin, end);
    }
  }
  return unitedInOrder(all);
}

class Summing {
  private readonly kernels = new Names();
  private readonly host = new Names();
  private readonly operators = new Names();
  private readonly stepNames = new Set<string>();
  private readonly onDevices = new Map<string, DeviceParts>();
  private readonly sums: RangeSums;
  private readonly operatorTone: number;
  private readonly hostTone: number;
  private seen = 0; // boxes since the last pause

  constructor(private readonly store: Store, private readonly range: Span, private readonly filter: RowFilter) {
    this.sums = {
      range, isComplete: false, grain: 0, missing: 0, isCut: false, devices: [], streams: [], steps: [], kernels: [], host: [], operators: [], unlinkedNs: 0, launches: 0,
    };
    this.operatorTone = store.tones.indexOf(OPERATOR_TONE);
    this.hostTone = store.tones.indexOf(HOST_TONE);
  }

  *run(): Work<RangeSums> {
    const { store, sums } = this;
    for (const kind of ['steps', 'thread', 'stream']) {
      for (const [track, info] of this.wanted(kind)) {
        yield* this.row(track, info);
      }
    }
    for (const device of this.onDevices.values()) {
      sums.devices.push(yield* this.device(device));
    }
    return { ...sums, isComplete: true, steps: [...this.stepNames], kernels: this.kernels.sorted(store), host: this.host.sorted(store), operators: this.operators.sorted(store) };
  }

  /** The rows of a kind; of a device of which a stream is chosen all streams. */
  private wanted(kind: string): [number, TrackInfo][] {
    const all = [...this.store.tracks.entries()].filter(([, info]) => info.kind === kind && (this.filter.rank === null || info.rank === this.filter.rank));
    const devices = new Set(all.filter(([, info]) => isOfStream(info, this.filter)).map(([, info]) => deviceOf(info)));
    return all.filter(([, info]) => devices.has(deviceOf(info)));
  }

  private *device({ rank, name, covered: parts, sum, isExact }: DeviceParts): Work<DeviceSum> {
    const all = yield* unitedAll(parts);
    const { begin, end } = this.range;
    return { rank, name, busyNs: isExact ? lengthOf(all) : Math.min(sum, lengthOf(all)), pause: isExact ? longestPause(all, begin, end) : null };
  }

  /** The stretches of a row, each from the finest boxes there are of it. */
  private *row(track: number, info: TrackInfo): Work<void> {
    const stretches = plan(this.store.piecesOf(track), this.range.begin, this.range.end, 0);
    const length = stretches.reduce((all, one) => all + one.end - one.begin, 0);
    const row: RowSum = { track, busyNs: 0, count: 0 };
    this.sums.missing += length < (this.range.end - this.range.begin) * 0.999 ? 1 : 0;
    for (const stretch of stretches) {
      this.sums.grain = Math.max(this.sums.grain, stretch.piece.grain);
      this.sums.isCut ||= stretch.piece.depths !== undefined && stretch.piece.depths < info.depths;
      yield* this.sum(info, row, yield* unpacked(this.store, track, stretch.piece), stretch);
    }
    if (info.kind === 'stream' && row.count > 0 && isOfStream(info, this.filter)) {
      this.sums.streams.push(row);
    }
  }

  private *sum(info: TrackInfo, row: RowSum, boxes: Boxes, stretch: Stretch): Work<void> {
    if (info.kind === 'stream') {
      yield* this.stream(info, row, boxes, stretch);
    } else if (info.kind === 'thread') {
      yield* this.thread(boxes, stretch);
    } else {
      yield* this.steps(boxes, stretch);
    }
  }

  private *rest(boxes: number): Work<void> {
    this.seen += boxes;
    if (this.seen > PAUSE_EACH) {
      this.seen = 0;
      yield;
    }
  }

  private *stream(info: TrackInfo, row: RowSum, boxes: Boxes, stretch: Stretch): Work<void> {
    const isChosen = isOfStream(info, this.filter);
    const parts: Stretches[] = [];
    let busy = 0;
    for (let depth = 0; depth < depthsOf(boxes); ++depth) {
      const [first, last] = overlapping(boxes, depth, stretch.begin, stretch.end);
      for (let i = first; i < last; ++i) {
        const [ns, count] = [inside(boxes, i, stretch) * busyShare(boxes, i), beginning(boxes, i, stretch)];
        busy += ns;
        if (isChosen) {
          row.count += count;
          this.kernels.add(boxes.name[i]!, ns, count);
        }
        if (isChosen && ns > 0) {
          yield* this.launchedBy(boxes, i, ns, count);
        }
      }
      parts.push(covered(boxes, depth, stretch));
      yield* this.rest(last - first);
    }
    const all = yield* unitedAll(parts);
    const isExact = stretch.piece.grain === 0;
    const own = isExact ? lengthOf(all) : Math.min(busy, lengthOf(all));
    row.busyNs += own;
    this.onDevice(info, all, own, isExact);
  }

  private onDevice(info: TrackInfo, all: Stretches, sum: number, isExact: boolean): void {
    const device = this.onDevices.get(deviceOf(info)) ?? { rank: info.rank, name: info.parent, covered: [], sum: 0, isExact: true };
    device.covered.push(all);
    device.sum += sum;
    device.isExact &&= isExact;
    this.onDevices.set(deviceOf(info), device);
  }

  /** Adds device time to the innermost operator around the call that launched it, which may lie before the range. */
  private *launchedBy(boxes: Boxes, i: number, ns: number, count: number): Work<void> {
    const track = boxes.launchTrack?.[i] ?? 0;
    const at = boxes.launchNs?.[i] ?? 0;
    const piece = track === 0 ? undefined : this.store.piecesOf(track - 1).find((one) => one.grain === 0 && at >= one.begin && at <= one.end);
    const around = piece === undefined ? null : this.store.ready(track - 1, piece) ?? (yield* unpacked(this.store, track - 1, piece));
    for (let depth = around === null ? -1 : depthsOf(around) - 1; depth >= 0; --depth) {
      const found = boxAt(around!, depth, at);
      if (found >= 0 && around!.tone[found] === this.operatorTone) {
        this.operators.add(around!.name[found]!, ns, count);
        return;
      }
    }
    this.sums.unlinkedNs += ns;
  }

  /** Time of their own: without what lies in them one depth below. */
  private *thread(boxes: Boxes, stretch: Stretch): Work<void> {
    this.sums.launches = stretch.piece.grain > 0 ? null : this.sums.launches;
    for (let depth = 0; depth < depthsOf(boxes); ++depth) {
      const [first, last] = overlapping(boxes, depth, stretch.begin, stretch.end);
      const [firstChild, lastChild] = overlapping(boxes, depth + 1, stretch.begin, stretch.end);
      let child = firstChild;
      for (let i = first; i < last; ++i) {
        const own = { begin: Math.max(stretch.begin, boxes.begin[i]!), end: Math.min(stretch.end, boxes.end[i]!) };
        let ns = inside(boxes, i, stretch) * busyShare(boxes, i);
        for (; child < lastChild && boxes.begin[child]! < boxes.end[i]!; ++child) {
          ns -= inside(boxes, child, own) * busyShare(boxes, child);
        }
        this.host.add(boxes.name[i]!, Math.max(0, ns), beginning(boxes, i, stretch));
        this.launch(boxes, i, stretch);
      }
      yield* this.rest(last - first);
    }
  }

  private launch(boxes: Boxes, i: number, stretch: Stretch): void {
    if (this.sums.launches !== null && boxes.tone[i] === this.hostTone && LAUNCH.test(this.store.name(boxes.name[i]!))) {
      this.sums.launches += beginning(boxes, i, stretch);
    }
  }

  private *steps(boxes: Boxes, stretch: Stretch): Work<void> {
    const [first, last] = depthsOf(boxes) > 0 ? overlapping(boxes, 0, stretch.begin, stretch.end) : [0, 0];
    for (let i = first; i < last; ++i) {
      if (boxes.count === null || boxes.count[i] === 1) {
        this.stepNames.add(this.store.name(boxes.name[i]!));
      }
      yield* this.rest(1);
    }
  }
}

/** A generator that can be stopped and driven on. */
export const summing = (store: Store, range: Span, filter: RowFilter): Generator<void, RangeSums> => new Summing(store, range, filter).run();

/** Sums up in pieces of a few milliseconds and reports the result; the returned function stops it. */
export const sumRange = (store: Store, range: Span, filter: RowFilter, report: (sums: RangeSums) => void): () => void =>
  inSlices(store, summing(store, range, filter), report);
