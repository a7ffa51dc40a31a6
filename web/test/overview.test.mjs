// The overview as it is drawn: the strip of the recording pixel by pixel, what would help most, and what of a finding fits.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';

import { atLast, blank, embedded, open, overflow, report, samples, settledBox, start, stop } from './browser.mjs';
import { timelinePage } from './timeline_page.mjs';
import { TONES, documentOf } from './timelines.mjs';

let tool;
before(async () => {
  await start();
  tool = await blank();
});
after(stop);

const H100 = join(samples, 'data/h100');
const PLANTED = join(H100, 'planted/clean.pt.trace.json.gz');
const GENERATED = join(H100, 'generate.pt.trace.json.gz');
const lacking = (path) => !existsSync(path) && `${path} is not there`;

// ---- The strip ----

const SPAN = 100_000;
const STEPS = [[0, 40_000], [40_000, 100_000]];
const QUARTERS = [1, 0, 0.5, 0.25]; // busy shares that are planted

const box = (begin, duration, name, tone) => ({ begin, duration, depth: 0, name, tone: TONES.indexOf(tone), busy: duration, count: 1 });

/** A stream that works the planted share of each quarter, in turns that are much shorter than a pixel. */
function plantedStrip() {
  const boxes = [];
  const turn = 40;
  for (let at = 0; at < SPAN; at += turn) {
    const share = QUARTERS[Math.floor((at / SPAN) * QUARTERS.length)];
    if (share > 0) {
      boxes.push(box(at, turn * share, 0, 'compute'));
    }
  }
  const track = (kind, name, parent, own) => ({ info: { rank: 0, kind, name, parent, depths: 1, events: own.length, busy_ns: 0, unit: '' }, boxes: own });
  return documentOf({
    tracks: [
      track('steps', 'steps', '', STEPS.map(([begin, end], i) => box(begin, end - begin, 1 + i, 'annotation'))),
      track('stream', 'stream 7', 'GPU 0', boxes),
    ],
    names: ['gemm', 'ProfilerStep#12', 'ProfilerStep#13'], tones: TONES, span: SPAN,
  });
}

/** In the picture of the strip: for each column of pixels how many have the colour of work, and the colour of the steps. */
const columnsOf = (picture, busy) => tool.evaluate(async ({ source, busy }) => {
  const image = await createImageBitmap(await (await fetch(`data:image/png;base64,${source}`)).blob());
  const context = new OffscreenCanvas(image.width, image.height).getContext('2d');
  context.drawImage(image, 0, 0);
  context.fillStyle = busy;
  const { data, width, height } = context.getImageData(0, 0, image.width, image.height);
  context.fillRect(0, 0, 1, 1);
  const wanted = context.getImageData(0, 0, 1, 1).data;
  const at = (x, y) => [...data.slice((y * width + x) * 4, (y * width + x) * 4 + 3)];
  return Array.from({ length: width }, (_, x) => ({
    step: at(x, 2).join(),
    busy: Array.from({ length: height }, (_one, y) => at(x, y).every((value, i) => Math.abs(value - wanted[i]) < 40)).filter(Boolean).length,
  }));
}, { source: picture.toString('base64'), busy });

