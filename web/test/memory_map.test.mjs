// Where memory lies, on the page of a post-mortem: each byte once, in the colour of what holds it, and in words.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';

import { accessibilityFaults, borescope, embedded, folder, open, overflow, samples, start, stop } from './browser.mjs';
import { memoryTables, postmortemPage, range } from './postmortems.mjs';

before(start);
after(stop);

const MIB = 2 ** 20;
const FINDING = { finding: "Out of memory: the process's own limit", ranks: '0' };
const FIGURE = 'figure[data-kind="memory-map"]';

const column = (type, unit) => (name, values) => ({ name, type, unit, doc: '', values });
const [text, int, bytes] = [column('string', null), column('int', null), column('int', 'bytes')];

/** Pieces [moment, segment, category, MiB, line] of one device, one after the other. */
function mapTable(pieces, rank = 0) {
  return { name: 'memory_map', title: 'Blocks by address', columns: [
    int('rank', pieces.map(() => rank)), int('device', pieces.map(() => 0)), text('moment', pieces.map(([moment]) => moment)), int('address', pieces.map((_, i) => 2 ** 40 + i * MIB)),
    int('segment', pieces.map(([, segment]) => segment)), text('category', pieces.map(([, , category]) => category)), bytes('bytes', pieces.map(([, , , size]) => size * MIB)),
    bytes('free_bytes', pieces.map(([, , category, size]) => (category === 'free' ? size * MIB : 0))), int('blocks', pieces.map(() => 1)), text('line', pieces.map(([, , , , line]) => line ?? null)),
  ] };
}

const PIECES = [
  ['peak', 0, 'parameter', 300, 'model.py:3 init'], ['peak', 1, 'temporary', 100, 'train.py:9 step'],
  ['oom', 0, 'parameter', 300, 'model.py:3 init'], ['oom', 1, 'free', 60], ['oom', 1, 'temporary', 10, 'train.py:9 step'], ['oom', 1, 'free', 30], ['oom', 2, 'pending', 100],
  ['end', 0, 'parameter', 300, 'model.py:3 init'],
];

/** Its words with ordinary spaces. */
const wordsOf = async (one) => (await one.textContent()).replace(/[\u00a0\u202f]/g, ' ');

/** Areas of the boxes of each category, as shares of all. */
const shares = (page) => page.locator(`${FIGURE} svg rect.piece`).evaluateAll((boxes) => {
  const sums = {};
  let all = 0;
  for (const box of boxes) {
    const area = box.width.baseVal.value * box.height.baseVal.value;
    sums[box.dataset.category] = (sums[box.dataset.category] ?? 0) + area;
    all += area;
  }
  return Object.fromEntries(Object.entries(sums).map(([name, area]) => [name, Math.round((area / all) * 1000) / 1000]));
});

test('the failure comes first, and each category has its share of the picture', async () => {
  const path = postmortemPage('map', { findings: [FINDING], memory: [...memoryTables(), mapTable(PIECES)] });
  for (const scheme of ['light', 'dark']) {
    const page = await open(path, { scheme, width: 1000 });
    const figure = page.locator(FIGURE);
    assert.deepEqual(await figure.locator('button').allTextContents(), ['Failure', 'Peak', 'End']);
    assert.deepEqual(await shares(page), { parameter: 0.6, free: 0.18, temporary: 0.02, pending: 0.2 });
    assert.match(await wordsOf(figure.locator('.note')), /When the last request failed: 524\.3 MB in 3 segments, by address; 94\.\d+ MB of it free\./);
    assert.match(await wordsOf(figure.locator('.legend')), /parameter 314\.6 MB.*temporary 10\.\d+ MB.*pending 104\.9 MB.*free 94\.\d+ MB/s);
    await figure.locator('button', { hasText: 'Peak' }).click();
    assert.deepEqual(await shares(page), { parameter: 0.75, temporary: 0.25 });
    await figure.locator('svg').hover({ position: { x: 900, y: 8 } });
    assert.match(await wordsOf(figure.locator('.note')), /^104\.9 MB in segment 2: temporary, train\.py:9 step\.$/);
    assert.deepEqual(await accessibilityFaults(page), []);
    assert.equal(await overflow(page), 0);
    assert.deepEqual(page.faults, []);
    await page.done();
  }
});

test('names that are markup are shown as text, and thousands of pieces are drawn', async () => {
  const hostile = '<img src=x onerror=alert(2)>';
  const many = range(1000).map((i) => ['end', i >> 2, i % 2 === 0 ? 'activation' : 'free', 1 + (i % 7), i % 2 === 0 ? hostile : null]);
  const page = await open(postmortemPage('map-many', { findings: [FINDING], memory: [mapTable(many)] }), { width: 420 });
  const figure = page.locator(FIGURE);
  assert.equal(await figure.locator('.choices').count(), 0);
  assert.ok(await figure.locator('rect.piece').count() >= 1000);
  await figure.locator('svg').hover({ position: { x: 1, y: 4 } });
  assert.match(await wordsOf(figure.locator('.note')), /<img src=x/);
  assert.equal(await overflow(page), 0);
  assert.deepEqual(page.faults, []);
  await page.done();
});

test('a page without the table has no such figure', async () => {
  const page = await open(postmortemPage('map-none', { findings: [FINDING], memory: memoryTables() }));
  assert.equal(await page.locator(FIGURE).count(), 0);
  await page.done();
});

const snapshot = join(samples, 'data/h100/memory/oom.pickle.gz');
test('the map of a recorded failure has the bytes of the tables', { skip: !existsSync(snapshot) }, async () => {
  const path = join(folder, 'map-h100.html');
  execFileSync(borescope, ['postmortem', snapshot, '--html', path, '-q']);
  const { tables } = embedded(path);
  const table = (name) => Object.fromEntries(tables.tables.find((one) => one.name === name).columns.map((one) => [one.name, one.values]));
  const [map, segments, oom] = [table('memory_map'), table('memory_segments'), table('oom')];
  const sum = ({ moment }, values) => values.reduce((all, value, row) => all + (moment[row] === 'oom' ? value : 0), 0);
  const free = ['usable', 'too_small', 'other_pool', 'other_stream', 'private_pool'].reduce((all, name) => all + oom[`${name}_bytes`].at(-1), 0);
  assert.deepEqual([sum(map, map.bytes), sum(map, map.free_bytes)], [oom.reserved_bytes.at(-1), free]);
  assert.deepEqual([sum(segments, segments.bytes), sum(segments, segments.free_bytes), sum(segments, segments.allocated_bytes)], [oom.reserved_bytes.at(-1), free, oom.allocated_bytes.at(-1)]);
  const page = await open(path);
  assert.match(await wordsOf(page.locator(`${FIGURE} .note`)), /1\.537 GB in 46 segments.*391\.0 MB of it free\. For the 209\.7 MB that were asked for these are: 390\.1 MB in pieces that are too small, 974\.8 KB of the other pool\./);
  assert.ok(statSync(path).size < 3e6);
  assert.deepEqual(page.faults, []);
  await page.done();
});
