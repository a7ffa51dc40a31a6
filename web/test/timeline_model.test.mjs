// The timeline without its picture: what is unpacked, which level is drawn, where rows lie. Each clever
// search is compared with a plain one over planted data.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { after, before, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { deflateRawSync } from 'node:zlib';

import { TONES, chance, chunkOf, documentOf, leb128, merged, pointsChunk, training, zigzag } from './timelines.mjs';

const web = resolve(import.meta.dirname, '..');
const packages = resolve(process.env.BORESCOPE_PACKAGES ?? join(web, 'node_modules'));
const MODULES = ['document', 'leb128', 'boxes', 'decode', 'levels', 'store', 'rows', 'view', 'axis', 'search', 'more', 'spots', 'intervals', 'range_sums', 'inflate', 'summaries', 'flow', 'markers', 'counters', '../flame_tree', '../inverted_tree', '../busy_strip', '../postmortem/hang_model'];
const folder = mkdtempSync(join(tmpdir(), 'borescope-timeline-'));
let timeline;

before(async () => {
  const esbuild = createRequire(join(packages, 'x.js'))('esbuild');
  const { outputFiles } = esbuild.buildSync({
    stdin: { contents: MODULES.map((name) => `export * from './${name}';`).join('\n'), resolveDir: join(web, 'src/timeline'), loader: 'ts' },
    bundle: true, write: false, format: 'esm', nodePaths: [packages],
  });
  const path = join(folder, 'timeline.mjs');
  writeFileSync(path, outputFiles[0].text);
  timeline = await import(pathToFileURL(path).href);
});
after(() => rmSync(folder, { recursive: true, force: true }));

/** Runs a generator to its end. */
function finish(work) {
  for (;;) {
    const { done, value } = work.next();
    if (done) {
      return value;
    }
  }
}

/** Boxes at chance: nested, touching, empty ones, and some that overlap others of their depth. */
function boxesAtChance(count, seed, { overlaps = true } = {}) {
  const random = chance(seed);
  const boxes = [];
  let at = 0;
  for (let i = 0; i < count; ++i) {
    at += Math.floor(random() * 2_000);
    const more = random() < 0.5 ? {} : { launchTrack: Math.floor(random() * 9), launchNs: Math.max(0, at + Math.floor((random() - 0.7) * 5_000)) };
    const duration = Math.floor(random() * (overlaps ? 4_000 : 1_000)) * (random() < 0.9 ? 1 : 0);
    boxes.push({ begin: at, duration, depth: overlaps ? Math.floor(random() * 5) : i % 3, name: Math.floor(random() * 300), tone: Math.floor(random() * 12), detail: random() < 0.3 ? Math.floor(random() * 300) : undefined, ...more });
    at += overlaps ? 0 : duration;
  }
  return boxes.sort((a, b) => a.begin - b.begin || a.depth - b.depth);
}

/** Unpacked boxes as the generator made them. */
function asList(boxes) {
  const list = [];
  for (let depth = 0; depth < timeline.depthsOf(boxes); ++depth) {
    for (let i = boxes.first[depth]; i < boxes.first[depth + 1]; ++i) {
      list.push({
        begin: boxes.begin[i], duration: boxes.end[i] - boxes.begin[i], depth, name: boxes.name[i], tone: boxes.tone[i],
        detail: boxes.detail === null || boxes.detail[i] === 0 ? undefined : boxes.detail[i] - 1,
        launchTrack: boxes.launchTrack === null || boxes.launchTrack[i] === 0 ? undefined : boxes.launchTrack[i] - 1,
        launchNs: boxes.launchTrack === null || boxes.launchTrack[i] === 0 ? undefined : boxes.launchNs[i],
        count: boxes.count?.[i], busy: boxes.busy?.[i],
      });
    }
  }
  return list.sort((a, b) => a.begin - b.begin || a.depth - b.depth);
}

const plain = ({ begin, duration, depth, name, tone, detail, launchTrack, launchNs, count, busy }) => ({ begin, duration, depth, name, tone, detail, launchTrack, launchNs, count, busy });

test('the written bytes are those of the standard', () => {
  assert.deepEqual(leb128(624485), [0xe5, 0x8e, 0x26]);
  assert.deepEqual([0, -1, 1, -2, 2].map(zigzag), [0, 1, 2, 3, 4]);
});

test('numbers up to 2^53 are read exactly, longer ones and ends refused', () => {
  const values = [0, 1, 127, 128, 300, 2 ** 31, 2 ** 32 + 1, 2 ** 49 - 1, 2 ** 53 - 1];
  const reader = new timeline.NumberReader(Uint8Array.from(values.flatMap(leb128)));
  assert.deepEqual(values.map(() => reader.next()), values);
  assert.throws(() => reader.next(), /end early/);
  assert.throws(() => new timeline.NumberReader(new Uint8Array(12).fill(255)).next(), /too large/);
  assert.deepEqual([0, 1, 2, 3, 4].map(timeline.fromZigzag), [0, -1, 1, -2, 2]);
});

test('boxes are unpacked as they were packed, exact and merged', () => {
  for (const [count, seed] of [[0, 1], [1, 2], [7, 3], [5_000, 4]]) {
    const boxes = boxesAtChance(count, seed);
    const exact = finish(timeline.decodeBoxes(chunkOf(0, 0, boxes)));
    assert.deepEqual(asList(exact).map(JSON.stringify).sort(), boxes.map((box) => plain({ ...box, count: undefined, busy: undefined })).map(JSON.stringify).sort());
    const level = merged(boxesAtChance(count, seed, { overlaps: false }), 3_000);
    const coarse = finish(timeline.decodeBoxes(chunkOf(0, 2, level)));
    const wanted = level.map((box) => plain({ ...box, detail: undefined, launchTrack: undefined, launchNs: undefined }));
    assert.deepEqual(asList(coarse).map(JSON.stringify).sort(), wanted.map(JSON.stringify).sort());
  }
});

/** Bytes that repeat themselves and bytes at chance. */
function bytesAtChance(length, random) {
  const [letters, again] = [1 + Math.floor(random() * 256), random()];
  const bytes = Buffer.alloc(length);
  for (let i = 0; i < length; ++i) {
    bytes[i] = i > 40 && random() < again ? bytes[i - 1 - Math.floor(random() * 40)] : Math.floor(random() ** 4 * letters);
  }
  return bytes;
}

test('what another library has packed is unpacked to the same bytes', () => {
  const random = chance(11);
  for (let i = 0; i < 150; ++i) { // all levels and strategies: stored, fixed and own codes
    const bytes = bytesAtChance(Math.floor(random() ** 3 * 150_000), random);
    const packed = deflateRawSync(bytes, { level: i % 10, strategy: i % 5 });
    assert.equal(Buffer.compare(Buffer.from(finish(timeline.inflated(packed, bytes.length))), bytes), 0);
    if (bytes.length > 0) {
      assert.throws(() => finish(timeline.inflated(packed, bytes.length - 1)), /more than its boxes/);
      assert.throws(() => finish(timeline.inflated(packed.subarray(0, Math.floor(packed.length / 2)), bytes.length)), /end early|damaged/);
    }
  }
});