for (const scheme of ['light', 'dark']) {
  test(`the strip is drawn as it was planted, and a click leads to its step: ${scheme}`, async () => {
    const page = await open(timelinePage(`strip-${scheme}`, plantedStrip()), { at: '#overview', scheme });
    const strip = page.locator('.busy-strip');
    await strip.waitFor();
    const { width } = await settledBox(strip);
    const busy = await strip.locator('path.busy').evaluate((path) => getComputedStyle(path).fill);
    const columns = await columnsOf(await strip.screenshot({ animations: 'disabled' }), busy);
    const high = 46; // pixels of a share of 1
    QUARTERS.forEach((share, i) => {
      const own = columns.slice(Math.ceil((i * width) / 4) + 3, Math.floor(((i + 1) * width) / 4) - 3);
      const mean = own.reduce((sum, column) => sum + column.busy, 0) / own.length;
      assert.ok(Math.abs(mean / high - share) < 0.06, `quarter ${i}: ${mean / high}, not ${share}`);
      assert.ok(own.every((column) => Math.abs(column.busy / high - share) < 0.15), `quarter ${i} is as high everywhere`);
    });
    // The two steps have colours of their own, and meet where the second begins.
    const [first, second] = [columns[Math.floor(width * 0.1)].step, columns[Math.floor(width * 0.9)].step];
    assert.notEqual(first, second);
    assert.equal(columns[Math.floor(width * 0.38)].step, first);
    assert.equal(columns[Math.floor(width * 0.42)].step, second);
    assert.deepEqual(await strip.locator('text').allTextContents(), ['12', '13']);
    assert.match(await strip.getAttribute('aria-label'), /2 steps; devices busy 43\.\d/);
    await strip.click({ position: { x: width * 0.7, y: 30 } });
    const hash = await atLast(() => page.evaluate(() => location.hash), (text) => text.includes('t='));
    assert.match(hash, /^#timeline\?.*t=40000-100000/);
    assert.deepEqual(page.faults, []);
    await page.done();
  });
}

// ---- What would help most ----

const changes = (page) => page.locator('.changes');
const tableOf = (path, section, name) => {
  const { tables, layout } = embedded(path);
  const own = layout.sections.find((one) => one.name === section);
  return tables.tables.slice(own.first_table, own.first_table + own.tables).find((table) => table.name === name);
};
const cells = (table, name) => table.columns.find((column) => column.name === name).values;
const pixels = (locator) => locator.evaluate((one) => one.getBoundingClientRect().width);

test('the overview has the changes that save most, as the replay has them, and what recording cost', { skip: lacking(PLANTED) }, async () => {
  const path = report('advice', PLANTED);
  const ranking = tableOf(path, 'whatif', 'ranking');
  const [scenarios, saved, made, steps] = ['scenario', 'saved_share', 'new_ns', 'step_ns'].map((name) => cells(ranking, name));
  const best = scenarios.map((_, row) => row).sort((a, b) => saved[b] - saved[a]).slice(0, 3);
  const page = await open(path, { at: '#overview' });
  const lines = changes(page).locator('li');
  await lines.first().waitFor();
  assert.match(await changes(page).locator('h3').textContent(), new RegExp(`at half its time, by replay; a step takes ${(steps[0] / 1e6).toFixed(2)}\\sms`));
  assert.equal(await lines.count(), best.length);
  for (const [i, row] of best.entries()) {
    const line = lines.nth(i);
    const text = await line.textContent();
    assert.ok(text.includes(scenarios[row].replace(/ x 0\.5$/, '')), text);
    assert.ok(text.includes(`→ ${(made[row] / 1e6).toFixed(2)} ms`) || text.includes((made[row] / 1e6).toFixed(2)), text);
    assert.ok(text.includes(`−${(saved[row] * 100).toFixed(1)}`), text);
    const [whole, bar] = [await pixels(line.locator('.track')), await pixels(line.locator('.track > span'))];
    assert.ok(Math.abs(bar / whole - saved[row]) < 0.01, `${bar} of ${whole}, not ${saved[row]}`);
  }
  const cost = tableOf(path, 'summary', 'true_time');
  const [recorded, estimate] = [cells(cost, 'recorded_ns')[0], cells(cost, 'estimate_ns')[0]];
  assert.match(await page.locator('.cost').textContent(), new RegExp(`Recording cost about ${(100 * (1 - estimate / recorded)).toFixed(1)}\\s%`));
  await lines.first().locator('a').click();
  await page.locator('#whatif').waitFor();
  assert.match(await page.evaluate(() => location.hash), /^#(advice\/)?whatif/);
  assert.deepEqual(page.faults, []);
  await page.done();
});

test('functions of Python are told by file and name, and a recording without steps is not called a step', { skip: lacking(GENERATED) }, async () => {
  const path = report('generated', GENERATED);
  for (const width of [1024, 1440]) {
    const page = await open(path, { at: '#overview', width });
    await changes(page).locator('li').first().waitFor();
    const labels = await changes(page).locator('.bar-label').allTextContents();
    assert.equal(new Set(labels).size, labels.length, labels.join(' | '));
    assert.ok(labels.some((label) => /modeling_qwen2\.py\(\d+\): forward$/.test(label)), labels.join(' | '));
    const cut = await changes(page).locator('.bar-label').evaluateAll((all) => all.filter((one) => one.scrollWidth > one.clientWidth + 1).map((one) => one.textContent));
    assert.deepEqual(cut, []);
    assert.match(await changes(page).locator('h3').textContent(), /the recording takes 327/);
    assert.ok(await overflow(page) <= 0);
    await page.done();
  }
});

// ---- Findings ----

test('evidence is cut between its parts, and is whole with the advice', { skip: lacking(PLANTED) }, async () => {
  const path = report('cut', PLANTED);
  const evidence = cells(tableOf(path, 'summary', 'verdict'), 'evidence');
  let cut = 0;
  for (const width of [900, 1024, 1280, 1440]) {
    const page = await open(path, { at: '#overview', width });
    const paragraphs = page.locator('.verdict .evidence');
    const isDone = (texts) => texts.length === evidence.length;
    const texts = await atLast(() => paragraphs.allTextContents(), isDone);
    const hidden = await paragraphs.evaluateAll((all) => all.map((one) => one.scrollHeight - one.clientHeight));
    assert.ok(hidden.every((rest) => rest <= 1), `${width}: ${hidden}`);
    for (const [i, text] of texts.entries()) {
      const whole = (await paragraphs.nth(i).getAttribute('title'));
      if (text !== whole) {
        cut += 1;
        assert.match(text, /[;,] …$/, text);
        assert.ok(whole.startsWith(text.slice(0, -2)), text);
      }
    }
    await page.locator('.verdict button', { hasText: 'What to do' }).first().click();
    const first = page.locator('.verdict li').first().locator('p').first();
    assert.equal(await atLast(() => first.textContent(), (text) => !text.endsWith('…')), await first.getAttribute('title'));
    await page.done();
  }
  assert.ok(cut > 0, 'some evidence is longer than two lines');
});
