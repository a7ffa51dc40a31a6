// The report of a folder that is being written, served by `borescope open` to a real browser, and the last steps of a
// recording that still runs.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { appendFileSync, existsSync, mkdirSync, readdirSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { after, before, test } from 'node:test';

import { accessibilityFaults, atLast, borescope, folder, openAddress, overflow, start, stop, template } from './browser.mjs';

before(start);
after(stop);

function trace(rank) {
  const events = Array.from({ length: 60 }, (_, i) => ({
    ph: 'X', cat: 'kernel', name: `kernel_${i}`, pid: 0, tid: 7, ts: i * 10, dur: 5,
    args: { device: 0, stream: 7, correlation: i },
  }));
  return JSON.stringify({
    schemaVersion: 1, distributedInfo: { rank, world_size: 3 }, traceEvents: events,
  });
}

/** Serves the folder; the address of the page. */
async function serve(run, ...options) {
  const words = ['open', run, ...options, '--no-browser', '--port', '0', '-q'];
  const process = spawn(borescope, words, { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = new Promise((resolve) => process.on('exit', resolve));
  const address = await new Promise((resolve) => process.stdout.once('data', (text) => resolve(String(text).trim())));
  return { address, end: () => process.kill('SIGINT') && ended };
}

const banner = (page) => page.locator('.live').textContent().catch(() => '');
const says = (page, text) => atLast(() => banner(page), (found) => found?.includes(text));

test('a page of a folder follows the ranks that arrive, and stays where it was', async () => {
  const run = join(folder, 'run');
  mkdirSync(run);
  const server = await serve(run, '--report');
  const page = await openAddress(server.address);
  assert.match(await says(page, 'No rank'), /No rank is complete yet/);
  writeFileSync(join(run, 'rank-0.json'), trace(0));
  assert.match(await says(page, '1 rank at'), /^Live: 1 rank at \d\d:\d\d:\d\d/);
  await page.evaluate(() => { location.hash = '#kernels'; });
  await page.locator('#kernels tbody tr').first().waitFor(); // the pane is shown, and long enough to scroll
  await page.evaluate(() => scrollTo(0, 200));
  const place = await page.evaluate(() => scrollY);
  assert.ok(place > 0);
  writeFileSync(join(run, 'rank-1.json.tmp'), trace(1));
  renameSync(join(run, 'rank-1.json.tmp'), join(run, 'rank-1.json'));
  assert.match(await says(page, '2 ranks at'), /2 ranks at/);
  assert.equal(await atLast(() => page.evaluate(() => scrollY), (found) => found === place), place);
  assert.equal(await page.evaluate(() => location.hash), '#kernels');
  // What is broken half-way ends nothing.
  writeFileSync(join(run, 'rank-2.json'), 'no trace');
  assert.match(await says(page, '1 rank'), /rank/);
  appendFileSync(join(run, 'rank-2.json'), ' at all');
  assert.ok((await page.locator('h1').count()) === 1);
  assert.deepEqual(page.faults, []);
  await server.end();
  assert.match(await says(page, 'No longer live'), /No longer live/);
  await page.context().close();
});

test('a file that is half written is no error, and no rank until it is whole', async () => {
  const run = join(folder, 'half');
  mkdirSync(run);
  const text = trace(1);
  writeFileSync(join(run, 'rank-0.json'), trace(0));
  writeFileSync(join(run, 'rank-1.json'), text.slice(0, text.length / 2));
  const server = await serve(run, '--report');
  const page = await openAddress(server.address);
  await says(page, '1 rank at');
  await page.waitForTimeout(2500); // longer than a complete file has to rest
  assert.match(await banner(page), /^Live: 1 rank at \d\d:\d\d:\d\d; 1 file still being written$/);
  appendFileSync(join(run, 'rank-1.json'), text.slice(text.length / 2));
  assert.match(await says(page, '2 ranks at'), /^Live: 2 ranks at \d\d:\d\d:\d\d$/);
  await server.end();
  await page.context().close();
});

// Of the tests of the recorder: a program that plants work in a simulated CUPTI.
const build = dirname(dirname(template));
const programs = join(build, 'tests/record/programs');
const library = join(build, 'lib/libborescope_record.so');
const lack = [join(programs, 'device'), library].find((path) => !existsSync(path));

function record(run, how, steps) {
  const words = ['record', '-o', run, '-q', '--', join(programs, 'device'), how, '1', '6', String(steps)];
  const child = spawn(borescope, words, {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: {
      ...process.env, BORESCOPE_RECORD_LIBRARY: library, BORESCOPE_CUPTI: join(programs, 'libsimcupti.so'),
      LD_LIBRARY_PATH: programs, SIMCUPTI_VERSION: '28', SIMCUPTI_FAULT: '', CUDA_INJECTION64_PATH: library,
    },
  });
  return { ended: new Promise((resolve) => child.on('exit', resolve)) };
}

const hasLog = (run) => existsSync(run) && readdirSync(run).some((name) => name.endsWith('.bsl'));

test('the last steps of a recording come while it runs', { skip: lack && `${lack} was not built` }, async () => {
  const run = join(folder, 'running.bsr');
  const program = record(run, 'steps', Number(process.env.BORESCOPE_LIVE_STEPS ?? 700));
  await atLast(() => hasLog(run), Boolean);
  const server = await serve(run); // what is being written is shown live without being asked
  const page = await openAddress(server.address);
  const newest = () => page.locator('.live-run tbody tr td').first().textContent({ timeout: 1000 }).then(Number).catch(() => -1);
  const first = await atLast(newest, (step) => step >= 0);
  assert.ok(first >= 0);
  assert.match(await page.locator('.live-run h2').textContent(), /^running\.bsrrecording$/);
  assert.ok(await atLast(newest, (step) => step > first) > first);
  const marked = await page.locator('.live-run tbody tr').first().textContent();
  assert.match(marked, /still runs|may follow|without a record/);
  // Each bar is as high as its step is long, in parts that are drawn and sum to it.
  const bars = await page.locator('.live-chart svg g.whole').evaluateAll((all) => all.map((bar) => ({
    height: bar.getBBox().height,
    parts: [...bar.querySelectorAll('rect')].map((one) => [one.getAttribute('fill'), Number(one.getAttribute('height'))]),
  })));
  assert.ok(bars.length > 0);
  for (const { height, parts } of bars) {
    assert.deepEqual(parts.map(([fill]) => fill), ['var(--compute)', 'var(--comm)', 'var(--copy)', 'var(--idle)']);
    assert.ok(Math.abs(parts.reduce((sum, [, one]) => sum + one, 0) - height) < 0.1);
    assert.ok(parts[0][1] > parts[1][1] && parts[1][1] > 0, JSON.stringify(parts)); // four kernels, and two collectives
  }
  assert.deepEqual(await accessibilityFaults(page), []);
  assert.ok(await overflow(page) <= 0);
  if (process.env.BORESCOPE_LIVE_PICTURES) {
    await page.screenshot({ path: join(process.env.BORESCOPE_LIVE_PICTURES, 'running.png') });
  }
  await program.ended;
  const state = () => page.locator('.live-state').textContent({ timeout: 1000 }).catch(() => '');
  assert.equal(await atLast(state, (text) => text === 'ended'), 'ended');
  // The report under them, once the log rests.
  assert.match(await says(page, '1 rank at'), /1 rank at/);
  await page.waitForSelector('html[data-drawn="all"] h1');
  assert.equal(await atLast(state, (text) => text === 'ended'), 'ended');
  if (process.env.BORESCOPE_LIVE_PICTURES) {
    await page.emulateMedia({ colorScheme: 'dark' });
    await page.screenshot({ path: join(process.env.BORESCOPE_LIVE_PICTURES, 'ended.png') });
  }
  assert.deepEqual(page.faults, []);
  await server.end();
  await page.context().close();
});

test('a recording whose process was killed says so', { skip: lack && `${lack} was not built` }, async () => {
  const run = join(folder, 'killed.bsr');
  const program = record(run, 'steps-kill', 100);
  await atLast(() => hasLog(run), Boolean);
  const server = await serve(run, '--report');
  const page = await openAddress(server.address);
  await page.locator('.live-run').waitFor();
  await program.ended;
  const text = () => page.locator('.live-run').textContent({ timeout: 1000 }).catch(() => '');
  assert.match(await atLast(text, (found) => found.includes('signal')), /Process \d+ was ended by signal 9/);
  assert.match(await page.locator('.live-run tbody tr').first().textContent(), /^99.*still runs$/);
  await server.end();
  await page.context().close();
});
