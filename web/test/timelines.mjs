// Documents of timelines for the tests: an encoder of its own for the form of docs/how-it-works/timeline.md, a naive
// merging of levels, and recordings made up of the usual rows.

/** A number as LEB128 bytes. */
export function leb128(value) {
  const bytes = [];
  let rest = value;
  do {
    const low = rest % 128;
    rest = Math.floor(rest / 128);
    bytes.push(rest > 0 ? low + 128 : low);
  } while (rest > 0);
  return bytes;
}

export const zigzag = (value) => (value >= 0 ? 2 * value : -2 * value - 1);

/** Appends numbers; fast for small ones, as there are millions. */
class Packer {
  bytes = Buffer.alloc(1 << 16);
  length = 0;

  put(value) {
    if (!(value >= 0)) {
      throw new Error(`${value} has no place in a column`);
    }
    if (this.length + 16 > this.bytes.length) {
      this.bytes = Buffer.concat([this.bytes, Buffer.alloc(this.bytes.length)]);
    }
    if (value < 128) {
      this.bytes[this.length++] = value;
      return;
    }
    let rest = value;
    while (rest >= 128) {
      this.bytes[this.length++] = 128 + (rest % 128);
      rest = Math.floor(rest / 128);
    }
    this.bytes[this.length++] = rest;
  }

  text() {
    return this.bytes.subarray(0, this.length).toString('base64');
  }
}

/** Boxes `{begin, duration, depth, name, tone, count, busy, detail, launchTrack, launchNs}` as a chunk. */
export function chunkOf(track, level, boxes) {
  const packer = new Packer();
  const order = (a, b) => a.begin - b.begin || a.depth - b.depth;
  const isSorted = boxes.every((box, i) => i === 0 || order(boxes[i - 1], box) <= 0);
  const sorted = isSorted ? boxes : [...boxes].sort(order);
  const column = (read) => sorted.forEach((box, i) => packer.put(read(box, sorted[i - 1])));
  column((box, before) => box.begin - (before?.begin ?? 0));
  column((box) => box.duration);
  column((box) => box.depth);
  column((box) => box.name);
  column((box) => box.tone);
  if (level > 0) {
    column((box) => box.count);
    column((box) => box.duration - box.busy);
  } else {
    column((box) => (box.detail === undefined ? 0 : 1 + box.detail));
    column((box) => (box.launchTrack === undefined ? 0 : 1 + box.launchTrack));
    sorted.filter((box) => box.launchTrack !== undefined).forEach((box) => packer.put(zigzag(box.begin - box.launchNs)));
  }
  return { track, level, boxes: sorted.length, data: packer.text() };
}

/** Points `{begin, low, high, last}` of a counter as a chunk. */
export function pointsChunk(track, level, points) {
  const packer = new Packer();
  points.forEach((point, i) => packer.put(point.begin - (points[i - 1]?.begin ?? 0)));
  for (const key of ['low', 'high', 'last']) {
    points.forEach((point, i) => packer.put(zigzag(Math.round(point[key] * 1000) - Math.round((points[i - 1]?.[key] ?? 0) * 1000))));
  }
  return { track, level, boxes: points.length, data: packer.text() };
}

/** The box that stands for some that follow each other. */
function mergedBox(group) {
  if (group.length === 1) {
    return { ...group[0], count: 1, busy: group[0].duration };
  }
  const sums = new Map();
  group.forEach((box) => sums.set(box.name, (sums.get(box.name) ?? 0) + box.duration));
  const [name] = [...sums].sort((a, b) => b[1] - a[1])[0];
  const begin = group[0].begin;
  const end = Math.max(...group.map((box) => box.begin + box.duration));
  const busy = group.reduce((sum, box) => sum + box.duration, 0); // they do not overlap
  return { begin, duration: end - begin, depth: group[0].depth, name, tone: group.find((box) => box.name === name).tone, count: group.length, busy };
}

/** The boxes of one level, by the rule of docs/how-it-works/timeline.md. */
export function merged(boxes, grain) {
  const result = [];
  const open = new Map(); // by depth
  const close = (depth) => {
    if (open.has(depth)) {
      result.push(mergedBox(open.get(depth)));
      open.delete(depth);
    }
  };
  for (const box of boxes) {
    const group = open.get(box.depth);
    const last = group?.at(-1);
    if (box.duration >= grain) {
      close(box.depth);
      result.push({ ...box, count: 1, busy: box.duration });
      continue;
    }
    if (group !== undefined && box.begin - (last.begin + last.duration) >= grain) {
      close(box.depth);
    }
    const now = open.get(box.depth) ?? [];
    now.push(box);
    open.set(box.depth, now);
    if (box.begin + box.duration - now[0].begin >= grain) {
      close(box.depth);
    }
  }
  [...open.keys()].forEach(close);
  return result;
}

