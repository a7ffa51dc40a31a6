// The page of a post-mortem: its verdict, who waits for whom, and memory over time; in pictures of it, too.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readFileSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { after, before, test } from 'node:test';

import { accessibilityFaults, blank, borescope, embedded, folder, open, overflow, samples, settledBox, start, stop } from './browser.mjs';
import { CATEGORIES, hangTables, memoryTables, postmortemPage, range } from './postmortems.mjs';

let tool;
before(async () => {
  await start();
  tool = await blank();
});
after(stop);

const FINDING = { finding: 'Ranks stopped issuing work', ranks: '9,14', where: 'train.py:41 step', evidence: '13 ranks wait in all_reduce 17.', help: 'Run `py-spy dump --pid PID` there.' };
const HOSTILE = ['</script><script>alert(1)</script>', '<img src=x onerror=alert(2)>', '"><svg onload=alert(3)>', '\u202egnol', `${'very_long_'.repeat(300)}name`, '__proto__', ''];

/** The shares of pixels of the boxes (in the picture) that have their colour. */
const sharesIn = (picture, marks, near) => tool.evaluate(async ({ source, found, near: most }) => {
  const image = await createImageBitmap(await (await fetch(`data:image/png;base64,${source}`)).blob());
  const context = new OffscreenCanvas(image.width, image.height).getContext('2d');
  context.drawImage(image, 0, 0);
  return found.map(({ x, y, width, height, colour }) => {
    const { data } = context.getImageData(Math.ceil(x), Math.ceil(y), Math.max(1, Math.floor(width)), Math.max(1, Math.floor(height)));
    let same = 0;
    for (let at = 0; at < data.length; at += 4) {
      same += colour.every((value, i) => Math.abs(value - data[at + i]) < most) ? 1 : 0;
    }
    return same / (data.length / 4);
  });
}, { source: picture.toString('base64'), found: marks, near });

/** Colours of the theme as numbers. */
const coloursOf = (page, names) => page.evaluate((wanted) => {
  const probe = document.body.appendChild(document.createElement('i'));
  const context = document.createElement('canvas').getContext('2d');
  const found = wanted.map((name) => {
    probe.style.color = `var(--${name})`;
    context.fillStyle = getComputedStyle(probe).color;
    context.fillRect(0, 0, 1, 1);
    return [...context.getImageData(0, 0, 1, 1).data.slice(0, 3)];
  });
  probe.remove();
  return Object.fromEntries(wanted.map((name, i) => [name, found[i]]));
}, names);

test('the verdict comes first, then who waits, then memory, then the tables', async () => {
  const path = postmortemPage('order', { findings: [FINDING, { finding: "Out of memory: the process's own limit", ranks: '0' }], hang: hangTables(16, { missing: [9, 14], dead: [3] }), memory: memoryTables() });
  for (const scheme of ['light', 'dark']) {
    const page = await open(path, { scheme, width: 1024 });
    assert.equal(await page.locator('[role="tab"][aria-selected="true"]').textContent(), 'Post-mortem');
    const tops = await Promise.all(['.verdict.job', 'figure[data-kind="hang"]', 'figure[data-kind="memory-areas"]', '#findings'].map((one) => page.locator(one).evaluate((element) => element.getBoundingClientRect().top)));
    assert.deepEqual(tops, [...tops].sort((a, b) => a - b));
    assert.match(await page.locator('.verdict.job > li').first().textContent(), /Ranks stopped issuing work.*ranks 9,14 at train\.py:41 step.*13 ranks wait.*py-spy dump/s);
    assert.deepEqual(await accessibilityFaults(page), []);
    assert.equal(await overflow(page), 0);
    assert.deepEqual(page.faults, []);
    await page.done();
  }
});

test('the matrix says who waits where, with culprits first, and a click shows both lines', async () => {
  const page = await open(postmortemPage('matrix', { findings: [FINDING], hang: hangTables(16, { missing: [9, 14], dead: [3] }) }));
  const rows = page.locator('.matrix tbody tr');
  const words = await rows.evaluateAll((lines) => lines.map((line) => [line.querySelector('th').textContent.trim(), line.querySelector('td').textContent.trim()]));
  assert.equal(words.length, 16);
  assert.deepEqual(words.slice(0, 3), [['✕ rank 9 never-issued', 'M'], ['✕ rank 14 never-issued', 'M'], ['rank 3 no dump', '?']]);
  assert.ok(words.slice(3).every(([, letter]) => letter === 'W'));
  // Who is at fault is shown without a click, beside a rank that waits for it.
  assert.match(await page.locator('.matrix-details').textContent(), /Rank 9.*never-issued.*loader\.py:7.*Rank 0.*all_reduce 17.*train\.py:41 step.*waits for.*3,9,14/s);
  await page.locator('.matrix tbody th button', { hasText: /^rank 5$/ }).click();
  assert.match(await page.locator('.matrix-details').textContent(), /Rank 5.*Rank 3.*no dump/s);
  await page.locator('.matrix-details .close').click();
  assert.equal(await page.locator('.matrix-details').count(), 0);
  assert.match(await page.locator('.matrix-operations li').first().textContent(), /all_reduce 17 of default_pg: 13 of 16 wait there since \d\d:\d\d:\d\d\.\d{3} UTC/);
  await page.done();
});

