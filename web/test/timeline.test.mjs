// The timeline in a real browser: what is drawn, what keys, pointer and fingers do, and how long a frame takes.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { after, before, test } from 'node:test';

import { accessibilityFaults, atLast, open, overflow, start, stop } from './browser.mjs';
import { rest, timelinePage } from './timeline_page.mjs';
import { TONES, chunkOf, documentOf, exactBoxes, training } from './timelines.mjs';

before(start);
after(stop);

// Four times what a reader should wait for, as tests run beside others on small machines. bench/README.md
// has the figures.
const MOST_FIRST_FRAME_MS = 1_200;
const MOST_FRAME_MS = 67;

const run = training({ ranks: 2, steps: 12, perStep: 60, windowStep: 7 });
const WIDTH = 1280;
const plotOf = (page) => page.getByRole('application');
const stateOf = (page) => page.locator('.timeline > .note').textContent();
const chosen = (page) => page.getByRole('region', { name: 'Selected event' });

async function opened(name, document, options) {
  const page = await open(timelinePage(name, document), { at: '#timeline', ...options });
  await plotOf(page).waitFor();
  await rest(page);
  return page;
}

/** "20.00 ms" of the line below the picture, in nanoseconds. */
async function seenSpan(page) {
  const [, value, unit] = /Seen: ([\d.,]+)\u00a0(ns|µs|ms|s) /.exec(await stateOf(page));
  return Number(value.replace(/,/g, '')) * { ns: 1, µs: 1e3, ms: 1e6, s: 1e9 }[unit];
}

/** Where a time of a row lies in the window when the whole is seen. */
async function placeOf(page, label, ns, span, line = 0) {
  await plotOf(page).scrollIntoViewIfNeeded();
  const row = await page.locator('.tl-label').filter({ hasText: label }).first().boundingBox();
  const plot = await page.locator('.tl-area').boundingBox();
  return { x: plot.x + (ns / span) * plot.width, y: row.y + 3 + 16 * line + 8 };
}

/** The colour in the picture at a place of the window. */
const colourAt = (page, { x, y }) => plotOf(page).evaluate((canvas, at) => {
  const box = canvas.getBoundingClientRect();
  const ratio = canvas.width / box.width;
  const copy = new OffscreenCanvas(1, 1).getContext('2d', { willReadFrequently: true });
  copy.drawImage(canvas, -Math.round((at.x - box.x) * ratio), -Math.round((at.y - box.y) * ratio));
  return [...copy.getImageData(0, 0, 1, 1).data].slice(0, 3);
}, { x, y });

/** A recording of which every pixel is known: two long boxes on a stream, launched from a thread. */
function planted(names = ['launch', 'gemm', 'reduce', '[[8, 16]] bf16', 'step 1', 'forward']) {
  const info = { rank: 0, parent: 'GPU 0', depths: 1, events: 2, busy_ns: 400_000, unit: '' };
  const tone = (name) => TONES.indexOf(name);
  return documentOf({
    span: 1_000_000, names, tones: TONES, grains: [1024],
    tracks: [
      { info: { ...info, kind: 'steps', name: 'steps', parent: '' }, boxes: [{ begin: 0, duration: 900_000, depth: 0, name: 4, tone: tone('annotation') }] },
      { info: { ...info, kind: 'thread', name: 'thread 1', parent: 'host', depths: 2 }, boxes: [
        { begin: 100_000, duration: 300_000, depth: 0, name: 5, tone: tone('op'), detail: 3 },
        { begin: 150_000, duration: 50_000, depth: 1, name: 0, tone: tone('host') }] },
      { info: { ...info, kind: 'stream', name: 'stream 7' }, boxes: [
        { begin: 400_000, duration: 200_000, depth: 0, name: 1, tone: tone('compute'), detail: 3, launchTrack: 1, launchNs: 150_000 },
        { begin: 700_000, duration: 200_000, depth: 0, name: 2, tone: tone('comm') }] },
      { info: { ...info, kind: 'counter', name: 'memory', unit: 'B' }, points: [{ begin: 0, low: 4e9, high: 4e9, last: 4e9 }, { begin: 500_000, low: 8e9, high: 8e9, last: 8e9 }] },
    ],
  });
}

test('boxes are drawn where they are, in their tone, and nothing is where nothing is', async () => {
  for (const [scheme, compute, comm, paper] of [['light', [0, 114, 178], [230, 159, 0], [255, 255, 255]], ['dark', [58, 155, 217], [233, 171, 38], [20, 23, 28]]]) {
    const page = await opened(`planted_${scheme}`, planted(), { scheme });
    const at = async (ns) => colourAt(page, await placeOf(page, 'stream 7', ns, 1_000_000));
    assert.deepEqual(await at(590_000), compute);
    assert.deepEqual(await at(402_000), compute);
    assert.deepEqual(await at(890_000), comm);
    assert.deepEqual(await at(650_000), paper);
    assert.deepEqual(await at(390_000), paper);
    assert.deepEqual(page.faults, []);
    await page.done();
  }
});

