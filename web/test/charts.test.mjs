// Every kind of chart as it is drawn: in a picture of it, marks have their colour where they are. What is in the
// document says nothing of what is painted over it.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';

import { blank, demoRun, open, report, samples, settledBox, start, stop } from './browser.mjs';

let tool;
before(async () => {
  await start();
  tool = await blank();
});
after(stop);

const PLANTED = join(samples, 'data/h100/planted/clean.pt.trace.json.gz');
const NEAR = 40; // of 255 in each colour: a pixel that looks alike
const BLENDED = 110; // of what lets other things through, and of thin lines
const SMALLEST = 14; // a mark of less is all edge and letters

// The marks of each kind, the property that has their colour, and how much of a mark has to show it: lines and points
// are smoothed at their edges, and bars of intervals lie below what is known of them. Where marks lie on each other, one
// of them has to show. The box of a mark without its edge is looked at; of a line, which may be nothing but edge, with
// what its width adds.
const MARKS = {
  bars: { marks: '.track > span', colour: 'background-color', least: 0.9 },
  'stacked-bars': { marks: '.track > span', colour: 'background-color', least: 0.9 },
  intervals: { marks: '.interval > span', colour: 'background-color', least: 0.5 },
  flame: { marks: '.frame', colour: 'background-color', least: 0.4 }, // names are written on them
  roofline: { marks: 'circle', colour: 'fill', least: 0.02, near: BLENDED, smallest: 8, overlap: true },
  series: { marks: 'path.line', colour: 'stroke', least: 0.0005, near: BLENDED, smallest: 4, overlap: true, edge: -2 },
};

/** In the figure: the marks of some size, where they are in it, and their colours. */
const marksOf = (figure, { marks, colour, smallest = SMALLEST }) => figure.evaluate((element, [selector, property, least]) => {
  const outer = element.getBoundingClientRect();
  const context = document.createElement('canvas').getContext('2d');
  const rgb = (text) => {
    context.fillStyle = text;
    context.fillRect(0, 0, 1, 1);
    return [...context.getImageData(0, 0, 1, 1).data.slice(0, 3)];
  };
  return [...element.querySelectorAll(selector)].map((mark) => {
    const box = mark.getBoundingClientRect();
    return { x: box.x - outer.x, y: box.y - outer.y, width: box.width, height: box.height, colour: rgb(getComputedStyle(mark)[property]) };
  }).filter((mark) => mark.width >= least && mark.height >= Math.min(8, least) && mark.y + mark.height <= outer.height);
}, [marks, colour, smallest]);

/** In the picture: the share of pixels of each mark that have its colour. */
const sharesIn = (picture, marks, { near = NEAR, edge = 1 }) => tool.evaluate(async ({ source, found, near, edge }) => {
  const image = await createImageBitmap(await (await fetch(`data:image/png;base64,${source}`)).blob());
  const context = new OffscreenCanvas(image.width, image.height).getContext('2d');
  context.drawImage(image, 0, 0);
  return found.map(({ x, y, width, height, colour }) => {
    const { data } = context.getImageData(Math.ceil(x) + edge, Math.ceil(y) + edge, Math.max(1, Math.floor(width) - 1 - 2 * edge), Math.max(1, Math.floor(height) - 1 - 2 * edge));
    let same = 0;
    for (let at = 0; at < data.length; at += 4) {
      same += colour.every((value, i) => Math.abs(value - data[at + i]) < near) ? 1 : 0;
    }
    return same / (data.length / 4);
  });
}, { source: picture.toString('base64'), found: marks, near, edge });

/** The least share of any mark of a figure that shows its own colour; null where it has none. */
async function leastShare(page, figure, kind) {
  await settledBox(figure);
  const marks = await marksOf(figure, kind);
  if (marks.length === 0) {
    return null;
  }
  const shares = await sharesIn(await figure.screenshot({ animations: 'disabled' }), marks, kind);
  return kind.overlap === true ? Math.max(...shares) : Math.min(...shares);
}

async function assertCharts(path, wanted, scheme) {
  const page = await open(path, { scheme, height: 2400 });
  const seen = new Set();
  for (const [name, kind] of Object.entries(MARKS)) {
    const figures = page.locator(`figure[data-kind="${name}"]`);
    for (let i = 0; i < await figures.count(); ++i) {
      const figure = figures.nth(i);
      const section = await figure.evaluate((element) => element.closest('section').id);
      await page.show(`#${section}`);
      await figure.waitFor({ state: 'visible' });
      const least = await leastShare(page, figure, kind);
      if (least !== null) {
        seen.add(name);
        assert.ok(least >= kind.least, `${name} of ${section}, ${scheme}: ${least}`);
      }
    }
  }
  assert.deepEqual(wanted.filter((name) => !seen.has(name)), []);
  await page.done();
}

for (const scheme of ['light', 'dark']) {
  test(`${scheme}: marks of every chart of the demonstration have their colour`, () =>
    assertCharts(report(`demo-${scheme}`, demoRun), ['bars', 'stacked-bars', 'flame', 'roofline', 'series'], scheme));
}

test('what-if: bars show beside what is known of them, and what is known is a thin line', { skip: !existsSync(PLANTED) }, async () => {
  const path = report('planted', PLANTED);
  await assertCharts(path, ['intervals'], 'light');
  const page = await open(path, { at: '#whatif' });
  const figure = page.locator('#whatif figure[data-kind="intervals"]').first();
  await settledBox(figure);
  const heights = await figure.locator('.reach').evaluateAll((ranges) => ranges.map((range) => range.getBoundingClientRect().height));
  assert.ok(heights.length > 0 && heights.every((height) => height < 8), `${heights}`);
  await page.done();
});

test('the check sees what is painted over a bar', async () => {
  const page = await open(report('covered', demoRun), { at: '#kernels' });
  const figure = page.locator('#kernels figure[data-kind="bars"]').first();
  await figure.locator('.track > span').first().waitFor();
  const before = await leastShare(page, figure, MARKS.bars);
  assert.ok(before !== null && before >= MARKS.bars.least, `${before}`);
  await figure.locator('.track').first().evaluate((track) => {
    track.style.position = 'relative';
    const cover = track.appendChild(document.createElement('i'));
    Object.assign(cover.style, { position: 'absolute', inset: '0', background: '#888' });
  });
  assert.ok(await leastShare(page, figure, MARKS.bars) < MARKS.bars.least);
  await page.done();
});