for (const scheme of ['light', 'dark']) {
  test(`${scheme}: cells and areas have their colours in the picture, as high as they are`, async () => {
    const page = await open(postmortemPage(`pixels-${scheme}`, { findings: [FINDING], hang: hangTables(8, { missing: [2] }), memory: memoryTables() }), { scheme, height: 1600 });
    const colours = await coloursOf(page, ['bad', 'annotation', 'compute', 'host', 'tail', 'data', 'comm', 'copy', 'device', 'idle']);
    const table = page.locator('.matrix');
    await settledBox(table);
    const cells = await table.evaluate((element) => {
      const outer = element.getBoundingClientRect();
      return [...element.querySelectorAll('td')].map((cell) => {
        const { x, y, width, height } = cell.getBoundingClientRect();
        return { state: cell.className, x: x - outer.x + 2, y: y - outer.y + 2, width: width - 4, height: height - 4 };
      });
    });
    const wanted = cells.map((cell) => ({ ...cell, colour: colours[cell.state.includes('missing') ? 'bad' : 'annotation'] }));
    const shares = await sharesIn(await table.screenshot({ animations: 'disabled' }), wanted, 40);
    assert.equal(shares.length, 8);
    assert.ok(shares.every((share) => share > 0.6), `${shares}`); // a letter is on it
    // Areas: in the column of one moment each category is as high as its bytes.
    const svg = page.locator('figure[data-kind="memory-areas"] svg');
    await settledBox(svg);
    const place = await svg.evaluate((element) => {
      const box = (selector) => element.querySelector(selector).getBBox();
      const whole = [...element.querySelectorAll('.area')].map((one) => one.getBBox());
      return { left: box('.area').x, right: box('.area').x + box('.area').width, bottom: Math.max(...whole.map((one) => one.y + one.height)), top: box('.reserved').y };
    });
    const tones = ['idle', 'compute', 'host', 'tail', 'data', 'comm', 'copy', 'device'];
    const [moments, at, mib] = [60, 25, 2 ** 20];
    const parts = CATEGORIES.map((name, i) => (name === 'activation_bytes' ? 40 * (at % 10) : 20 + 10 * i) * mib);
    const scale = (place.bottom - place.top) / (900 * mib); // pixels a byte, by the line of what is reserved
    const x = place.left + ((at + 0.5) / (moments - 1)) * (place.right - place.left);
    let sum = 0;
    const bands = parts.map((bytes, i) => {
      const [low, high] = [sum, sum + bytes];
      sum = high;
      return { x: x - 2, y: place.bottom - high * scale + 2, width: 4, height: Math.max(1, (high - low) * scale - 4), colour: colours[tones[i]] };
    });
    const seen = await sharesIn(await svg.screenshot({ animations: 'disabled' }), bands, 40);
    assert.ok(seen.every((share) => share > 0.9), `${seen}`);
    await page.done();
  });
}

test('the failed request stands on what was reserved, above what is allowed', async () => {
  const page = await open(postmortemPage('oom', { findings: [FINDING], memory: memoryTables() }));
  const figure = page.locator('figure[data-kind="memory-areas"]');
  await settledBox(figure.locator('svg'));
  const lines = await figure.locator('svg').evaluate((svg) => {
    const box = (selector) => svg.querySelector(selector).getBBox();
    return { failedTop: box('rect.failed').y, failedEnd: box('rect.failed').y + box('rect.failed').height, limit: box('.limit').y, reserved: box('.reserved').y };
  });
  assert.ok(Math.abs(lines.failedEnd - lines.reserved) < 1);
  assert.ok(lines.failedTop < lines.limit && lines.limit < lines.reserved);
  assert.match(await figure.textContent(), /209\.7\sMB were asked for and refused.*model\.py:26 forward/s);
  await page.done();
});

test('memory without times is drawn by the number of its events', async () => {
  const page = await open(postmortemPage('untimed', { findings: [FINDING], memory: memoryTables({ hasTimes: false, moments: 12 }) }));
  assert.match(await page.locator('figure[data-kind="memory-areas"] svg').textContent(), /first event.*event 11/s);
  assert.deepEqual(page.faults, []);
  await page.done();
});

