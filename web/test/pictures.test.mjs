// How the page looks, against small pictures in the folder pictures/. They hold for one font: where the page has another,
// the test is skipped and says so. BORESCOPE_UPDATE=1 writes them again; look at them before they are committed.
import assert from 'node:assert/strict';
import { existsSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';

import { blank, demoRun, open, report, start, stop } from './browser.mjs';
import { compare, fontOf, looksSame, read, smallPicture, write } from './small_pictures.mjs';

const folder = join(import.meta.dirname, 'pictures');
const fontFile = join(folder, 'font.json');
const isUpdate = process.env.BORESCOPE_UPDATE === '1';
const MOST_BYTES = 600_000;
const SCREENS = [{ width: 420, height: 880, factor: 4 }, { width: 1280, height: 896, factor: 8 }, { width: 2560, height: 1440, factor: 16 }];
const VIEWS = [
  ['overview', '#overview'], ['timeline', '#timeline'], ['range', '#overview?t=10000000-30000000'], ['time', '#time'],
  ['operators', '#flame'], ['kernels', '#kernels'],
];
const SCHEMES = ['light', 'dark'];

let path;
let tool;
before(async () => {
  await start();
  path = report('pictures', demoRun);
  tool = await blank();
});
after(stop);

/** Once everything is drawn and nothing moves. */
async function settled(page) {
  await page.waitForFunction(() => document.fonts.status === 'loaded' && [...document.querySelectorAll('.pane:not([hidden]) canvas[tabindex]')].every((one) => one.dataset.resting === 'true'));
  await page.evaluate(() => new Promise((resolve) => { requestAnimationFrame(() => requestAnimationFrame(resolve)); }));
  await page.waitForTimeout(150);
}

async function opened({ width, height }, scheme, at) {
  const page = await open(path, { width, height, scheme, at });
  await settled(page);
  return page;
}

/** Whether the page has the font that the pictures were made with; says so where it has not. */
async function hasFont(context, page) {
  const widths = await fontOf(page);
  if (isUpdate) {
    writeFileSync(fontFile, `${JSON.stringify(widths)}\n`);
  }
  const wanted = existsSync(fontFile) ? JSON.parse(readFileSync(fontFile, 'utf8')) : [];
  const isSame = wanted.length === widths.length && wanted.every((one, i) => Math.abs(one - widths[i]) <= 0.01 * one);
  if (!isSame) {
    context.skip(`the page has another font than the pictures: texts are ${widths} pixels wide, not ${wanted}`);
  }
  return isSame;
}

for (const screen of SCREENS) {
  for (const scheme of SCHEMES) {
    for (const [name, at] of VIEWS) {
      test(`${name}, ${screen.width} pixels, ${scheme}, looks as in its picture`, async (context) => {
        const page = await opened(screen, scheme, at);
        if (await hasFont(context, page)) {
          const file = join(folder, `${name}-${screen.width}-${scheme}.png`);
          const now = await smallPicture(page, tool, screen.factor);
          if (isUpdate) {
            write(file, now);
          }
          const wanted = read(file);
          assert.notEqual(wanted, null, `${file} is missing: BORESCOPE_UPDATE=1 writes it`);
          const apart = await compare(tool, wanted, now);
          assert.ok(looksSame(apart), `${file}: ${JSON.stringify(apart)}`);
        }
        await page.done();
      });
    }
  }
}

test('what breaks a layout is seen, and how letters are smoothed is not', async () => {
  const screen = SCREENS[1];
  const page = await opened(screen, 'light', '#overview');
  const picture = () => smallPicture(page, tool, screen.factor);
  const whole = await picture();
  const apartWith = async (change) => {
    await page.evaluate(change);
    await settled(page);
    const apart = await compare(tool, whole, await picture());
    await page.evaluate(() => document.querySelectorAll('[style]').forEach((one) => { one.style.cssText = one.dataset.before ?? one.style.cssText; }));
    return apart;
  };
  const styled = (selector, style) => `for (const one of document.querySelectorAll(${JSON.stringify(selector)})) { one.dataset.before = one.style.cssText; one.style.cssText += ${JSON.stringify(`;${style}`)}; }`;
  assert.ok(looksSame(await compare(tool, whole, await picture())));
  assert.ok(looksSame(await apartWith(styled('body', '-webkit-text-stroke: 0.2px currentColor'))));
  for (const [selector, style] of [
    ['.overview', 'display: block'], ['.facts', 'display: none'], ['.verdict', 'margin-top: 24px'], ['.box.time .track', 'visibility: hidden'], ['main', 'padding-left: 90px'],
  ]) {
    const apart = await apartWith(styled(selector, style));
    assert.ok(!looksSame(apart), `${selector} ${style}: ${JSON.stringify(apart)}`);
  }
  await page.done();
});

test('the pictures are small, and none is of nothing', () => {
  const files = readdirSync(folder).filter((name) => name.endsWith('.png'));
  const names = SCREENS.flatMap(({ width }) => SCHEMES.flatMap((scheme) => VIEWS.map(([name]) => `${name}-${width}-${scheme}.png`)));
  assert.deepEqual(files.sort(), names.sort());
  assert.ok(files.reduce((sum, name) => sum + statSync(join(folder, name)).size, 0) < MOST_BYTES);
});