test('damaged streams end in an error or in other bytes, never in more than is allowed', () => {
  const random = chance(12);
  for (let i = 0; i < 400; ++i) {
    const packed = deflateRawSync(bytesAtChance(2_000, random), { level: i % 10 });
    packed[Math.floor(random() * packed.length)] ^= 1 << (i % 8);
    try {
      assert.ok(finish(timeline.inflated(packed, 4_000)).length <= 4_000);
    } catch (error) {
      assert.match(error.message, /end early|damaged|more than its boxes/);
    }
  }
});

test('a packed chunk has the boxes of the plain one, and one that promises too much is no row', () => {
  const boxes = boxesAtChance(3_000, 5);
  const plainChunk = chunkOf(0, 0, boxes);
  const packed = { ...plainChunk, data: undefined, packed: deflateRawSync(Buffer.from(plainChunk.data, 'base64')).toString('base64') };
  assert.ok(packed.packed.length < plainChunk.data.length);
  assert.deepEqual(asList(finish(timeline.decodeBoxes(packed))), asList(finish(timeline.decodeBoxes(plainChunk))));
  const bomb = { track: 0, level: 0, boxes: 10, packed: deflateRawSync(Buffer.alloc(50_000_000)).toString('base64') };
  assert.throws(() => finish(timeline.decodeBoxes(bomb)), /more than its boxes/);
});

test('counters are unpacked in their unit', () => {
  const points = [{ begin: 5, low: -1.5, high: 2, last: 0.125 }, { begin: 9, low: 3, high: 4, last: 3 }];
  const read = finish(timeline.decodePoints(pointsChunk(0, 1, points)));
  assert.deepEqual([...read.begin], [5, 9]);
  assert.deepEqual([...read.low], [-1.5, 3]);
  assert.deepEqual([...read.high], [2, 4]);
  assert.deepEqual([...read.last], [0.125, 3]);
});

test('what cannot be read is an empty row, and said', () => {
  const document = training({ steps: 2, perStep: 4 });
  const [chunk] = document.chunks.filter(({ track, level }) => track === 3 && level === 0);
  for (const bad of [{ data: chunk.data.slice(0, 40) }, { boxes: 1e9 }, { data: '****' }, { boxes: -1 }]) {
    const broken = { ...document, chunks: document.chunks.map((one) => (one === chunk ? { ...chunk, ...bad } : one)) };
    const store = new timeline.Store(broken);
    const piece = store.pieces.find(({ grain }) => grain === 0);
    assert.equal(store.boxes(3, piece).length, 0);
    assert.notEqual(store.problem, '');
    assert.ok(store.boxes(4, piece).length > 0);
  }
});

test('a document of another version, or none, is no timeline', () => {
  for (const text of [null, '', 'null', '@@mark@@', '[]', '7', JSON.stringify({ ...training(), version: 2 }), JSON.stringify({ version: 1 })]) {
    assert.equal(timeline.readTimeline(text), null);
  }
  assert.notEqual(timeline.readTimeline(JSON.stringify(training({ steps: 1, perStep: 1 }))), null);
});

test('boxes of a stretch and at a time are those that a plain search finds', () => {
  const boxes = finish(timeline.decodeBoxes(chunkOf(0, 0, boxesAtChance(800, 11))));
  const random = chance(5);
  const last = Math.max(...boxes.end);
  for (let round = 0; round < 300; ++round) {
    const depth = Math.floor(random() * 6);
    const begin = Math.floor(random() * last);
    const end = begin + Math.floor(random() * 20_000);
    const own = [...boxes.begin.keys()].filter((i) => i >= (boxes.first[depth] ?? Infinity) && i < (boxes.first[depth + 1] ?? 0));
    const wanted = own.filter((i) => boxes.begin[i] <= end && boxes.end[i] > begin);
    const [first, stop] = timeline.overlapping(boxes, depth, begin, end);
    assert.ok(wanted.every((i) => i >= first && i < stop));
    assert.ok(own.filter((i) => i >= first && i < stop).every((i) => boxes.begin[i] <= end));
    const at = timeline.boxAt(boxes, depth, begin, 50);
    const away = (i) => Math.max(boxes.begin[i] - begin, begin - boxes.end[i], 0);
    const nearest = Math.min(Infinity, ...own.map(away));
    assert.equal(at < 0 ? true : own.includes(at), true);
    assert.equal(at < 0, nearest > 50);
    assert.equal(at < 0 ? nearest > 50 : away(at) === nearest, true);
  }
});

test('the stack of a box holds every box around it', () => {
  const boxes = finish(timeline.decodeBoxes(chunkOf(0, 0, [
    { begin: 0, duration: 100, depth: 0, name: 0, tone: 0 }, { begin: 0, duration: 50, depth: 1, name: 1, tone: 0 },
    { begin: 50, duration: 50, depth: 1, name: 2, tone: 0 }, { begin: 60, duration: 10, depth: 2, name: 3, tone: 0 },
  ])));
  const deepest = [...boxes.name].indexOf(3);
  assert.deepEqual(timeline.enclosing(boxes, deepest).map((i) => boxes.name[i]), [0, 2]);
  assert.equal(timeline.depthOf(boxes, deepest), 2);
});

/** The piece that is best at a time: the coarsest that is fine enough, else the finest. */
function bestAt(pieces, ns, nsPerPixel) {
  const there = pieces.filter(({ begin, end }) => ns > begin && ns < end);
  const fine = there.filter(({ grain }) => grain <= nsPerPixel * timeline.MOST_GRAIN_PX).map(({ grain }) => grain);
  return fine.length > 0 ? Math.max(...fine) : Math.min(...there.map(({ grain }) => grain));
}

test('every time is drawn once, from the level that fits the zoom', () => {
  const whole = { source: 0, begin: 0, end: 1e9 };
  const pieces = [
    { ...whole, level: 2, grain: 1e5 }, { ...whole, level: 3, grain: 4e5 }, { ...whole, level: 4, grain: 1.6e6 },
    { source: 0, level: 0, grain: 0, begin: 3e8, end: 4e8 }, { source: 0, level: 1, grain: 2.5e4, begin: 2e8, end: 5e8 },
    { source: 1, level: 0, grain: 0, begin: 7e8, end: 7.5e8 },
  ];
  const random = chance(3);
  for (let round = 0; round < 300; ++round) {
    const begin = random() * 9e8;
    const end = Math.min(1e9, begin + 10 ** (3 + 6 * random()));
    const nsPerPixel = (end - begin) / 1000;
    const stretches = timeline.plan(pieces, begin, end, nsPerPixel);
    assert.equal(stretches[0].begin, begin);
    assert.equal(stretches.at(-1).end, end);
    stretches.slice(1).forEach((stretch, i) => assert.equal(stretch.begin, stretches[i].end));
    for (const { begin: from, end: to, piece } of stretches) {
      assert.ok(from >= piece.begin && to <= piece.end);
      assert.equal(piece.grain, bestAt(pieces, (from + to) / 2, nsPerPixel));
    }
  }
});