test('a click tells about the event, its shapes, its launch and the stack of that', async () => {
  const page = await opened('click', planted());
  const { x, y } = await placeOf(page, 'stream 7', 500_000, 1_000_000);
  await page.mouse.click(x, y);
  const text = await chosen(page).textContent();
  for (const part of ['gemm', 'GPU 0 · stream 7', '400\u00a0µs', '200.0\u00a0µs', '[[8, 16]] bf16', '250.0\u00a0µs before, by launch', 'step 1', 'forward']) {
    assert.ok(text.includes(part), `${part} in ${text}`);
  }
  await chosen(page).getByRole('button', { name: 'Copy name' }).click();
  assert.equal(await page.evaluate(() => navigator.clipboard.readText()), 'gemm');
  await chosen(page).getByRole('button', { name: 'Go to its launch' }).click();
  assert.equal(await chosen(page).locator('.tl-name').textContent(), 'launch');
  await chosen(page).getByRole('button', { name: 'forward' }).click();
  assert.equal(await chosen(page).locator('.tl-name').textContent(), 'forward');
  await page.keyboard.press('Escape');
  await plotOf(page).focus();
  await page.keyboard.press('Escape');
  assert.equal(await chosen(page).count(), 0);
  assert.deepEqual(page.faults, []);
  await page.done();
});

test('the panel about an event is in the window, below its row, and so is the tooltip', async () => {
  const page = await opened('panel', run, { height: 800 });
  const thread = page.locator('.tl-label').filter({ hasText: 'thread 4211' }).first();
  await thread.scrollIntoViewIfNeeded();
  const box = await thread.boundingBox();
  const plot = await page.locator('.tl-area').boundingBox();
  await page.mouse.move(plot.x + 60, Math.min(box.y + 11, 720));
  await rest(page);
  const tip = await page.locator('.tl-tip').boundingBox();
  assert.ok(tip.y + tip.height <= 800, `${tip.y} ${tip.height}`);
  await page.mouse.click(plot.x + 60, box.y + 11);
  await rest(page);
  const [panel, rows] = [await chosen(page).boundingBox(), await page.locator('.tl-scroll').boundingBox()];
  assert.ok(panel.y >= rows.y + rows.height && panel.y + panel.height <= 800, `${panel.y} ${panel.height} ${rows.y} ${rows.height}`);
  assert.ok(await chosen(page).getByRole('button', { name: 'Copy name' }).isVisible());
  const own = await thread.boundingBox();
  assert.ok(own.y < rows.y + rows.height && own.y + own.height > rows.y);
  await page.done();
});

test('letters act wherever the focus is, unless somebody types', async () => {
  const page = await opened('anywhere', run);
  const all = await seenSpan(page);
  await page.keyboard.press('w');
  await rest(page);
  const near = await atLast(() => seenSpan(page), (now) => now < all);
  assert.ok(near < all);
  await page.getByRole('searchbox', { name: 'Search events' }).focus();
  await page.keyboard.press('s');
  await rest(page);
  assert.equal(await seenSpan(page), near);
  await page.show('#overview');
  await page.locator('#tab-overview').focus();
  await page.keyboard.press('s');
  await page.show('#timeline');
  await rest(page);
  assert.equal(await seenSpan(page), near);
  assert.deepEqual(page.faults, []);
  await page.done();
});

test('an address with a step or a time opens there', async () => {
  for (const [at, least, most] of [['#timeline?step=7', 20e6, 26e6], ['#timeline?t=100000000-200000000', 100e6, 115e6]]) {
    const page = await opened('there', run, { at });
    const seen = await seenSpan(page);
    assert.ok(seen >= least * 0.99 && seen <= most, `${at}: ${seen}`);
    await page.done();
  }
});

test('the critical path leads to its event, which it did not launch; colours are told', async () => {
  const page = await opened('path', run, { at: '#timeline?step=7' });
  const label = await page.locator('.tl-label').filter({ hasText: 'critical path' }).first().boundingBox();
  const plot = await page.locator('.tl-area').boundingBox();
  for (let x = 200; x < 900 && (await chosen(page).getByRole('button', { name: 'Go to the event' }).count()) === 0; x += 7) {
    await page.mouse.click(plot.x + x, label.y + 11);
    await rest(page);
  }
  assert.doesNotMatch(await chosen(page).textContent(), /launched/i);
  await chosen(page).getByRole('button', { name: 'Go to the event' }).click();
  assert.doesNotMatch(await chosen(page).locator('dl').textContent(), /critical path/);
  const colours = await page.getByRole('list', { name: 'Colours of events' }).textContent();
  assert.match(colours, /compute.*communication/);
  assert.doesNotMatch(colours, /idle/);
  await page.done();
});

test('an arrow leads from the launch to the selected kernel', async () => {
  const page = await opened('arrow', planted());
  const middle = async () => plotOf(page).evaluate((canvas) => {
    const data = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
    let dark = 0;
    for (let i = 0; i < data.length; i += 4) {
      dark += Number(data[i] === 27 && data[i + 1] === 31 && data[i + 2] === 38); // --ink
    }
    return dark;
  });
  const without = await middle();
  const { x, y } = await placeOf(page, 'stream 7', 500_000, 1_000_000);
  await page.mouse.click(x, y);
  await page.mouse.move(x, y + 300);
  await rest(page);
  assert.ok((await middle()) > without + 400, 'an outline and an arrow');
  await page.done();
});

