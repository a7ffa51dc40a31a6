// The page of several ranks that `borescope open --report` serves: the moment of a finding about ranks is exact in the
// page, as the rank is read again for it; elsewhere the server has every event as it was recorded.
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { after, before, test } from 'node:test';

import { atLast, borescope, embedded, folder, open, openAddress, report, start, stop } from './browser.mjs';
import { rest } from './timeline_page.mjs';

const synth = join(dirname(borescope), 'borescope-synth');
const SLOW = 2; // the rank that the others wait for
const run = join(folder, 'ranks');

before(async () => {
  await start();
  if (existsSync(synth)) {
    // More events than a page has room for.
    execFileSync(synth, ['--ranks', '4', '--steps', '140', '--layers', '3', '--straggler', String(SLOW), '--with-shapes', '--seed', '9', '--gzip', '--out', run]);
    rmSync(join(run, 'truth.json'));
  }
});
after(stop);

async function serve() {
  const process = spawn(borescope, ['open', run, '--report', '--no-browser', '--port', '0', '-q'], { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = new Promise((resolve) => process.on('exit', resolve));
  const address = await new Promise((resolve) => process.stdout.once('data', (text) => resolve(String(text).trim())));
  return { address, end: () => process.kill('SIGINT') && ended };
}

const note = (page) => page.locator('#pane-timeline').textContent();
const timeOf = (page) => page.evaluate(() => /t=(\d+)-(\d+)/.exec(location.hash).slice(1).map(Number));
/** A stretch of that length somewhere else. */
async function stretchAway(page, length) {
  const span = await page.evaluate(() => JSON.parse(document.getElementById('borescope-timeline').textContent).span_ns);
  const begin = Math.floor(span * 0.37);
  return [begin, begin + length];
}
const isExact = (text) => /Every event of this view/.test(text);

test('a finding about ranks leads to exact events, and the server has those of any other moment', { skip: !existsSync(synth) && 'borescope-synth was not built' }, async () => {
  const server = await serve();
  const page = await openAddress(server.address);
  const asked = [];
  page.on('request', (request) => { if (request.url().includes('/timeline')) asked.push(request.url()); });
  await page.waitForSelector('html[data-drawn="all"] h1', { timeout: 120_000 });
  await page.getByRole('link', { name: /^Show me Timeline: One rank makes the others wait/ }).click();
  await rest(page);
  assert.ok(isExact(await atLast(() => note(page), isExact)));
  const [begin, end] = await timeOf(page);
  assert.ok(end > begin);
  assert.deepEqual(asked, [], 'the page itself has the moment');
  // Another stretch as long, which the page has merged: after the answer it is exact as well.
  const away = await stretchAway(page, end - begin);
  await page.evaluate((hash) => { location.hash = hash; }, `#timeline?t=${away[0]}-${away[1]}`);
  await rest(page);
  const text = await atLast(() => note(page), (found) => isExact(found) && asked.length > 0);
  assert.ok(asked.length > 0, 'the server was asked');
  assert.ok(isExact(text), text.slice(-400));
  assert.deepEqual(page.faults, []);
  await page.context().close();
  await server.end();
});

test('the moment of a finding about ranks is exact in a report that is a file, too, and others are merged', { skip: !existsSync(synth) && 'borescope-synth was not built' }, async () => {
  const page = await open(report('ranks', run));
  const link = page.getByRole('link', { name: /^Show me Timeline: One rank makes the others wait/ });
  await link.click();
  await rest(page);
  assert.ok(isExact(await atLast(() => note(page), isExact)));
  const [begin, end] = await timeOf(page);
  const away = await stretchAway(page, end - begin);
  await page.show(`#timeline?t=${away[0]}-${away[1]}`);
  await rest(page);
  assert.match(await atLast(() => note(page), (text) => !isExact(text)), /merged|several events/);
  assert.deepEqual(page.faults, []);
  await page.done();
});

// ---- Clocks ----

const clocksOf = async (path) => {
  const page = await open(path, { at: '#timeline' });
  const text = await page.locator('#pane-timeline .clocks').textContent();
  assert.deepEqual(page.faults, []);
  await page.done();
  return text;
};

test('clocks that drift are said, with how far ranks may be off', { skip: !existsSync(synth) && 'borescope-synth was not built' }, async () => {
  const drifting = join(folder, 'drifting');
  execFileSync(synth, ['--simulate', '--program', 'ddp', '--ranks', '4', '--steps', '60', '--seed', '3', '--clock-offset', '2000000', '--clock-drift', '60', '--gzip', '--out', drifting]);
  rmSync(join(drifting, 'truth.json'), { force: true });
  const path = report('drifting', drifting);
  const { tables } = embedded(path);
  const cells = (name) => tables.tables.find((table) => table.name === 'clocks').columns.find((column) => column.name === name).values.map((value) => Math.abs(value ?? 0));
  const [drift, whole] = [Math.max(...cells('drift_ppm')), Math.max(...cells('whole_error_ns'))];
  assert.ok(drift > 5, `${drift} ppm were found of what was planted`);
  const text = await clocksOf(path);
  const plain = text.replace(/\u00a0/g, ' ');
  assert.ok(plain.includes(`drift by up to ${drift.toPrecision(2)} µs a second`), plain);
  assert.ok(plain.includes(`may be off by ${(whole / 1000).toFixed(2)} µs`), plain);
});

test('of ranks that never met nothing is known of their clocks, and one rank has nothing to say', async () => {
  const rank = (number) => {
    const path = join(folder, `alone-${number}.json`);
    writeFileSync(path, JSON.stringify({ baseTimeNanoseconds: 1, distributedInfo: { rank: number, world_size: 2 }, traceEvents: [
      { ph: 'X', cat: 'kernel', name: 'gemm', pid: 0, tid: 7, ts: 10, dur: 50, args: { device: 0, stream: 7, correlation: 1 } }] }));
    return path;
  };
  assert.match(await clocksOf(report('alone', rank(0), rank(1))), /in line by the times that their files name: .*nothing tells how far/);
  const page = await open(report('single', rank(0)), { at: '#timeline' });
  await rest(page);
  assert.equal(await page.locator('#pane-timeline .clocks').count(), 0);
  await page.done();
});