test('no more boxes are drawn a pixel and depth than two grains hold', () => {
  const document = training({ steps: 20, perStep: 100, grains: [4 ** 6, 4 ** 7, 4 ** 8, 4 ** 9, 4 ** 10, 4 ** 11, 4 ** 12] });
  const store = new timeline.Store(document);
  for (const width of [300, 1000]) {
    for (const stretch of timeline.plan(store.pieces, 0, document.span_ns, document.span_ns / width)) {
      const boxes = store.boxes(3, stretch.piece);
      const deepest = Math.max(...[0, 1, 2, 3].map((depth) => boxes.first[depth + 1] - boxes.first[depth]));
      assert.ok(deepest <= 4 * width, `${deepest} boxes on ${width} pixels`);
    }
  }
});

test('rows lie one below the other, and folded groups hide theirs', () => {
  const { tracks } = training({ ranks: 3, steps: 1, perStep: 2 });
  const all = timeline.layOut(tracks, new Set());
  all.rows.slice(1).forEach((row, i) => assert.equal(row.y, all.rows[i].y + all.rows[i].height));
  assert.equal(all.height, all.rows.at(-1).y + all.rows.at(-1).height);
  assert.equal(all.byTrack.size, tracks.length);
  assert.deepEqual(all.rows.filter(({ kind }) => kind === 'group').map(({ label }) => label),
    [0, 1, 2].flatMap((rank) => [`rank ${rank}`, `GPU ${rank}`, 'python (4211)']));
  const thread = all.byTrack.get(3);
  assert.equal(thread.lines, tracks[3].depths);

  const folded = timeline.layOut(tracks, new Set(['rank 1', '0/GPU 0', timeline.trackKey(3)]));
  assert.deepEqual([...folded.byTrack.keys()].sort((a, b) => a - b), [0, 1, 2, 3, ...Array.from({ length: 9 }, (_, i) => 18 + i)]);
  assert.equal(folded.byTrack.get(3).lines, 1);
  const group = folded.rows.find(({ key }) => key === '0/GPU 0');
  assert.equal(timeline.anchorOf(folded, tracks, 4, 0), group.y + group.height / 2);
  assert.equal(timeline.anchorOf(folded, tracks, 999, 0), null);
});

test('rows of one process or device are together, whatever is listed between them', () => {
  const track = (rank, parent, name) => ({ rank, kind: 'stream', name, parent, depths: 1, events: 1, busy_ns: 1, unit: '' });
  const tracks = [track(0, '', 'steps'), track(0, 'GPU 0', 'a'), track(0, '', 'group'), track(0, 'GPU 0', 'b'), track(1, 'GPU 0', 'c')];
  const { rows } = timeline.layOut(tracks, new Set());
  assert.deepEqual(rows.map(({ label }) => label), ['rank 0', 'steps', 'GPU 0', 'a', 'b', 'group', 'rank 1', 'GPU 0', 'c']);
  assert.equal(new Set(rows.map(({ key }) => key)).size, rows.length);
});

test('a track is drawn from the levels of its rank that it has', () => {
  const info = { kind: 'stream', name: 's', parent: '', depths: 1, events: 1, busy_ns: 5, unit: '' };
  const box = { begin: 10, duration: 5, depth: 0, name: 0, tone: 0 };
  const document = documentOf({ tracks: [0, 0, 1].map((rank, i) => ({ info: { ...info, rank, name: `s${i}` }, boxes: [box] })), names: ['a'], tones: ['compute'], span: 100, grains: [4, 16] });
  document.levels = [
    { rank: 0, level: 0, grain_ns: 0, begin_ns: 0, end_ns: 50 }, { rank: 0, level: 2, grain_ns: 16, begin_ns: 0, end_ns: 100 },
    { rank: 1, level: 1, grain_ns: 4, begin_ns: 0, end_ns: 100 },
  ];
  document.chunks = document.chunks.filter(({ track, level }) => !(track === 1 && level === 0));
  const store = new timeline.Store(document);
  const levels = (track) => timeline.plan(store.piecesOf(track), 0, 100, 0.01).map(({ begin, end, piece }) => [begin, end, piece.level]);
  assert.deepEqual(levels(0), [[0, 50, 0], [50, 100, 2]]);
  assert.deepEqual(levels(1), [[0, 100, 2]]);
  assert.deepEqual(levels(2), [[0, 100, 1]]);
});

test('windows that touch are one piece, as they share their boxes', () => {
  const piece = (begin, end, more = {}) => ({ source: 0, level: 0, grain: 0, begin, end, rank: 0, depths: undefined, ...more });
  const level = piece(0, 100, { level: 3, grain: 64 });
  const found = timeline.unitedPieces([piece(50, 60), piece(0, 20), level, piece(10, 30), piece(55, 58), piece(0, 90, { rank: 1 })]);
  assert.deepEqual(found.map(({ begin, end, rank, level: at }) => [at, rank, begin, end]).sort((a, b) => a[0] - b[0] || a[1] - b[1] || a[2] - b[2]), [[0, 0, 0, 30], [0, 0, 50, 60], [0, 1, 0, 90], [3, 0, 0, 100]]);
});

test('many ranks are folded at first, each to its work and its communication', () => {
  const { tracks } = training({ ranks: 4, steps: 1, perStep: 9 });
  assert.deepEqual([...timeline.firstFolds(tracks)], ['rank 0', 'rank 1', 'rank 2', 'rank 3']);
  assert.equal(timeline.firstFolds(training({ ranks: 2, steps: 1, perStep: 1 }).tracks).size, 0);
  const { rows, height } = timeline.layOut(tracks, timeline.firstFolds(tracks));
  assert.deepEqual(rows.map(({ label }) => label), ['rank 0', 'rank 1', 'rank 2', 'rank 3']);
  assert.ok(height < 200); // all are seen at once
  for (const [rank, { summary, lines }] of rows.entries()) {
    assert.equal(lines, 2);
    assert.deepEqual(summary.map(({ part }) => part), ['work', 'communication']);
    assert.ok(summary.every((line) => line.tracks.every((track) => tracks[track].rank === rank && tracks[track].kind === 'stream')));
  }
});

test('the lines of a folded rank have each box of its streams once', () => {
  const document = training({ ranks: 1, steps: 2, perStep: 30 });
  const store = new timeline.Store(document);
  const piece = store.pieces.find(({ grain }) => grain === 0);
  const lines = timeline.summaryOf(document.tracks, [...document.tracks.keys()], new Set([0]));
  let drawn = 0;
  for (const { part, tracks } of lines) {
    for (const track of tracks) {
      const boxes = store.boxes(track, piece);
      const keeps = timeline.partOf(part, document.tracks[track], document.tones);
      for (let i = 0; i < boxes.length; ++i) {
        assert.equal(keeps(boxes, i), (document.tones[boxes.tone[i]] === 'comm') === (part === 'communication'));
        drawn += Number(keeps(boxes, i));
      }
    }
  }
  assert.equal(drawn, document.tracks.filter(({ kind }) => kind === 'stream').reduce((sum, { events }) => sum + events, 0));
});

