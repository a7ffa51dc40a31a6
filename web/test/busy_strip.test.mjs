// The strip of the overview: steps, and which share of each stretch devices worked, against a slow twin that asks for
// each moment which boxes are there.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { after, before, test } from 'node:test';
import { pathToFileURL } from 'node:url';

import { TONES, chance, documentOf } from './timelines.mjs';

const web = resolve(import.meta.dirname, '..');
const packages = resolve(process.env.BORESCOPE_PACKAGES ?? join(web, 'node_modules'));
const folder = mkdtempSync(join(tmpdir(), 'borescope-strip-'));
const SPAN = 1_000;
const BINS = 20;
let code;

before(async () => {
  const esbuild = createRequire(join(packages, 'x.js'))('esbuild');
  const { outputFiles } = esbuild.buildSync({
    stdin: { contents: "export * from './busy_strip'; export * from './timeline/store';", resolveDir: join(web, 'src'), loader: 'ts' },
    bundle: true, write: false, format: 'esm', nodePaths: [packages],
  });
  const path = join(folder, 'strip.mjs');
  writeFileSync(path, outputFiles[0].text);
  code = await import(pathToFileURL(path).href);
});
after(() => rmSync(folder, { recursive: true, force: true }));

const track = (kind, name, parent, boxes, rank = 0) => ({
  info: { rank, kind, name, parent, depths: 1, events: boxes.length, busy_ns: 0, unit: '' }, boxes,
});
const box = (begin, duration, name = 0) => ({ begin, duration, depth: 0, name, tone: TONES.indexOf('compute'), busy: duration, count: 1 });
const stripOf = (tracks, more = {}) => code.busyStrip(
  new code.Store(documentOf({ tracks, names: ['gemm', 'step 0', 'step 1'], tones: TONES, span: SPAN, ...more })), SPAN, BINS);

/** Moment by moment: a stream is busy where a box is; streams of a device do not know of each other; the mean of devices. */
function twin(devices) {
  const each = SPAN / BINS;
  return Array.from({ length: BINS }, (_, bin) => {
    const shares = devices.map((streams) => 1 - streams.reduce((left, boxes) => {
      let busy = 0;
      for (let moment = bin * each; moment < (bin + 1) * each; ++moment) {
        busy += boxes.some(({ begin, duration }) => begin <= moment && moment < begin + duration) ? 1 : 0;
      }
      return left * (1 - busy / each);
    }, 1));
    return shares.reduce((sum, share) => sum + share, 0) / devices.length;
  });
}

function boxesAtChance(seed) {
  const random = chance(seed);
  const boxes = [];
  for (let at = Math.floor(random() * 40); at < SPAN - 60;) {
    const duration = 1 + Math.floor(random() * 50);
    boxes.push(box(at, duration));
    at += duration + Math.floor(random() * 80);
  }
  return boxes;
}

const assertClose = (found, expected) => {
  assert.equal(found.length, expected.length);
  expected.forEach((value, i) => assert.ok(Math.abs(found[i] - value) < 1e-9, `${i}: ${found[i]}, not ${value}`));
};

test('the share of one stream is that of its boxes', () => {
  for (const seed of [1, 2, 3]) {
    const boxes = boxesAtChance(seed);
    const strip = stripOf([track('thread', 'main', 'process 1', [box(0, SPAN)]), track('stream', 'stream 7', 'GPU 0', boxes)]);
    assertClose(strip.busy, twin([[boxes]]));
    assert.deepEqual([strip.whole, strip.devices, strip.isAbout, strip.steps], [SPAN, 1, false, []]);
  }
});

test('streams of a device overlap as far as chance has it, devices have their mean', () => {
  const streams = [11, 12, 13].map(boxesAtChance);
  const strip = stripOf([
    track('stream', 'stream 7', 'GPU 0', streams[0]), track('stream', 'stream 8', 'GPU 0', streams[1]),
    track('stream', 'stream 7', 'GPU 0', streams[2], 1),
  ]);
  assertClose(strip.busy, twin([[streams[0], streams[1]], [streams[2]]]));
  assert.deepEqual([strip.devices, strip.isAbout], [2, true]);
});

test('the sum of the strip is the time of the boxes, merged or not', () => {
  const boxes = boxesAtChance(21);
  const busy = boxes.reduce((sum, { duration }) => sum + duration, 0);
  for (const grains of [[], [64]]) {
    const strip = stripOf([track('stream', 'stream 7', 'GPU 0', boxes)],
      grains.length === 0 ? {} : { grains, window: { begin_ns: 0, end_ns: 0 } });
    const sum = strip.busy.reduce((all, share) => all + share * (SPAN / BINS), 0);
    assert.ok(Math.abs(sum - busy) < 1e-6 * busy || (strip.isAbout && Math.abs(sum - busy) < 0.1 * busy), `${sum}, not ${busy}`);
    assert.equal(strip.isAbout, grains.length > 0);
  }
});

test('steps are those of the first rank, in the order of time', () => {
  const strip = stripOf([
    track('steps', 'steps', '', [box(0, 400, 1), box(400, 500, 2)]), track('stream', 'stream 7', 'GPU 0', [box(100, 50)]),
    track('steps', 'steps', '', [box(10, 900, 1)], 1),
  ]);
  assert.deepEqual(strip.steps, [{ name: 'step 0', begin: 0, end: 400 }, { name: 'step 1', begin: 400, end: 900 }]);
});

test('without a stream there is no strip', () => {
  assert.equal(stripOf([track('thread', 'main', 'process 1', [box(0, 100)])]), null);
});