test('the pointer shows what is below it: an event, the value of a counter', async () => {
  const page = await opened('hover', planted());
  const tip = page.locator('.tl-tip');
  const over = async (label, ns) => {
    const { x, y } = await placeOf(page, label, ns, 1_000_000);
    await page.mouse.move(x, y);
    await rest(page);
    return (await tip.allTextContents()).join('');
  };
  assert.match(await over('stream 7', 500_000), /^gemm200\.0\u00a0µs · GPU 0 · stream 7\[\[8, 16\]\] bf16launched by launch, host · thread 1$/);
  assert.match(await over('memory', 200_000), /^memory: 4\.000\u00a0GB$/);
  assert.match(await over('memory', 700_000), /^memory: 8\.000\u00a0GB$/);
  assert.equal(await over('stream 7', 650_000), '');
  await page.done();
});

test('keys zoom, move, fit and select', async () => {
  const page = await opened('keys', run);
  await plotOf(page).focus();
  const press = async (key, times = 1) => {
    for (let i = 0; i < times; ++i) {
      await page.keyboard.press(key);
    }
    await rest(page);
    return seenSpan(page);
  };
  assert.equal(await seenSpan(page), 240_000_000);
  assert.ok((await press('+', 2)) < 130_000_000);
  const before_ = await seenSpan(page);
  assert.ok((await press('-')) > before_);
  assert.equal(await press('Home'), 240_000_000);
  assert.ok(Math.abs((await press('f')) - 24_960_000) < 20_000, 'the exact window');
  await page.keyboard.down('w');
  await page.waitForTimeout(300);
  await page.keyboard.up('w'); // held long enough for some frames
  await rest(page);
  assert.ok((await seenSpan(page)) < 20_000_000);
  const state = await stateOf(page);
  await press('d');
  assert.notEqual(await stateOf(page), state);
  await press('Home');
  await press('ArrowDown');
  const name = () => chosen(page).locator('.tl-name').textContent();
  assert.match(await name(), /ProfilerStep#/);
  const step = await name();
  await press('ArrowRight');
  assert.notEqual(await name(), step);
  await press('ArrowDown', 2);
  await press('ArrowDown');
  assert.doesNotMatch(await name(), /ProfilerStep/);
  assert.match(await page.locator('.timeline > [role="status"]').textContent(), /at .*ms, rank 0/);
  assert.ok((await press('Enter')) < 100_000_000);
  await press('r');
  assert.equal(await page.getByRole('button', { name: 'No range' }).count(), 1);
  await press('/');
  assert.equal(await page.evaluate(() => document.activeElement.type), 'search');
  assert.deepEqual(page.faults, []);
  await page.done();
});

test('those who want no motion get steps', async () => {
  const page = await opened('still', run);
  await page.emulateMedia({ reducedMotion: 'reduce' });
  await plotOf(page).focus();
  await page.keyboard.down('w');
  await rest(page);
  const span = await seenSpan(page);
  await rest(page);
  assert.equal(await seenSpan(page), span); // one press, one step, though the key is still down
  assert.ok(span < 240_000_000);
  await page.keyboard.up('w');
  await page.done();
});

test('the wheel zooms at the pointer with Ctrl and moves with Shift; a drag selects a range, with Shift it moves', async () => {
  const page = await opened('wheel', run);
  await plotOf(page).scrollIntoViewIfNeeded();
  const box = await plotOf(page).boundingBox();
  const at = (share) => [box.x + box.width * share, box.y + 60];
  await page.mouse.move(...at(0.5));
  await page.keyboard.down('Control');
  await page.mouse.wheel(0, -300);
  await page.keyboard.up('Control');
  await rest(page);
  const zoomed = await seenSpan(page);
  assert.ok(zoomed < 100_000_000);
  const beginOf = async () => /from (.*?)\. /.exec(await stateOf(page))[1];
  const begin = await beginOf();
  await page.keyboard.down('Shift');
  await page.mouse.wheel(0, 100);
  await rest(page);
  assert.notEqual(await beginOf(), begin);
  const moved = await beginOf();
  await page.mouse.down();
  await page.mouse.move(...at(0.3), { steps: 4 });
  await page.mouse.up();
  await page.keyboard.up('Shift');
  await rest(page);
  assert.notEqual(await beginOf(), moved);
  assert.equal(await seenSpan(page), zoomed);
  await page.mouse.move(...at(0.25));
  await page.mouse.down();
  await page.mouse.move(...at(0.75), { steps: 4 });
  await page.mouse.up();
  const [, range] = /Range ([\d.]+)/.exec(await page.locator('.tl-tools').textContent());
  assert.ok(Math.abs(Number(range) * 1e6 - zoomed / 2) < zoomed / 50, `${range} of ${zoomed}`);
  await page.getByRole('button', { name: 'Zoom to range' }).click();
  await rest(page);
  assert.ok((await seenSpan(page)) < zoomed * 0.6);
  await page.getByRole('button', { name: 'No range' }).click();
  assert.deepEqual(page.faults, []);
  await page.done();
});

test('fingers move and pinch', async () => {
  const page = await opened('touch', run, { width: 420 });
  await plotOf(page).scrollIntoViewIfNeeded();
  const box = await plotOf(page).boundingBox();
  const devtools = await page.context().newCDPSession(page);
  const touch = (type, ...xs) => devtools.send('Input.dispatchTouchEvent', { type, touchPoints: xs.map((x, id) => ({ x: box.x + box.width * x, y: box.y + 80, id })) });
  await touch('touchStart', 0.4, 0.6);
  for (const away of [0.12, 0.2, 0.3, 0.4]) {
    await touch('touchMove', 0.5 - away, 0.5 + away);
  }
  await touch('touchEnd');
  await rest(page);
  const span = await seenSpan(page);
  assert.ok(Math.abs(span - 60_000_000) < 12_000_000, `${span}`); // fingers four times as far apart
  const state = await stateOf(page);
  await touch('touchStart', 0.7);
  for (const x of [0.65, 0.6, 0.5, 0.4, 0.3]) {
    await touch('touchMove', x);
  }
  await touch('touchEnd');
  await rest(page);
  assert.notEqual(await stateOf(page), state);
  assert.equal(await seenSpan(page), span);
  await page.done();
});

test('the minimap brings the view to where it is pressed', async () => {
  const page = await opened('map', run);
  await plotOf(page).focus();
  for (let i = 0; i < 6; ++i) {
    await page.keyboard.press('+');
  }
  const head = await page.locator('.tl-head canvas').boundingBox();
  await page.mouse.click(head.x + head.width * 0.9, head.y + 10);
  await rest(page);
  const [, begin] = /from ([\d.]+)/.exec(await stateOf(page));
  const span = await seenSpan(page);
  assert.ok(Math.abs(Number(begin) * 1e6 + span / 2 - 216_000_000) < 2_000_000);
  await page.done();
});

test('a search counts, fades what it did not find, and visits what it found', async () => {
  const page = await opened('search', planted());
  const before_ = await colourAt(page, await placeOf(page, 'stream 7', 590_000, 1_000_000));
  const input = page.getByRole('searchbox', { name: 'Search events' });
  await input.fill('REDUCE');
  const status = page.locator('.tl-tools [role="status"]');
  assert.equal(await atLast(() => status.textContent(), (text) => text === '1 event'), '1 event');
  await rest(page);
  const pale = await colourAt(page, await placeOf(page, 'stream 7', 590_000, 1_000_000));
  assert.ok(pale[0] > before_[0] + 100, `${pale}`);
  assert.deepEqual(await colourAt(page, await placeOf(page, 'stream 7', 890_000, 1_000_000)), [230, 159, 0]);
  await input.press('Enter');
  assert.equal(await chosen(page).locator('.tl-name').textContent(), 'reduce');
  await input.press('Escape');
  assert.deepEqual(page.faults, []);
  await page.done();
});

test('merged boxes say how many events they are and whether a zoom shows them', async () => {
  const page = await opened('merged', training({ steps: 12, perStep: 400, windowStep: 7, grains: [4 ** 9] }));
  const hover = async (share) => {
    const { x, y } = await placeOf(page, 'stream 7', share * 240_000_000, 240_000_000);
    await page.mouse.move(x, y);
    return page.locator('.tl-tip').textContent();
  };
  assert.match(await hover(0.2), /mostly this: [\d,]+ events, busy [\d.]+\u00a0%\. Outside of the exact windows of this page: events are merged\. “borescope open RECORDING --report” shows every event\./);
  assert.match(await hover(0.63), /Zoom in for detail/);
  await page.getByRole('button', { name: 'Zoom in' }).click({ clickCount: 4 });
  await rest(page);
  assert.match(await stateOf(page), /are merged in a part of this view; exact is what lies between the dashed lines \(slowest step: 7\)\. All of it does not fit into a page: “borescope open RECORDING --report”/);
  await page.done();
});

test('arrow keys go from row to row, also where the selected event begins outside of the view', async () => {
  const page = await opened('beside', planted());
  await plotOf(page).focus();
  await page.keyboard.press('ArrowDown');
  const name = () => chosen(page).locator('.tl-name').textContent();
  assert.equal(await name(), 'step 1');
  for (let i = 0; i < 3; ++i) {
    await page.keyboard.press('+');
  }
  for (const wanted of ['gemm', 'forward', 'launch']) { // devices are above threads
    await page.keyboard.press('ArrowDown');
    assert.equal(await name(), wanted);
  }
  await page.keyboard.press('ArrowUp');
  assert.equal(await name(), 'forward');
  await page.keyboard.press('ArrowUp');
  assert.equal(await name(), 'gemm');
  await page.done();
});

test('addresses lead to a range, a step and a search, and a chosen range is in the address', async () => {
  const page = await opened('address', run, { at: '#timeline?step=7&rank=1&text=AllReduce&t=140000000-160000000' });
  const text = () => page.locator('.tl-tools').textContent();
  assert.match(await text(), /Range 20\.00\u00a0ms/);
  assert.match(await atLast(text, (now) => /\d events/.test(now)), /\d events/);
  assert.equal(await chosen(page).locator('.tl-name').textContent(), 'ProfilerStep#7');
  assert.match(await chosen(page).textContent(), /rank 1 · steps/);
  assert.ok((await seenSpan(page)) < 240_000_000);
  await plotOf(page).focus();
  await page.keyboard.press('Home');
  await page.keyboard.press('r');
  const hash = () => page.evaluate(() => location.hash);
  assert.match(await atLast(hash, (now) => now.includes('t=0-240000000')), /[?&]t=0-240000000/);
  await page.getByRole('button', { name: 'No range' }).click();
  assert.doesNotMatch(await atLast(hash, (now) => !now.includes('&t=')), /[?&]t=/);
  assert.deepEqual(page.faults, []);
  await page.done();
});

test('a dragged range has sums at once, in every pane, until its chip is removed', async () => {
  const page = await opened('sums', training({ ranks: 2, steps: 4 }));
  const box = await plotOf(page).boundingBox();
  assert.equal(await page.locator('.range').count(), 0);
  await page.mouse.move(box.x + 200, box.y + 30);
  await page.mouse.down();
  await page.mouse.move(box.x + 320, box.y + 40, { steps: 4 });
  await page.mouse.up();
  const said = () => page.locator('.range [role="status"]').textContent().catch(() => '');
  const words = /2 devices busy \d+\.\d\s% · [\d,]+ kernels and copies begin · [\d,]+ launches/;
  assert.match(await atLast(said, (text) => words.test(text)), words);
  assert.match(await page.locator('.range').textContent(), /Exact: every event of the range is in this page/);
  assert.ok((await page.locator('.range caption', { hasText: 'Operators' }).count()) > 0);
  const sums = await said();
  await page.getByRole('tab', { name: 'Sections' }).click();
  assert.equal(await atLast(said, (text) => text === sums), sums);
  assert.match(await page.evaluate(() => location.hash), /[?&]t=\d+-\d+/);
  assert.deepEqual(await accessibilityFaults(page), []);
  await page.getByRole('button', { name: 'all times again' }).click();
  assert.equal(await atLast(() => page.locator('.range').count(), (count) => count === 0), 0);
  assert.doesNotMatch(await page.evaluate(() => location.hash), /t=/);
  assert.deepEqual(page.faults, []);
  await page.done();
});

test('where boxes are merged the sums say that they are about right, and what cannot be told', async () => {
  const page = await opened('about', training({ ranks: 1, steps: 6, windowStep: 0 }), { at: '#timeline?t=60000000-80000000' });
  const text = () => page.locator('.range').textContent().catch(() => '');
  assert.match(await atLast(text, (now) => now.includes('About:')), /busy ≈.*launches: cannot tell.*cannot tell.*About: events closer together than/);
  await page.done();
});

test('a step is found whose name does not end in its number', async () => {
  const document = training({ ranks: 1, steps: 5 });
  const named = { ...document, names: document.names.map((name) => name.replace(/^ProfilerStep#(\d+)$/, (_, at) => `epoch ${'abcdefghij'[at]}`)) };
  const page = await opened('named', named, { at: '#timeline?step=3' });
  assert.equal(await chosen(page).locator('.tl-name').textContent(), 'epoch d');
  await page.done();
});

test('what was left out of the document is said', async () => {
  const page = await opened('left', { ...planted(), left_out: { tracks: 2, events: 1 } });
  assert.match(await stateOf(page), /Left out for size: 2 rows and 1 event; /);
  await page.done();
});

test('groups and deep rows fold', async () => {
  const page = await opened('fold', run);
  const labels = () => page.locator('.tl-label').count();
  const all = await labels();
  await page.getByRole('button', { name: 'rank 1' }).click();
  assert.equal(await labels(), all - 11);
  const height = () => page.locator('.tl-content').evaluate((content) => content.clientHeight);
  const tall = await height();
  await page.getByRole('button', { name: 'thread 4211', exact: true }).first().click();
  assert.equal(await height(), tall - 3 * 16);
  await page.getByRole('button', { name: 'rank 1' }).click();
  assert.equal(await labels(), all);
  await page.done();
});

test('a pinned row stays at the top while the others scroll, and a click in it selects there', async () => {
  const page = await opened('pin', run, { height: 560 });
  const row = page.locator('.tl-label').filter({ hasText: 'stream 7' }).first();
  await row.hover();
  await row.getByRole('button', { name: 'Keep stream 7 at the top' }).click();
  const pinned = page.locator('.tl-labels-pinned .tl-label');
  assert.match(await pinned.textContent(), /rank 0 · GPU 0 · stream 7/);
  const top = async () => (await pinned.boundingBox()).y - (await page.locator('.tl-scroll').boundingBox()).y;
  const before = await top();
  await page.locator('.tl-scroll').evaluate((scroller) => { scroller.scrollTop = 150; });
  await rest(page);
  assert.ok(Math.abs(await top() - before) < 1.5);
  const [box, plot] = [await pinned.boundingBox(), await page.locator('.tl-area').boundingBox()];
  assert.notDeepEqual(await colourAt(page, { x: plot.x + plot.width * 0.4, y: box.y + 11 }), [255, 255, 255]);
  await page.mouse.click(plot.x + plot.width * 0.4, box.y + 11);
  assert.match(await chosen(page).textContent(), /rank 0 · GPU 0 · stream 7/);
  await pinned.getByRole('button', { name: /at the top/ }).click();
  assert.equal(await pinned.count(), 0);
  assert.deepEqual(page.faults, []);
  await page.done();
});

test('a copied address shows the same view, event and pinned rows', async () => {
  const page = await opened('look', run);
  const { x, y } = await placeOf(page, 'stream 7', 150_000_000, 240_000_000);
  await page.mouse.click(x, y);
  await plotOf(page).focus();
  await page.keyboard.press('Enter');
  const row = page.locator('.tl-label').filter({ hasText: 'stream 20' }).first();
  await row.hover();
  await row.getByRole('button', { name: 'Keep stream 20 at the top' }).click();
  const hash = () => page.evaluate(() => location.hash);
  const address = await atLast(hash, (now) => /view=.*box=.*pin=/.test(now));
  assert.match(address, /^#timeline\?view=\d+-\d+&box=4\.\d+\.\d+\.0&pin=5$/);
  const [name, seen] = [await chosen(page).locator('.tl-name').textContent(), await seenSpan(page)];
  const place = await chosen(page).locator('dd').nth(1).textContent();
  await page.done();
  const copied = await opened('look', run, { at: address });
  assert.equal(await chosen(copied).locator('.tl-name').textContent(), name);
  assert.equal(await chosen(copied).locator('dd').nth(1).textContent(), place);
  assert.equal(await seenSpan(copied), seen);
  assert.match(await copied.locator('.tl-labels-pinned').textContent(), /stream 20/);
  await copied.show('#timeline?view=0-1000000&box=999.1.2.3&pin=998'); // of another page
  await rest(copied);
  assert.ok(Math.abs(await seenSpan(copied) - 1_000_000) < 10_000);
  assert.deepEqual(copied.faults, []);
  await copied.done();
});

test('other panes and links that do not speak of it leave the look of the timeline, and the address says it again', async () => {
  const page = await opened('kept_look', run, { at: '#timeline?view=150000000-160000000&pin=5' });
  const hash = () => page.evaluate(() => location.hash);
  const before = await seenSpan(page);
  await page.evaluate(() => { location.hash = '#sections'; });
  assert.equal(await atLast(hash, (now) => now === '#sections'), '#sections');
  await page.evaluate(() => { location.hash = '#timeline'; });
  assert.match(await atLast(hash, (now) => /view=/.test(now)), /^#timeline\?view=150000000-160000000&pin=5$/);
  await rest(page);
  assert.equal(await seenSpan(page), before);
  await page.evaluate(() => { // as a link of the page does
    const link = document.createElement('a');
    link.href = '#timeline?text=gemm';
    document.body.append(link);
    link.click();
    link.remove();
  });
  assert.match(await atLast(hash, (now) => /text=gemm/.test(now)), /view=150000000-160000000/);
  assert.equal(await seenSpan(page), before);
  // A change just before somebody leaves is not lost.
  await plotOf(page).focus();
  await page.keyboard.press('Home');
  await page.evaluate(() => { location.hash = '#sections'; });
  await page.waitForTimeout(500);
  assert.equal(await hash(), '#sections');
  await page.evaluate(() => { location.hash = '#timeline'; });
  await rest(page);
  assert.match(await atLast(hash, (now) => /^#timeline/.test(now)), /^#timeline\?pin=5$/);
  assert.notEqual(await seenSpan(page), before);
  assert.deepEqual(page.faults, []);
  await page.done();
});

test('many ranks are seen at once, folded to work and communication, and who waits in its colour', async () => {
  const many = training({ ranks: 8, steps: 3, perStep: 20 });
  const wait = { rank: 1, kind: 'wait', name: 'waiting', parent: '', depths: 1, events: 1, busy_ns: 30_000_000, unit: '' };
  const names = [...many.names, 'waits for rank 0: allreduce'];
  many.names = names;
  many.tracks.push(wait);
  const level = many.levels.at(-1).level;
  const box = { begin: 5_000_000, duration: 30_000_000, depth: 0, name: names.length - 1, tone: TONES.indexOf('sync'), count: 1, busy: 30_000_000 };
  many.chunks.push(chunkOf(many.tracks.length - 1, level, [box]));
  const page = await opened('many', many);
  const labels = page.locator('.tl-label');
  assert.deepEqual((await labels.allTextContents()).map((text) => text.slice(1)), ['rank 0', 'rank 1 waits 50.0\u00a0%', 'rank 2', 'rank 3', 'rank 4', 'rank 5', 'rank 6', 'rank 7']);
  const heading = await labels.nth(1).boundingBox();
  const plot = await page.locator('.tl-area').boundingBox();
  const at = { x: plot.x + plot.width * (20 / 60), y: heading.y + 3 + 16 + 8 };
  const other = await labels.nth(2).boundingBox();
  assert.notDeepEqual(await colourAt(page, at), await colourAt(page, { x: at.x, y: other.y + 3 + 16 + 8 }));
  await page.mouse.click(at.x, at.y);
  assert.equal(await chosen(page).locator('.tl-name').textContent(), 'waits for rank 0: allreduce');
  await page.locator('.tl-legend').getByText('wait', { exact: true }).waitFor();
  assert.deepEqual(page.faults, []);
  await page.done();
});

test('an event says what it launched, what the path has of it and its neighbours; markers are a table', async () => {
  const page = await opened('flow', run);
  const { x, y } = await placeOf(page, 'stream 7', 150_000_000, 240_000_000);
  await page.mouse.click(x, y);
  const panel = chosen(page);
  assert.match(await panel.textContent(), /On its row/);
  await panel.getByRole('button', { name: 'Go to its launch' }).click();
  assert.match(await panel.textContent(), /Launches.*GPU 0 · stream 7.*later/s);
  await page.locator('.tl-outline summary').click();
  const markers = page.locator('.tl-table', { hasText: 'Markers: ranges that the program named' });
  await markers.waitFor();
  assert.match(await markers.textContent(), /train_step≈?\u00a0?24/);
  await markers.locator('button').first().click();
  assert.equal(await panel.locator('.tl-name').textContent(), 'train_step');
  await page.done();
});

test('a click on a box of several events is one of them, where the page has it', async () => {
  const page = await opened('one-of-many', training({ ranks: 1, steps: 40, perStep: 60 }));
  const { x, y } = await placeOf(page, 'stream 7', 205_000_000, 800_000_000);
  await page.mouse.move(x, y);
  assert.match(await page.locator('.tl-tip').textContent(), /mostly this: [\d,]+ events/);
  await page.mouse.click(x, y);
  const text = await chosen(page).textContent();
  assert.match(text, /launched[\d.]+\u00a0[µn]s before, by cudaLaunchKernel/);
  assert.match(text, /operatoraten::addmm \[\[32, 1024\]/);
  assert.match(text, /detail\[\[32, 1024\]/);
  assert.doesNotMatch(text, /merged/);
  await page.done();
});

test('the legend says what a pale box means, where there is one', async () => {
  const page = await opened('pale', run);
  assert.match(await page.locator('.tl-legend').textContent(), /paler: several events in one box/);
  await page.done();
  const exact = await opened('pale-not', planted());
  assert.doesNotMatch(await exact.locator('.tl-legend').textContent(), /paler/);
  await exact.done();
});

const HOSTILE = [
  '</script><script>alert(1)</script>', '<img src=x onerror=alert(2)>', '\u202egnol\u202c \u2028 end',
  `${'very_long_'.repeat(4000)}name`, '__proto__', '',
];

test('names are text everywhere, and shown whole', async () => {
  const document = planted(HOSTILE);
  document.tracks.forEach((track, i) => { track.name = HOSTILE[i % 3]; track.parent = HOSTILE[1]; });
  document.window = { begin_ns: 0, end_ns: 1_000_000, why: HOSTILE[0] };
  for (const width of [WIDTH, 420]) {
    const page = await opened('hostile', document, { width });
    await plotOf(page).focus();
    await page.keyboard.press('ArrowDown');
    await page.locator('.tl-outline summary').click();
    await page.locator('.tl-outline td button').first().waitFor();
    for (const button of await page.locator('.tl-outline td button').all()) {
      await button.click();
      await page.keyboard.press('Tab');
    }
    const { x, y } = await plotOf(page).boundingBox();
    await page.mouse.move(x + 100, y + 40);
    await page.getByRole('searchbox', { name: 'Search events' }).fill('<script>');
    await rest(page);
    assert.deepEqual(page.faults, []);
    assert.equal(await page.locator('img').count(), 0);
    assert.equal(await overflow(page), 0);
    await page.done();
  }
});

test('the tables say what the picture shows, and lead into it', async () => {
  const page = await opened('tables', planted());
  await page.locator('.tl-outline summary').click();
  const events = page.locator('.tl-table').first();
  const rows = await atLast(() => events.locator('tbody tr').allTextContents(), (found) => found.length > 0);
  assert.deepEqual(rows.map((row) => /^[a-z]+( 1)?/.exec(row)[0]), ['step 1', 'forward', 'gemm', 'reduce', 'launch']);
  assert.match(rows[2], /gemm400\u00a0µs200\.0\u00a0µsGPU 0 · stream 7/);
  await events.getByRole('button', { name: 'reduce' }).click();
  assert.equal(await chosen(page).locator('.tl-name').textContent(), 'reduce');
  assert.equal(await page.locator('.tl-table').nth(1).locator('tbody tr').count(), 4);
  await page.done();
});

test('nothing overflows and nothing is wrong for axe-core at any width, in both themes', async () => {
  for (const [width, scheme] of [[420, 'light'], [1280, 'dark'], [2560, 'light']]) {
    const page = await opened('widths', run, { width, scheme });
    await plotOf(page).focus();
    await page.keyboard.press('ArrowDown');
    await page.getByRole('button', { name: 'Keys', exact: true }).click();
    await page.locator('.tl-outline summary').click();
    await page.locator('.tl-outline td').first().waitFor();
    assert.equal(await overflow(page), 0, `${width}`);
    assert.deepEqual(await accessibilityFaults(page), [], `${width} ${scheme}`);
    assert.deepEqual(page.faults, []);
    await page.done();
  }
});

test('the theme of the page is that of the picture', async () => {
  const page = await opened('theme', planted(), { scheme: 'light' });
  const at = async () => colourAt(page, await placeOf(page, 'stream 7', 650_000, 1_000_000));
  assert.deepEqual(await at(), [255, 255, 255]);
  await page.locator('.theme').click();
  await page.locator('.theme').click();
  await rest(page);
  assert.deepEqual(await at(), [20, 23, 28]);
  await page.done();
});

test('on paper the whole recording is seen, whatever was looked at', async () => {
  const page = await opened('paper', run);
  await plotOf(page).focus();
  await page.keyboard.press('f');
  await rest(page);
  const near = await seenSpan(page);
  await page.evaluate(() => dispatchEvent(new Event('beforeprint')));
  await page.emulateMedia({ media: 'print' });
  await page.setViewportSize({ width: 718, height: 1000 });
  await rest(page);
  assert.equal(await seenSpan(page), 240_000_000);
  const edges = await page.locator('.tl-area').evaluate((area) => [area.getBoundingClientRect().right, area.firstChild.getBoundingClientRect().right, innerWidth]);
  assert.ok(edges[0] <= edges[2] && edges[1] <= edges[2] + 1, `${edges}`);
  assert.equal(await overflow(page), 0);
  await page.emulateMedia({ media: 'screen' });
  await page.setViewportSize({ width: WIDTH, height: 900 });
  await page.evaluate(() => dispatchEvent(new Event('afterprint')));
  await rest(page);
  assert.equal(await seenSpan(page), near);
  await page.done();
});

/** A server of a page and of finer detail; notes what is asked for. */
async function served(html, finer) {
  const asked = [];
  let heads = 0;
  const server = createServer((request, response) => {
    const isPage = request.url === '/';
    heads += request.method === 'HEAD' ? 1 : 0;
    asked.push(...(isPage ? [] : [request.url]));
    response.writeHead(200, { 'content-type': isPage ? 'text/html; charset=utf-8' : 'application/json' });
    response.end(isPage ? html : JSON.stringify(finer));
  });
  await new Promise((done) => server.listen(0, '127.0.0.1', done));
  return { asked, get heads() { return heads; }, url: `http://127.0.0.1:${server.address().port}/`, close: () => server.close() };
}

test('a served page asks for finer detail once, and draws it', async () => {
  const document = { ...training({ steps: 12, perStep: 400, windowStep: 7, grains: [4 ** 10] }), more: '/timeline' };
  const finer = training({ steps: 12, perStep: 400, grains: [] });
  const html = readFileSync(timelinePage('served', document), 'utf8').replace("base-uri 'none'", "connect-src 'self'; base-uri 'none'");
  const server = await served(html, finer);
  const page = await opened('blank', planted());
  await page.goto(`${server.url}#timeline`);
  await plotOf(page).waitFor();
  assert.ok((await atLast(async () => server.asked.length, (count) => count > 0)) > 0);
  assert.match(server.asked[0], /^\/timeline\?begin=0&end=240000000&grain=\d+$/);
  assert.match(await atLast(() => stateOf(page), (text) => text.includes('as it was recorded')), /as it was recorded/);
  const count = server.asked.length;
  await plotOf(page).focus();
  await page.keyboard.press('+');
  await rest(page);
  assert.equal(server.asked.length, count);
  server.close();
  await page.done();
});

test('sums over a range follow the exact events that the server adds', async () => {
  const document = { ...training({ steps: 12, perStep: 40, windowStep: 7 }), more: '/timeline' };
  const html = readFileSync(timelinePage('followed', document), 'utf8').replace("base-uri 'none'", "connect-src 'self'; base-uri 'none'");
  const server = await served(html, training({ steps: 12, perStep: 40, grains: [] }));
  const page = await opened('blank', planted());
  await page.goto(`${server.url}#overview?t=40000000-41000000`);
  const text = () => page.locator('.range').textContent().catch(() => '');
  assert.match(await atLast(text, (now) => now.includes('About:')), /About: /);
  await page.getByRole('tab', { name: 'Timeline' }).click();
  assert.match(await atLast(text, (now) => now.includes('Exact:')), /Exact: every event of the range is in this page/);
  server.close();
  await page.done();
});

test('a served page says that it is open until nobody listens', async () => {
  const document = planted();
  const html = readFileSync(timelinePage('staying', document), 'utf8')
    .replace("base-uri 'none'", "connect-src 'self'; base-uri 'none'").replace('<title>', '<meta name="borescope-served"><title>');
  const server = await served(html, {});
  const page = await opened('blank', planted());
  // The time of the page stands still but for what follows: on a busy machine, loading takes seconds of its own.
  await page.clock.install({ time: 0 });
  await page.clock.pauseAt(1_000);
  await page.goto(server.url);
  await page.clock.fastForward(14_000);
  assert.equal(server.heads, 0);
  await page.clock.fastForward(2_000);
  assert.equal(await atLast(async () => server.heads, (count) => count > 0), 1);
  server.close();
  await page.done();
});

/** The times between frames while a key is held. */
async function framesWhile(page, key, count) {
  await page.keyboard.down(key);
  const times = await page.evaluate(async (frames) => {
    const all = [];
    let last = performance.now();
    for (let i = 0; i < frames; ++i) {
      await new Promise(requestAnimationFrame);
      all.push(performance.now() - last);
      last = performance.now();
    }
    return all;
  }, count);
  await page.keyboard.up(key);
  return times;
}

const quantile = (values, share) => [...values].sort((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))];

test('a million boxes: the first frame comes soon, and zooming and moving is smooth', async (context) => {
  const document = training({ ranks: 4, steps: 50, perStep: 720, stepNs: 15_000_000, grains: [4 ** 7, 4 ** 8, 4 ** 9, 4 ** 10, 4 ** 11, 4 ** 12] });
  assert.ok(exactBoxes(document) > 1_000_000);
  const page = await opened('million', document);
  const first = await page.evaluate(() => {
    const [begin, end] = ['borescope-timeline-begin', 'borescope-timeline-first-frame'].map((name) => performance.getEntriesByName(name)[0].startTime);
    return end - begin;
  });
  assert.doesNotMatch(await stateOf(page), /could not be read/);
  await plotOf(page).focus();
  const times = [];
  for (const [key, count] of [['d', 20], ['w', 50], ['d', 60], ['w', 50], ['d', 60], ['a', 60], ['s', 80]]) {
    times.push(...await framesWhile(page, key, count));
  }
  context.diagnostic(`first frame ${first.toFixed(0)} ms; ${times.length} frames: median ${quantile(times, 0.5).toFixed(1)} ms, 95 % ${quantile(times, 0.95).toFixed(1)} ms, longest ${Math.max(...times).toFixed(1)} ms`);
  assert.ok(first < MOST_FIRST_FRAME_MS, `first frame after ${first} ms`);
  assert.ok(quantile(times, 0.5) < MOST_FRAME_MS, `median frame ${quantile(times, 0.5)} ms`);
  assert.deepEqual(page.faults, []);
  await page.done();
});