test('the rows of 512 ranks are laid out at once, folded and unfolded', () => {
  const info = (rank, kind, name, parent, unit = '') => ({ rank, kind, name, parent, depths: 1, events: 1, busy_ns: 1, unit });
  const tracks = Array.from({ length: 512 }, (_, rank) => [
    info(rank, 'steps', 'steps', ''), info(rank, 'thread', 'thread 1', 'python'),
    ...[7, 8, 9, 10].map((stream) => info(rank, 'stream', `stream ${stream}`, 'GPU')),
    ...[7, 8, 9, 10].map((stream) => info(rank, 'counter', `queue of stream ${stream}`, 'GPU', 'launches')),
    info(rank, 'group', 'default_pg', 'GPU'),
  ]).flat();
  const reads = { of: 0 }; // of kinds: each pass over all tracks has one for each of them
  const counted = tracks.map((track) => Object.defineProperty({ ...track }, 'kind', { get: () => { reads.of += 1; return track.kind; }, enumerable: true }));
  for (const folds of [timeline.firstFolds(tracks), new Set()]) {
    reads.of = 0;
    const { rows } = timeline.layOut(counted, folds);
    assert.equal(rows.length, folds.size > 0 ? 512 : tracks.length + 512 * 4); // headings: rank, process, device, queues
    assert.ok(reads.of < 40 * tracks.length, `${reads.of} of ${tracks.length}`);
  }
});

test('counters of a folded row share one scale', () => {
  const info = (name) => ({ rank: 0, kind: 'counter', name, parent: 'GPU 0', depths: 1, events: 2, busy_ns: 0, unit: 'launches' });
  const points = (...values) => values.map((value, i) => ({ begin: 10 * i, low: value, high: value, last: value }));
  const tracks = [{ info: info('a'), points: points(1, 4) }, { info: info('b'), points: points(900, -3) }, { info: info('c'), points: [] }];
  const store = new timeline.Store(documentOf({ tracks, names: [], tones: TONES, span: 100 }));
  assert.deepEqual([0, 1, 2].map((track) => timeline.extent(store, track)), [[0, 4], [-3, 900], [0, 0]]);
  assert.deepEqual(timeline.sharedExtent(store, [0, 1, 2]), [-3, 900]);
  assert.deepEqual(timeline.sharedExtent(store, [0, 2]), [0, 4]);
});

test('the strip has every step once, also where exact events are those of a window only', () => {
  for (const windowStep of [null, 0, 3, 7]) {
    const document = training({ ranks: 2, steps: 8, perStep: 12, windowStep });
    const strip = timeline.busyStrip(new timeline.Store(document), document.span_ns, 64);
    assert.deepEqual(strip.steps.map(({ name }) => name), Array.from({ length: 8 }, (_, i) => `ProfilerStep#${i}`));
    assert.deepEqual([strip.stepCount, strip.areStepsMerged], [8, false]);
    strip.steps.slice(1).forEach(({ begin }, i) => assert.ok(begin >= strip.steps[i].end));
    assert.equal(strip.devices, 2);
  }
});

test('steps within merged boxes are counted, about right at the edges of a window', () => {
  const info = (kind, name) => ({ rank: 0, kind, name, parent: kind === 'stream' ? 'GPU 0' : '', depths: 1, events: 40, busy_ns: 0, unit: '' });
  const boxes = Array.from({ length: 40 }, (_, i) => ({ begin: 100 * i, duration: 90, depth: 0, name: 0, tone: 0 }));
  const tracks = [{ info: info('steps', 'steps'), boxes }, { info: info('stream', 'stream 7'), boxes }];
  const document = documentOf({ tracks, names: ['step'], tones: TONES, span: 4_000, window: { begin_ns: 0, end_ns: 350, why: '' }, grains: [400] });
  const strip = timeline.busyStrip(new timeline.Store(document), 4_000, 40);
  assert.equal(strip.steps.slice(0, 4).every(({ begin, end }, i) => begin === 100 * i && end === begin + 90), true);
  assert.ok(strip.steps.length < 20);
  assert.ok(strip.areStepsMerged && Math.abs(strip.stepCount - 40) <= 4, `${strip.stepCount}`); // a merged box has five
});

test('queues fold into one row below the streams of their device; one alone is a row', () => {
  const track = (kind, name, parent, unit = '') => ({ rank: 0, kind, name, parent, depths: 1, events: 1, busy_ns: 1, unit });
  const queue = (name) => track('counter', name, 'GPU 0', 'launches');
  const tracks = [track('stream', 'stream 7', 'GPU 0'), track('stream', 'stream 8', 'GPU 0'), queue('queue of stream 7'), queue('queue of stream 8'), track('counter', 'memory', 'GPU 0', 'bytes')];
  const folds = timeline.firstFolds(tracks);
  const folded = timeline.layOut(tracks, folds);
  assert.deepEqual(folded.rows.map(({ label }) => label), ['GPU 0', 'stream 7', 'stream 8', 'queues of 2 streams', 'memory']);
  assert.deepEqual(folded.rows[3].summary, [{ part: 'counters', tracks: [2, 3] }]);
  timeline.keysAround(tracks[2]).forEach((key) => folds.delete(key));
  assert.deepEqual(timeline.layOut(tracks, folds).rows.map(({ label }) => label), ['GPU 0', 'stream 7', 'stream 8', 'queues of 2 streams', 'queue of stream 7', 'queue of stream 8', 'memory']);
  const alone = tracks.filter((_, i) => i !== 3);
  assert.deepEqual(timeline.layOut(alone, timeline.firstFolds(alone)).rows.map(({ label }) => label), ['GPU 0', 'stream 7', 'stream 8', 'queue of stream 7', 'memory']);
});

test('pinned rows come first and stay where they are, whatever is scrolled or folded', () => {
  const { tracks } = training({ ranks: 2, steps: 1, perStep: 2 });
  const layout = timeline.layOut(tracks, new Set(['rank 1']), new Set([13, 4]));
  assert.deepEqual(layout.rows.slice(0, 2).map(({ label, isPinned }) => [label, isPinned]), [['rank 1 · GPU 1 · stream 7', true], ['rank 0 · GPU 0 · stream 7', true]]);
  assert.equal(layout.pinned, layout.rows[1].y + layout.rows[1].height);
  layout.rows.slice(1).forEach((row, i) => assert.equal(row.y, layout.rows[i].y + layout.rows[i].height));
  assert.equal(layout.rows.filter(({ track }) => track === 4).length, 1);
  for (const top of [0, 50, 130]) {
    assert.equal(timeline.rowAt(layout, 5, top), layout.rows[0]);
    const below = timeline.rowAt(layout, layout.pinned + 1, top);
    assert.ok(!below.isPinned && below.y <= layout.pinned + 1 + top && below.y + below.height > layout.pinned + 1 + top);
    assert.deepEqual(timeline.rowsBetween(layout, top, top + 300).slice(-2), layout.rows.slice(0, 2));
    assert.equal(timeline.anchorOf(layout, tracks, 13, 0, top), timeline.lineTop(layout.rows[0], 0) + 8);
  }
});