/** The extremes of a counter in stretches of a grain. */
function mergedPoints(points, grain) {
  const groups = new Map();
  for (const point of points) {
    const at = Math.floor(point.begin / grain);
    const known = groups.get(at);
    groups.set(at, known === undefined ? { ...point } : { ...known, low: Math.min(known.low, point.low), high: Math.max(known.high, point.high), last: point.last });
  }
  return [...groups.values()];
}

/** A document of these tracks `{info, boxes | points}`: exact in the window, merged elsewhere. */
export function documentOf({ tracks, names, tones, span, window = null, grains = [] }) {
  const exact = window ?? { begin_ns: 0, end_ns: span };
  const inside = (box) => box.begin < exact.end_ns && box.begin + (box.duration ?? 0) >= exact.begin_ns;
  const chunks = tracks.flatMap(({ boxes, points }, track) => (boxes === undefined
    ? [pointsChunk(track, 0, points.filter(inside)), ...grains.map((grain, i) => pointsChunk(track, i + 1, mergedPoints(points, grain)))]
    : [chunkOf(track, 0, boxes.filter(inside)), ...grains.map((grain, i) => chunkOf(track, i + 1, merged(boxes, grain)))]));
  return {
    version: 1, begin_ns: '1700000000000000000', span_ns: span, names, tones, window,
    tracks: tracks.map(({ info }) => info),
    levels: [
      { level: 0, grain_ns: 0, begin_ns: exact.begin_ns, end_ns: exact.end_ns },
      ...grains.map((grain, i) => ({ level: i + 1, grain_ns: grain, begin_ns: 0, end_ns: span })),
    ],
    chunks,
  };
}