test('one rank and 4,096 of them: equal ranks are one row', async () => {
  for (const world of [1, 64, 65, 4096]) {
    const path = postmortemPage(`world_${world}`, { findings: [FINDING], hang: hangTables(world, world === 1 ? { dead: [0] } : { missing: [world - 1] }) });
    assert.ok(statSync(path).size < 3e6);
    const page = await open(path);
    const rows = await page.locator('.matrix tbody tr th').evaluateAll((heads) => heads.map((head) => head.textContent));
    assert.equal(rows.length, world <= 64 ? world : 2);
    if (world > 64) {
      assert.match(rows[0], new RegExp(`rank ${world - 1} never-issued`));
      assert.match(rows[1], new RegExp(`${(world - 1).toLocaleString('en')} ranks: 0\\.\\.${world - 2}`));
    }
    assert.equal(await overflow(page), 0);
    assert.deepEqual(page.faults, []);
    await page.done();
  }
});

test('no group, line or file can become markup', async () => {
  for (const [i, name] of HOSTILE.entries()) {
    const findings = [{ finding: name, ranks: name, where: name, evidence: name, help: name, certainty: name }];
    const page = await open(postmortemPage(`hostile_${i}`, { findings, hang: hangTables(4, { missing: [1], name, line: name }), memory: memoryTables({ line: name }) }), { width: 1024 });
    await page.locator('.matrix tbody th button').nth(2).click();
    assert.deepEqual(page.faults, []);
    assert.equal(await page.locator('script').count(), 4);
    assert.equal(await page.locator('img, iframe, svg[onload]').count(), 0);
    assert.equal(await overflow(page), 0);
    await page.done();
  }
});

/** `borescope postmortem` of a folder with a page. */
function written(name, ...inputs) {
  const path = join(folder, `${name}.html`);
  execFileSync(borescope, ['postmortem', ...inputs, '--html', path, '-q'], { stdio: ['ignore', 'pipe', 'inherit'] });
  return path;
}

test('the program writes the page of a job of three ranks', async () => {
  const job = join(folder, 'dumps');
  mkdirSync(job);
  execFileSync('python3', [resolve(import.meta.dirname, '../../tests/data/postmortem/make_dumps.py')], { cwd: job });
  const path = written('dumps_page', join(job, 'job'));
  const { layout, tables } = embedded(path);
  assert.equal(layout.panes[0].name, 'postmortem');
  assert.ok(tables.tables.some((table) => table.name === 'hang_ranks'));
  const page = await open(path);
  assert.match(await page.locator('.matrix tbody tr th').first().textContent(), /rank 2 never-issued/);
  assert.deepEqual(page.faults, []);
  await page.done();
});

const SNAPSHOT = join(samples, 'data/h100/memory/oom.pickle.gz');
test('memory of a recorded failure: areas sum to what was allocated, the peak is that of the verdict', { skip: !existsSync(SNAPSHOT) }, async () => {
  const path = written('oom_page', SNAPSHOT);
  const { tables } = embedded(path);
  const table = (name) => Object.fromEntries(tables.tables.find((one) => one.name === name).columns.map((one) => [one.name, one.values]));
  const [areas, live, oom] = [table('memory_areas'), table('memory_live'), table('oom')];
  const sums = range(areas.event.length).map((row) => CATEGORIES.reduce((all, name) => all + areas[name][row], 0));
  const peak = live.bytes.reduce((all, bytes, row) => all + (live.moment[row] === 'peak' ? bytes : 0), 0);
  assert.equal(Math.max(...sums), peak);
  const failed = areas.failed_bytes.findLastIndex((bytes) => bytes !== null);
  assert.deepEqual([areas.failed_bytes[failed], sums[failed], areas.reserved_bytes[failed]], [oom.rounded_bytes.at(-1), oom.allocated_bytes.at(-1), oom.reserved_bytes.at(-1)]);
  const page = await open(path);
  assert.ok(await page.locator('figure[data-kind="memory-areas"] .area').count() >= 2);
  assert.ok(statSync(path).size < 3e6);
  assert.deepEqual(page.faults, []);
  await page.done();
});

test('the page is written over no file of the job, and again over itself', () => {
  const job = join(folder, 'again');
  mkdirSync(job);
  execFileSync('python3', [resolve(import.meta.dirname, '../../tests/data/postmortem/make_dumps.py')], { cwd: job });
  const page = join(job, 'job', 'page.html');
  const run = (target) => execFileSync(borescope, ['postmortem', join(job, 'job'), '--html', target, '-q'], { stdio: 'pipe' }).toString();
  const first = run(page);
  const bytes = readFileSync(page, 'utf8');
  assert.equal(run(page), first);
  assert.equal(readFileSync(page, 'utf8'), bytes);
  const dump = embedded(page).tables.tables.find((table) => table.name === 'postmortem_files').columns[0].values[0];
  copyFileSync(dump, join(job, 'kept'));
  assert.throws(() => run(dump), (error) => error.status === 2);
  assert.deepEqual(readFileSync(dump), readFileSync(join(job, 'kept')));
});