test('a host event leads to all that it launched, a kernel to the path through it', () => {
  const document = training({ steps: 2, perStep: 10 });
  const store = new timeline.Store(document);
  const piece = store.pieces.find(({ grain }) => grain === 0);
  const [thread, stream] = [3, 4].map((track) => ({ track, piece, boxes: store.boxes(track, piece) }));
  const outer = { ...thread, index: 0 }; // around the first step
  const titles = (spot) => timeline.flowOf(store, spot).map(({ title }) => title);
  const [launches] = timeline.flowOf(store, outer);
  const wanted = [4, 5].flatMap((track) => {
    const boxes = store.boxes(track, piece);
    return [...boxes.launchNs.keys()].filter((i) => boxes.launchTrack[i] === 4 && boxes.launchNs[i] <= thread.boxes.end[0]);
  });
  assert.equal(launches.title, 'Launches');
  assert.equal(launches.spots.length + launches.more, wanted.length);
  assert.deepEqual(titles({ ...stream, index: 0 }), ['On the critical path']);
  assert.deepEqual(titles({ ...stream, index: 1 }), []);
  const next = timeline.besideOnLine({ ...stream, index: 0 }, 1);
  assert.equal(next.apart, stream.boxes.begin[1] - stream.boxes.end[0]);
  assert.equal(timeline.besideOnLine({ ...stream, index: 0 }, -1), null);
});

test('all launches of a host event are counted, however many, and those on streams only', () => {
  const document = training({ steps: 1, perStep: 700 });
  const store = new timeline.Store(document);
  const piece = store.pieces.find(({ grain }) => grain === 0);
  const outer = { track: 3, piece, boxes: store.boxes(3, piece), index: 0 };
  const launched = [4, 5].map((track) => store.boxes(track, piece).length);
  const [launches] = timeline.flowOf(store, outer);
  assert.ok(launched[0] > 400);
  assert.equal(launches.spots.length + launches.more, launched[0] + launched[1]);
  const begins = launches.spots.map(({ boxes, index }) => boxes.begin[index]);
  assert.deepEqual(begins, [4, 5].flatMap((track) => [...store.boxes(track, piece).begin]).sort((a, b) => a - b).slice(0, begins.length));
});

test('the critical path is of the innermost of the events that begin at one time', () => {
  const info = (kind, name, depths) => ({ rank: 0, kind, name, parent: '', depths, events: 1, busy_ns: 1, unit: '' });
  const box = (depth, duration) => ({ begin: 100, duration, depth, name: depth, tone: 1 });
  const tracks = [
    { info: info('path', 'critical path', 1), boxes: [{ begin: 100, duration: 10, depth: 0, name: 3, tone: 1, launchTrack: 1, launchNs: 100 }] },
    { info: info('thread', 'thread 1', 3), boxes: [box(0, 300), box(1, 200), box(2, 50)] },
  ];
  const store = new timeline.Store(documentOf({ tracks, names: ['step', 'outer', 'inner', 'host'], tones: TONES, span: 1_000 }));
  const piece = store.pieces.find(({ grain }) => grain === 0);
  const boxes = store.boxes(1, piece);
  const titles = [0, 1, 2].map((depth) => timeline.flowOf(store, { track: 1, piece, boxes, index: boxes.first[depth] }).map(({ title }) => title));
  assert.deepEqual(titles, [[], [], ['On the critical path']]);
});

test('the longest marker is one event wherever one is known', () => {
  const info = { rank: 0, kind: 'thread', name: 'thread 1', parent: '', depths: 1, events: 5, busy_ns: 1, unit: '' };
  const tone = TONES.indexOf('annotation');
  const box = (begin, duration, name) => ({ begin, duration, depth: 0, name, tone });
  const boxes = [box(0, 30, 0), box(40, 30, 0), box(80, 30, 0), box(600, 20, 0), box(800, 5, 1), box(810, 5, 1)];
  const longestIn = (window) => {
    const document = documentOf({ tracks: [{ info, boxes }], names: ['forward', 'tiny'], tones: TONES, span: 1_000, window, grains: [100] });
    return finish(timeline.markersOf(new timeline.Store(document), 1_000)).map(({ count, longest: { boxes: own, index } }) => [count, own.end[index] - own.begin[index], own.count?.[index] ?? 1]);
  };
  assert.deepEqual(longestIn(null), [[4, 30, 1], [2, 5, 1]]);
  // The first three are merged, 110 ns from end to end: the only one that is known alone is the exact one.
  assert.deepEqual(longestIn({ begin_ns: 500, end_ns: 700, why: '' }), [[4, 20, 1], [2, 15, 2]]);
});

test('equal ranks are one line only if as many wait for each of them', () => {
  const column = (name, values) => ({ name, type: 'string', unit: '', doc: '', values });
  const everyone = Array.from({ length: 100 }, (_, rank) => rank);
  const waitsFor = everyone.map((rank) => (rank < 5 ? '98,99' : rank === 5 ? '98' : ''));
  const ranks = { name: 'hang_ranks', columns: [column('rank', everyone), column('dump', everyone.map(() => true)), column('waits_for', waitsFor)] };
  const { lines } = timeline.matrixOf({ ranks });
  assert.deepEqual(lines.map(({ ranks: own, waiters }) => [own.length, waiters]), [[1, 6], [1, 5], [98, 0]]);
});

test('markers are those that a plain count finds, also where they are merged', () => {
  for (const windowStep of [null, 3]) {
    const document = training({ steps: 8, perStep: 12, windowStep });
    const sums = finish(timeline.markersOf(new timeline.Store(document), document.span_ns));
    const [step] = sums;
    assert.equal(document.names[step.name], 'train_step');
    assert.equal(step.count, 8);
    assert.equal(sums.length, 1);
    const whole = training({ steps: 8, perStep: 12 });
    const boxes = new timeline.Store(whole).boxes(3, { source: 0, level: 0 });
    let ns = 0;
    boxes.name.forEach((name, i) => { ns += whole.names[name] === 'train_step' ? boxes.end[i] - boxes.begin[i] : 0; });
    assert.equal(step.ns, ns);
  }
});

test('the inverted tree has the time of each kernel under each of its callers', () => {
  const frames = [['aten::mm', 'op', 0, 10], ['gemm', 'kernel', 1, 10], ['step', 'annotation', 0, 30], ['aten::mm', 'op', 1, 20], ['gemm', 'kernel', 2, 15], ['copy', 'memcpy', 2, 5], ['gemm', 'kernel', 1, 10]];
  const column = (name, at) => ({ name, type: 'int', unit: '', doc: '', values: frames.map((frame) => frame[at]) });
  const table = { name: 'flame', columns: [column('name', 0), column('kind', 1), column('depth', 2), column('device_ns', 3)] };
  const all = timeline.invertedOf(timeline.treeOf(table, 'device_ns', 'this'), () => 1);
  const asText = (caller) => `${caller.name} ${caller.mine}${caller.callers.size === 0 ? '' : ` (${timeline.sortedCallers(caller).map(asText).join(', ')})`}`;
  assert.equal(asText(all), 'all 40 (gemm 35 (aten::mm 25 (step 15), step 10), copy 5 (aten::mm 5 (step 5)))');
  assert.equal(all.works, 4);
});

