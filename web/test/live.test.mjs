// The report of a folder that is being written, served by `borescope open --report` to a real browser.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { appendFileSync, mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';

import { atLast, borescope, folder, openAddress, start, stop } from './browser.mjs';

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
async function serve(run) {
  const words = ['open', run, '--report', '--no-browser', '--port', '0', '-q'];
  const process = spawn(borescope, words, { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = new Promise((resolve) => process.on('exit', resolve));
  const address = await new Promise((resolve) => process.stdout.once('data', (text) => resolve(String(text).trim())));
  return { address, end: () => process.kill('SIGINT') && ended };
}

const banner = (page) => page.locator('aside.live').textContent().catch(() => '');
const says = (page, text) => atLast(() => banner(page), (found) => found?.includes(text));

test('a page of a folder follows the ranks that arrive, and stays where it was', async () => {
  const run = join(folder, 'run');
  mkdirSync(run);
  const server = await serve(run);
  const page = await openAddress(server.address);
  assert.match(await page.textContent('body'), /No rank is complete yet/);
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