/** Numbers that look like chance and are the same each time. */
export function chance(seed) {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

export const TONES = ['annotation', 'op', 'python', 'compute', 'comm', 'copy', 'host', 'sync', 'idle', 'kernel', 'transfer', 'other'];
const toneOf = (name) => TONES.indexOf(name);

const infoOf = (rank, kind, name, parent, depths, boxes, unit = '') => ({
  rank, kind, name, parent, depths, events: boxes.length, busy_ns: boxes.filter((box) => box.depth === 0).reduce((sum, box) => sum + box.duration, 0), unit,
});

const BASE_NAMES = [
  'ProfilerStep#0', 'train_step', 'aten::linear', 'aten::addmm', 'cudaLaunchKernel', 'sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64_warpgroupsize1x1x1_execute_segment_k_off_kernel__5x_cublas',
  'void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<float>, at::detail::Array<char*, 1> >(int, at::native::FillFunctor<float>, at::detail::Array<char*, 1>)',
  'ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)', 'Memcpy HtoD (Pinned -> Device)', 'AllReduce', 'nn.Module: Linear_0', 'python_main.py(12): step',
  '[[32, 1024], [1024, 4096], []] bf16', '64 MB, 8 ranks, Sum', 'host', 'gpu',
];

/** Boxes of one depth follow each other, as the engine lays them out; those that would overlap are left out. */
function withoutOverlaps(boxes) {
  const ends = new Map();
  return boxes.filter((box) => {
    const isFree = box.begin >= (ends.get(box.depth) ?? 0);
    if (isFree) {
      ends.set(box.depth, box.begin + box.duration);
    }
    return isFree;
  });
}

/** One rank of training: steps, host threads with operators and Python, streams, a group, counters. */
function rankOf(rank, { steps, perStep, stepNs, names, first, random }) {
  const [step, path, python, thread, compute, comm, group] = [0, 1, 2, 3, 4, 5, 6].map((i) => first + i);
  const boxes = new Map([step, path, python, thread, compute, comm, group].map((track) => [track, []]));
  const queue = [];
  const clock = [];
  const put = (track, begin, duration, depth, name, tone, more = {}) => boxes.get(track).push({ begin: Math.round(begin), duration: Math.max(1, Math.round(duration)), depth, name, tone: toneOf(tone), ...more });
  for (let i = 0; i < steps; ++i) {
    const at = i * stepNs;
    const length = stepNs * 0.96;
    put(step, at, stepNs * 0.995, 0, names.push(`ProfilerStep#${i}`) - 1, 'annotation');
    put(python, at, length, 0, 11, 'python');
    put(thread, at, length, 0, 1, 'annotation');
    let free = at + stepNs * 0.05;
    for (let k = 0; k < perStep; ++k) {
      const begin = at + (length * (k + 0.05)) / perStep;
      const op = (length / perStep) * (0.4 + 0.5 * random());
      put(python, begin, op, 1, 10, 'python');
      put(thread, begin, op, 1, 2, 'op', { detail: 12 });
      put(thread, begin + op * 0.1, op * 0.8, 2, 3, 'op', { detail: 12 });
      const launch = Math.round(begin + op * 0.4);
      put(thread, launch, op * 0.2, 3, 4, 'host');
      const kernelBegin = Math.max(free, launch + op * 0.3);
      const kernel = op * (0.3 + 0.6 * random());
      put(compute, kernelBegin, kernel, 0, k % 3 === 0 ? 6 : 5, 'compute', { detail: 12, launchTrack: thread, launchNs: launch });
      free = kernelBegin + kernel + 10;
      if (k % 8 === 0) {
        put(comm, kernelBegin, op * 2, 0, 7, 'comm', { launchTrack: thread, launchNs: launch });
        put(group, kernelBegin, op * 2.2, 0, 9, 'comm', { detail: 13 });
      }
      if (k % 4 === 0) {
        put(path, begin, launch - begin, 0, 14, 'host', { launchTrack: thread, launchNs: Math.round(begin) });
        put(path, Math.round(kernelBegin), Math.max(1, kernel), 0, 15, 'compute', { launchTrack: compute, launchNs: Math.round(kernelBegin) });
      }
      const waiting = Math.round(6 + 5 * Math.sin(k / 9) + 3 * random());
      queue.push({ begin: Math.round(begin), low: waiting, high: waiting, last: waiting });
      const megahertz = 1980 - 15 * Math.round(8 * random() * (i % 2));
      clock.push({ begin: Math.round(begin), low: megahertz, high: megahertz, last: megahertz });
    }
  }
  const of = (track) => withoutOverlaps(boxes.get(track).sort((a, b) => a.begin - b.begin || a.depth - b.depth));
  const track = (at, kind, name, parent, depths) => ({ info: infoOf(rank, kind, name, parent, depths, of(at)), boxes: of(at) });
  const counter = (name, parent, points, unit) => ({ info: { ...infoOf(rank, 'counter', name, parent, 1, [], unit), events: points.length }, points });
  return [
    track(step, 'steps', 'steps', '', 1),
    track(path, 'path', 'critical path', '', 1),
    track(python, 'thread', 'Python of thread 4211', 'python (4211)', 2),
    track(thread, 'thread', 'thread 4211', 'python (4211)', 4),
    track(compute, 'stream', 'stream 7', `GPU ${rank}`, 1),
    track(comm, 'stream', 'stream 20', `GPU ${rank}`, 1),
    track(group, 'group', 'default_pg, 8 ranks', `GPU ${rank}`, 1),
    counter('kernels waiting', `GPU ${rank}`, queue, 'count'),
    counter('SM clock', `GPU ${rank}`, clock, 'MHz'),
  ];
}

/** A training run. `perStep` operators a step make about five boxes each. */
export function training({ ranks = 1, steps = 10, perStep = 40, stepNs = 20_000_000, windowStep = null, grains = [4_096, 65_536, 1_048_576] } = {}) {
  const names = [...BASE_NAMES];
  const random = chance(7);
  const tracks = [];
  for (let rank = 0; rank < ranks; ++rank) {
    tracks.push(...rankOf(rank, { steps, perStep, stepNs, names, first: tracks.length, random }));
  }
  const window = windowStep === null ? null
    : { begin_ns: Math.round((windowStep - 0.1) * stepNs), end_ns: Math.round((windowStep + 1.1) * stepNs), why: `slowest step: ${windowStep}` };
  return documentOf({ tracks, names, tones: TONES, span: steps * stepNs, window, grains });
}

/** How many boxes of level 0 a document has. */
export const exactBoxes = (document) => document.chunks.filter(({ level }) => level === 0).reduce((sum, { boxes }) => sum + boxes, 0);