test('a stack of any depth has a bounded number of callers', () => {
  const deep = 400;
  const column = (name, values) => ({ name, type: 'int', unit: '', doc: '', values });
  const depths = Array.from({ length: deep }, (_, i) => i);
  const table = { name: 'flame', columns: [
    column('name', depths.map((i) => `f${i}`)), column('kind', depths.map((i) => (i === deep - 1 ? 'kernel' : 'op'))), column('depth', depths), column('device_ns', depths.map(() => 7)),
  ] };
  let [at, callers] = [timeline.sortedCallers(timeline.invertedOf(timeline.treeOf(table, 'device_ns', 'this'), () => 1))[0], 0];
  for (; at.callers.size > 0; [at] = timeline.sortedCallers(at)) {
    callers += 1;
  }
  assert.equal(callers, timeline.MOST_DEEP);
});

test('ticks are round, distinct and as many as there is room for', () => {
  for (let power = 2; power < 13; power += 0.37) {
    for (const begin of [0, 1_234_567_891, 98_765_432_123_456]) {
      const end = begin + 10 ** power;
      const { ticks, step, origin } = timeline.ticksOf(begin, end, 8);
      assert.ok(ticks.length >= 2 && ticks.length <= 10, `${ticks.length} of ${power}`);
      assert.equal(new Set(ticks.map(({ label }) => label)).size, ticks.length);
      assert.match(String(step).replace(/0+$/, '').replace('e+', ''), /^[125]/);
      assert.ok(ticks.every(({ ns }) => ns >= begin && ns <= end));
      assert.ok(ticks.every(({ label }) => label.length < 14), ticks[0].label);
      assert.ok(origin <= begin);
    }
  }
  assert.equal(timeline.exactTime(1_234_567), '1.234567\u00a0ms');
  assert.equal(timeline.exactTime(5_000_000_000), '5\u00a0s');
  assert.equal(timeline.exactTime(100), '100\u00a0ns');
});

test('a zoom keeps the time under the pointer, and no view leaves the recording', () => {
  const random = chance(8);
  let view = { begin: 0, end: 1e9 };
  for (let round = 0; round < 500; ++round) {
    const ns = view.begin + random() * (view.end - view.begin);
    const share = (ns - view.begin) / (view.end - view.begin);
    const next = timeline.zoomed(view, ns, Math.exp(random() - 0.6), 1e9);
    assert.ok(next.begin >= 0 && next.end <= 1e9 && next.end - next.begin >= 50 - 1e-3);
    if (next.begin > 0 && next.end < 1e9) {
      assert.ok(Math.abs((ns - next.begin) / (next.end - next.begin) - share) < 1e-4);
    }
    view = timeline.moved(next, random() - 0.5, 1e9);
    assert.ok(view.begin >= 0 && view.end <= 1e9);
  }
});

test('what a server is asked for holds the view, and stays the same for a small move', () => {
  const wanted = timeline.wantedStretch(1_000_000, 1_900_000, 1000, 1e9);
  assert.ok(wanted.begin <= 1_000_000 && wanted.end >= 1_900_000);
  assert.equal(Math.log(wanted.grain) / Math.log(4) % 1, 0);
  assert.ok(wanted.grain <= 900 * timeline.MOST_GRAIN_PX);
  assert.deepEqual(timeline.wantedStretch(1_000_500, 1_900_500, 1000, 1e9), wanted);
  assert.equal(timeline.wantedStretch(1_000, 2_000, 1000, 1e9).grain, 0);
});

test('finer detail has the names and tracks of the page whatever its own numbers are', () => {
  const info = { rank: 0, kind: 'stream', name: 'stream 7', parent: 'GPU 0', depths: 1, events: 1, busy_ns: 5, unit: '' };
  const other = { ...info, name: 'stream 8' };
  const box = { begin: 10, duration: 5, depth: 0, name: 0, tone: 0, detail: 1, launchTrack: 0, launchNs: 3 };
  const page = documentOf({ tracks: [{ info, boxes: [box] }, { info: other, boxes: [] }], names: ['gemm', 'shape'], tones: ['compute'], span: 100, grains: [16] });
  const finer = documentOf({ tracks: [{ info: other, boxes: [box] }, { info, boxes: [{ ...box, name: 2, tone: 1 }] }], names: ['relu', 'big', 'gemm'], tones: ['comm', 'compute'], span: 100 });
  const store = new timeline.Store(page);
  store.add(finer);
  const piece = store.pieces.find(({ source }) => source === 1);
  const [first, second] = [0, 1].map((track) => store.boxes(track, piece));
  assert.equal(store.name(first.name[0]), 'gemm');
  assert.equal(store.tones[first.tone[0]], 'compute');
  assert.equal(store.name(second.name[0]), 'relu');
  assert.equal(store.tones[second.tone[0]], 'comm');
  assert.equal(store.name(second.detail[0] - 1), 'big');
  assert.equal(second.launchTrack[0], 2); // its track 0 is track 1 of the page
  store.remove(1);
  assert.equal(store.pieces.some(({ source }) => source === 1), false);
});

test('a search counts each event once, inside and outside of the exact window', async () => {
  const document = training({ steps: 12, perStep: 30, windowStep: 6, grains: [4] }); // a grain below all durations
  const store = new timeline.Store(document);
  const planted = training({ steps: 12, perStep: 30, grains: [] });
  const names = planted.names.map((name) => name.includes('AllReduce'));
  const wanted = planted.chunks.filter(({ track }) => planted.tracks[track].kind !== 'counter')
    .reduce((sum, chunk) => sum + [...finish(timeline.decodeBoxes(chunk)).name].filter((name) => names[name]).length, 0);
  globalThis.window = globalThis;
  const found = await new Promise((done) => {
    timeline.search(store, document.span_ns, 'allreduce', (now) => now.isComplete && done(now));
  });
  assert.equal(found.events, wanted);
  assert.equal(found.hits.length, wanted);
  const begins = found.hits.map(({ boxes, index }) => boxes.begin[index]);
  assert.deepEqual(begins, [...begins].sort((a, b) => a - b));
  assert.equal(timeline.nextHit(found.hits, begins[0], 1), found.hits.find((_, i) => begins[i] > begins[0]));
});

