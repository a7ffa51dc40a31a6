// From the overview to the evidence, by clicks alone: the slowest step, its longest gap, that moment on the
// timeline, and what the host did then. The clicks are counted, as docs/use/report.md says how many it takes.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';

import { atLast, folder, open, report, start, stop } from './browser.mjs';
import { rest } from './timeline_page.mjs';

before(start);
after(stop);

const STEP_US = 1000;
const SLOW = { step: 3, begin: 3300, length: 4000, what: 'collate.py(12): pad_batch' }; // microseconds

/** A rank with a kernel every 100 us, but for a pause of the host in one step. Its clock begins at `at` us. */
function traceOf(rank, at, isSlow) {
  const events = [];
  const add = (cat, name, ts, dur, args, pid = 1, tid = 1) => events.push({ ph: 'X', cat, name, ts: at + ts, dur, pid, tid, args });
  let now = 0;
  for (let step = 0; step < 6; step += 1) {
    const begin = now;
    for (let i = 0; i < STEP_US / 100; i += 1, now += 100) {
      if (isSlow && step === SLOW.step && i === 3) {
        add('python_function', SLOW.what, now, SLOW.length - 5, {});
        now += SLOW.length;
      }
      const correlation = events.length + 1;
      add('cuda_runtime', 'cudaLaunchKernel', now, 5, { correlation });
      add('kernel', 'gemm', now + 10, 88, { device: 0, stream: 7, correlation }, 0, 7);
    }
    add('user_annotation', `ProfilerStep#${step}`, begin, now - begin, {});
  }
  const path = join(folder, `evidence-${rank}.json`);
  writeFileSync(path, JSON.stringify({ baseTimeNanoseconds: 1, distributedInfo: { rank, world_size: 2 }, traceEvents: events }));
  return path;
}

/** The way that a page is gone, by clicks. */
function walk(page) {
  let clicks = 0;
  return { click: async (locator) => { clicks += 1; await locator.click(); }, clicks: () => clicks };
}

const timeOf = (page) => page.evaluate(() => (/t=(\d+)-(\d+)/.exec(location.hash) ?? []).slice(1).map(Number));
const gaps = (page) => page.locator('details[data-table="longest_gaps"]');
const cellsOf = async (page, row) => {
  const names = await gaps(page).locator('thead th').evaluateAll((all) => all.map((one) => one.dataset.column));
  const cells = await row.locator('td').allTextContents();
  return Object.fromEntries(names.map((name, i) => [name, cells[i]]));
};

for (const [name, at, makeInputs] of [
  ['one rank', 0, () => [traceOf(0, 0, true)]],
  ['a rank whose recording begins later', 2500, () => [traceOf(0, 0, false), traceOf(1, 2500, true)]],
]) {
  test(`the slowest step, its longest gap and what the host did then are two clicks away: ${name}`, async () => {
    const page = await open(report(`evidence-${at}`, ...makeInputs()));
    const way = walk(page);
    await way.click(page.getByRole('link', { name: 'Show me its longest gaps' }));
    const first = gaps(page).locator('tbody tr:not(.spacer)').first();
    await first.waitFor();
    assert.ok((await gaps(page).boundingBox()).y < 900, 'the table is in sight');
    const cells = await cellsOf(page, first);
    assert.equal(cells.step, String(SLOW.step));
    assert.equal(cells.cause, 'host');
    assert.match(cells.host, /pad_batch/);
    await way.click(first.getByRole('link', { name: /on the timeline/ }));
    await rest(page);
    assert.equal(await page.locator('.pane:not([hidden])').getAttribute('id'), 'pane-timeline');
    const [begin, end] = await atLast(() => timeOf(page), (time) => time.length === 2);
    assert.ok(Math.abs(begin - (at + SLOW.begin - 2) * 1000) <= 1000, `${begin} is when the kernel before it ended`);
    assert.ok(Math.abs(end - begin - (SLOW.length + 12) * 1000) <= 2000, `${end - begin} ns are the pause of the host`);
    assert.match(await page.locator('.tl-tools').textContent(), /Range 4\.01/);
    assert.equal(way.clicks(), 2);
    assert.deepEqual(page.faults, []);
    await page.done();
  });
}

test('a finding leads to the moment of its evidence with one click', async () => {
  const page = await open(report('evidence-finding', traceOf(0, 0, true)));
  await page.getByRole('link', { name: /^Show me Timeline: The device idles in one long gap/ }).click();
  await rest(page);
  const [begin, end] = await timeOf(page);
  assert.ok(begin >= (SLOW.begin - 10) * 1000 && end <= (SLOW.begin + SLOW.length + 20) * 1000 && end - begin > 3_900_000, `${begin} to ${end}`);
  await page.done();
});