test('a kernel leads to its launch, and names to the next of them', () => {
  const document = training({ steps: 3, perStep: 20 });
  const store = new timeline.Store(document);
  const piece = store.pieces.find(({ grain }) => grain === 0);
  const boxes = store.boxes(4, piece);
  for (let index = 0; index < boxes.length; ++index) {
    const launch = timeline.launchOf(store, { track: 4, piece, boxes, index });
    assert.equal(store.name(launch.boxes.name[launch.index]), 'cudaLaunchKernel');
    assert.equal(launch.boxes.begin[launch.index], boxes.launchNs[index]);
    assert.deepEqual(timeline.stackOf(launch).map(({ index: i }) => store.name(launch.boxes.name[i])), ['train_step', 'aten::linear', 'aten::addmm', 'cudaLaunchKernel']);
  }
  const next = timeline.sameName({ track: 4, piece, boxes, index: 0 }, 1);
  assert.equal(next.index, 3);
  assert.equal(timeline.sameName(next, -1).index, 0);
  assert.equal(timeline.sameName({ track: 4, piece, boxes, index: 0 }, -1), null);
  assert.ok(TONES.length > 0);
});

/** What a search of a document finds. */
function foundIn(document, text) {
  globalThis.window = globalThis;
  return new Promise((done) => {
    timeline.search(new timeline.Store(document), document.span_ns, text, (now) => now.isComplete && done(now));
  });
}

test('a whole name finds the one that the document has without its middle', () => {
  const whole = `void ${'kernel_of_a_long_name_'.repeat(8)}<float>(int, float*)`;
  const cut = `${whole.slice(0, 71)}…${whole.slice(-48)}`;
  const found = (text, ...names) => [...timeline.matchingNames(names, text)];
  assert.deepEqual(found(whole, cut, 'gemm', '…', `void …${whole.slice(-3)}`), [1, 0, 0, 0]);
  assert.deepEqual(found(whole.toUpperCase(), cut), [1]);
  assert.deepEqual(found(whole.replace('float*', 'double'), cut), [0]);
  assert.deepEqual(found('KERNEL_OF', cut, 'gemm'), [1, 0]);
});

test('a search finds events and not the critical path, which shows some of them again; steps where there is nothing else', async () => {
  const document = training({ steps: 4, perStep: 20 });
  const path = document.tracks.findIndex(({ kind }) => kind === 'path');
  document.chunks = document.chunks.map((chunk) => (chunk.track === path && chunk.level === 0 ? { ...document.chunks.find(({ track, level }) => track === 4 && level === 0), track: path } : chunk));
  const kinds = async (text) => [...new Set((await foundIn(document, text)).hits.map(({ track }) => document.tracks[track].kind))];
  assert.deepEqual(await kinds('FillFunctor'), ['stream']);
  assert.deepEqual(await kinds('ProfilerStep#2'), ['steps']);
});

// ---- Sums over a range ----

/** The sums of a range, worked out box by box from level 0. */
function plainSums(store, { begin, end }) {
  const sums = { kernels: new Map(), host: new Map(), operators: new Map(), streams: new Map(), devices: new Map(), launches: 0 };
  const add = (map, name, ns) => map.set(name, (map.get(name) ?? 0) + ns);
  const listOf = (track) => store.piecesOf(track).filter((piece) => piece.grain === 0).flatMap((piece) => asList(store.boxes(track, piece))).map((box) => ({ ...box, end: box.begin + box.duration }));
  const part = (box) => Math.max(0, Math.min(box.end, end) - Math.max(box.begin, begin));
  store.tracks.forEach((info, track) => {
    const seen = info.kind === 'stream' || info.kind === 'thread' ? listOf(track).filter((box) => box.begin <= end && box.end >= begin) : [];
    for (const box of seen) {
      const name = store.name(box.name);
      if (info.kind === 'stream') {
        add(sums.kernels, name, part(box));
        const around = box.launchTrack !== undefined ? listOf(box.launchTrack).filter((one) => one.begin <= box.launchNs && one.end >= box.launchNs && store.tones[one.tone] === 'op') : [];
        const inner = around.sort((a, b) => b.depth - a.depth)[0];
        add(sums.operators, inner === undefined ? null : store.name(inner.name), part(box));
      } else {
        const inside = seen.filter((one) => one.depth === box.depth + 1 && one.begin >= box.begin && one.end <= box.end);
        add(sums.host, name, part(box) - inside.reduce((all, one) => all + part(one), 0));
        sums.launches += store.tones[box.tone] === 'host' && /launch/i.test(name) && box.begin >= begin && box.begin < end ? 1 : 0;
      }
    }
    if (info.kind === 'stream' && seen.length > 0) {
      const key = `${info.rank}/${info.parent}`;
      sums.streams.set(track, covered(seen, begin, end));
      sums.devices.set(key, [...(sums.devices.get(key) ?? []), ...seen]);
    }
  });
  sums.devices.forEach((boxes, key) => sums.devices.set(key, covered(boxes, begin, end)));
  return sums;
}

/** How long any of the boxes lasts, counted between all moments at which one begins or ends. */
function covered(boxes, begin, end) {
  const moments = [...new Set([begin, end, ...boxes.flatMap((box) => [box.begin, box.end])])].filter((ns) => ns >= begin && ns <= end).sort((a, b) => a - b);
  return moments.slice(1).reduce((all, to, i) => all + (boxes.some((box) => box.begin <= moments[i] && box.end >= to) ? to - moments[i] : 0), 0);
}

const exactly = (names) => Object.fromEntries(names.map(({ name, ns }) => [name, ns]).sort());
const asObject = (map, without = []) => Object.fromEntries([...map].filter(([name, ns]) => ns > 0 && !without.includes(name)).sort());

test('sums over a range are those of a plain count, exact where every event is there', () => {
  const random = chance(5);
  const document = training({ ranks: 2, steps: 3, perStep: 12, stepNs: 2_000_000 });
  for (let round = 0; round < 12; ++round) {
    const store = new timeline.Store(document);
    store.allow(Infinity);
    const begin = Math.floor(random() * document.span_ns * 0.9);
    const range = { begin, end: Math.min(document.span_ns, begin + 1 + Math.floor(random() * 1_500_000)) };
    const sums = finish(timeline.summing(store, range, { rank: null, stream: null }));
    const plain = plainSums(store, range);
    assert.equal(sums.grain, 0);
    assert.deepEqual(exactly(sums.kernels), asObject(plain.kernels));
    assert.deepEqual(exactly(sums.host), asObject(plain.host));
    assert.deepEqual(exactly(sums.operators), asObject(plain.operators, [null]));
    assert.equal(sums.unlinkedNs, plain.operators.get(null) ?? 0);
    assert.equal(sums.launches, plain.launches);
    sums.streams.forEach(({ track, busyNs }) => assert.equal(busyNs, plain.streams.get(track)));
    sums.devices.forEach(({ rank, name, busyNs, pause }) => {
      assert.equal(busyNs, plain.devices.get(`${rank}/${name}`));
      assert.ok(pause.length <= range.end - range.begin - busyNs);
    });
  }
});

test('sums over merged boxes are near those of all events, and say what they cannot', () => {
  const whole = training({ ranks: 1, steps: 4, perStep: 20, stepNs: 4_000_000 });
  const merged_ = training({ ranks: 1, steps: 4, perStep: 20, stepNs: 4_000_000, windowStep: 0 });
  const range = { begin: 9_000_000, end: 14_000_000 }; // outside of the window
  const [exact, about] = [whole, merged_].map((document) => {
    const store = new timeline.Store(document);
    store.allow(Infinity);
    return finish(timeline.summing(store, range, { rank: null, stream: null }));
  });
  assert.ok(about.grain > 0);
  assert.equal(about.launches, null);
  assert.deepEqual(about.operators, []);
  assert.ok(about.devices.every(({ pause }) => pause === null));
  const all = (names) => names.reduce((sum, { ns }) => sum + ns, 0);
  for (const of of ['kernels', 'host']) {
    assert.ok(Math.abs(all(about[of]) - all(exact[of])) < 0.02 * all(exact[of]), `${of}: ${all(about[of])} ${all(exact[of])}`);
  }
  assert.ok(Math.abs(about.devices[0].busyNs - exact.devices[0].busyNs) < 0.02 * exact.devices[0].busyNs);
});

test('sums are of the rank and the stream that are chosen', () => {
  const document = training({ ranks: 2, steps: 2, perStep: 8 });
  const store = new timeline.Store(document);
  store.allow(Infinity);
  const range = { begin: 0, end: document.span_ns };
  const of = (filter) => finish(timeline.summing(store, range, { rank: null, stream: null, ...filter }));
  const busy = (sums) => sums.streams.reduce((all, { busyNs }) => all + busyNs, 0);
  assert.equal(busy(of({ rank: 0 })) + busy(of({ rank: 1 })), busy(of({})));
  assert.deepEqual(new Set(of({ stream: 7 }).streams.map(({ track }) => document.tracks[track].name)), new Set(['stream 7']));
});

test('with a stream chosen its device is summed over all streams, and other devices are left out', () => {
  const document = training({ ranks: 2, steps: 2, perStep: 8 });
  const of = (stream) => {
    const store = new timeline.Store(document);
    store.allow(Infinity);
    return finish(timeline.summing(store, { begin: 0, end: document.span_ns }, { rank: 1, stream }));
  };
  const [all, one, none] = [of(null), of(7), of(8)];
  assert.equal(one.devices.length, 1);
  assert.deepEqual(one.devices, all.devices);
  assert.equal(one.streams.length, 1);
  assert.ok(one.streams[0].busyNs < one.devices[0].busyNs);
  assert.ok(one.kernels.length < all.kernels.length);
  assert.deepEqual(none.devices, []);
});

/** A thread and a stream of which the exact events are in two documents: what is launched in the first runs in the second. */
function halves() {
  const names = ['aten::mm', 'cudaLaunchKernel', 'gemm'];
  const info = (kind, name, depths) => ({ rank: 0, kind, name, parent: 'p', depths, events: 1, busy_ns: 1, unit: '' });
  const tone = (name) => TONES.indexOf(name);
  const thread = [{ begin: 100, duration: 200, depth: 0, name: 0, tone: tone('op') }, { begin: 150, duration: 20, depth: 1, name: 1, tone: tone('host') }];
  const stream = [{ begin: 700, duration: 100, depth: 0, name: 2, tone: tone('compute'), launchTrack: 0, launchNs: 150 }];
  const tracks = [{ info: info('thread', 'thread 1', 2), boxes: thread }, { info: info('stream', 'stream 7', 1), boxes: stream }];
  return [[0, 500], [500, 1000]].map(([begin_ns, end_ns]) => documentOf({ tracks, names, tones: TONES, span: 1000, window: { begin_ns, end_ns, why: '' } }));
}

test('the operator that launched is found in a document that nothing else has asked for', () => {
  const [first, second] = halves();
  const store = new timeline.Store(first);
  store.add(second);
  store.allow(Infinity);
  const sums = finish(timeline.summing(store, { begin: 600, end: 900 }, { rank: null, stream: null }));
  assert.deepEqual(sums.operators, [{ name: 'aten::mm', ns: 100, count: 1 }]);
  assert.equal(sums.unlinkedNs, 0);
});

test('those who watch the documents hear of each that comes and goes', () => {
  const [first, second] = halves();
  const store = new timeline.Store(first);
  let heard = 0;
  const leave = store.watch(() => { heard += 1; });
  store.add(second);
  assert.equal(heard, 1);
  store.remove(store.newestSource);
  assert.equal(heard, 2);
  leave();
  store.add(second);
  assert.equal(heard, 2);
});

test('many steps are summed with pauses in between', () => {
  const names = Array.from({ length: 50_000 }, (_, i) => `step ${i}`);
  const boxes = names.map((_, i) => ({ begin: 10 * i, duration: 9, depth: 0, name: i, tone: 0 }));
  const tracks = [{ info: { rank: 0, kind: 'steps', name: 'steps', parent: '', depths: 1, events: boxes.length, busy_ns: 0, unit: '' }, boxes }];
  const store = new timeline.Store(documentOf({ tracks, names, tones: TONES, span: 500_000 }));
  store.allow(Infinity);
  const work = timeline.summing(store, { begin: 0, end: 500_000 }, { rank: null, stream: null });
  let pauses = 0;
  let state = work.next();
  for (; !state.done; state = work.next()) {
    pauses += 1;
  }
  assert.ok(pauses >= 2, `${pauses}`);
  assert.deepEqual(state.value.steps, names);
});

test('stretches of many parts are united as one after the other', () => {
  const random = chance(12);
  for (let round = 0; round < 100; ++round) {
    const some = () => timeline.unitedInOrder(Array.from({ length: Math.floor(random() * 9) }, () => Math.floor(random() * 90)).sort((a, b) => a - b)
      .flatMap((at) => [at, at + 1 + Math.floor(random() * 8)]));
    const parts = Array.from({ length: round % 8 }, some);
    assert.deepEqual(finish(timeline.unitedAll(parts)), parts.reduce((all, part) => timeline.united(all, part), []));
  }
});

test('stretches of time are united, and their longest pause is found', () => {
  const random = chance(11);
  for (let round = 0; round < 200; ++round) {
    const some = () => Array.from({ length: Math.floor(random() * 6) }, () => Math.floor(random() * 60)).sort((a, b) => a - b)
      .flatMap((at) => [[at, at + 1 + Math.floor(random() * 8)]]);
    const [a, b] = [some(), some()];
    const apart = (list) => timeline.united(list.flat(), []);
    const both = timeline.united(apart(a), apart(b));
    const has = (ns) => [...a, ...b].some(([begin, end]) => ns >= begin && ns < end);
    const plain = Array.from({ length: 80 }, (_, ns) => ns).filter(has).length;
    assert.equal(timeline.lengthOf(both), plain);
    for (let i = 2; i < both.length; i += 2) {
      assert.ok(both[i] > both[i - 1]);
    }
    let [longest, run] = [0, 0];
    for (let ns = 0; ns < 80; ++ns) {
      run = has(ns) ? 0 : run + 1;
      longest = Math.max(longest, run);
    }
    assert.equal(timeline.longestPause(both, 0, 80).length, longest);
  }
});
