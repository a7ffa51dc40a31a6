// What the tests of the page share: reports made by the program, opened in a headless Chromium that
// notes everything a page must not do.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

const web = resolve(import.meta.dirname, '..');
const env = (name, otherwise) => resolve(process.env[name] ?? join(web, otherwise));
const require = createRequire(join(env('BORESCOPE_PACKAGES', 'node_modules'), 'x.js'));
export const borescope = env('BORESCOPE', '../build/ci/bin/borescope');
export const samples = env('BORESCOPE_SAMPLES', '../../shared');
export const template = env('BORESCOPE_TEMPLATE', 'dist/template.html');
export const demoRun = resolve(web, '../tests/data/demo_run');
const axe = require.resolve('axe-core/axe.min.js');

const CHROMIUM = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(existsSync);

export const folder = mkdtempSync(join(tmpdir(), 'borescope-report-'));
let browser;

export async function start() {
  const { chromium } = require('playwright-core');
  browser = await chromium.launch({
    executablePath: CHROMIUM,
    args: ['--no-sandbox', '--disable-dev-shm-usage'],
  });
}

export async function stop() {
  await browser?.close();
  rmSync(folder, { recursive: true, force: true });
}

/** Runs `borescope report` over the inputs; the path of the page. */
export function report(name, ...inputs) {
  const path = join(folder, `${name}.html`);
  execFileSync(borescope, ['report', ...inputs, '-o', path, '-q']);
  return path;
}

/** The two JSON documents of a page. */
export function embedded(path) {
  const html = readFileSync(path, 'utf8');
  const read = (id) =>
    JSON.parse(new RegExp(`<script type="application/json" id="${id}">(.*?)</script>`, 's').exec(html)[1]);
  const tables = read('borescope-tables');
  for (const column of tables.tables.flatMap((table) => table.columns).filter((one) => one.texts !== undefined)) {
    column.values = column.cells.map((cell) => (cell === null ? null : column.texts[cell]));
  }
  return { tables, layout: read('borescope-layout') };
}

/** A page made of the template and these documents. */
export function composed(name, tables, layout) {
  const safe = (value) => JSON.stringify(value).replaceAll('<', '\\u003c');
  const path = join(folder, `${name}.html`);
  const html = readFileSync(template, 'utf8')
    .replace('@@borescope-title@@', 'composed')
    .replace('@@borescope-tables@@', () => safe(tables))
    .replace('@@borescope-layout@@', () => safe(layout))
    .replace('@@borescope-timeline@@', 'null');
  writeFileSync(path, html);
  return path;
}

/** What `read` gives as soon as that is `wanted`, or at last: pages are drawn piece by piece. */
export async function atLast(read, wanted) {
  const begin = performance.now();
  for (;;) {
    const found = await read();
    if (wanted(found) || performance.now() - begin > 20_000) {
      return found;
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** Where something is once it stays there: it moves as long as what is above it is drawn. */
export async function settledBox(locator) {
  let last;
  await locator.scrollIntoViewIfNeeded();
  return atLast(() => locator.boundingBox(), (box) => {
    const stays = last !== undefined && box.y === last.y && box.x === last.x;
    last = box;
    return stays;
  });
}

/** Opens all tables of a page and waits for their rows; fails where some never come. */
export async function openTables(page) {
  const missing = () => page.locator('details[data-table]').evaluateAll((blocks) => {
    for (const block of blocks) {
      block.open = true;
    }
    return blocks.filter((block) => block.querySelector('tbody tr:not(.spacer)') === null).map((block) => block.dataset.table);
  });
  assert.deepEqual(await atLast(missing, (found) => found.length === 0), []);
}

/** Opens a page at an address of it. `page.faults` collects errors, messages of the console and requests;
 *  `page.show` goes to another address. */
export async function open(path, { width = 1280, height = 900, scheme = 'light', at = '' } = {}) {
  const context = await browser.newContext({
    viewport: { width, height },
    colorScheme: scheme,
    permissions: ['clipboard-read', 'clipboard-write'],
  });
  const page = await context.newPage();
  page.faults = [];
  page.on('console', (message) => page.faults.push(message.text()));
  page.on('pageerror', (error) => page.faults.push(error.message));
  page.on('dialog', (dialog) => {
    page.faults.push(`dialog ${dialog.message()}`);
    void dialog.dismiss();
  });
  const url = pathToFileURL(path).href;
  page.on('request', (request) => {
    if (request.url().split('#')[0] !== url) {
      page.faults.push(`request of ${request.url()}`);
    }
  });
  await page.goto(url + at);
  await page.waitForSelector('html[data-drawn="all"] h1');
  page.show = (address) => page.evaluate((to) => { location.hash = to; }, address);
  page.done = () => context.close();
  return page;
}

/** An empty page, for what is worked out in a browser. */
export async function blank() {
  return (await browser.newContext()).newPage();
}

/** Opens a page that a program serves; of `page.faults` what it must not do: errors, and requests of anybody else. */
export async function openAddress(url) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
  const page = await context.newPage();
  page.faults = [];
  page.on('console', (message) => page.faults.push(message.text()));
  page.on('pageerror', (error) => page.faults.push(error.message));
  page.on('request', (request) => {
    if (new URL(request.url()).origin !== new URL(url).origin) {
      page.faults.push(`request of ${request.url()}`);
    }
  });
  await page.goto(url);
  return page;
}

/** What axe-core finds to be wrong in what is shown, one line each. It runs past the policy of the page. It cannot tell
 *  what is behind text that is not laid out yet. */
export async function accessibilityFaults(page) {
  await page.evaluate(() => document.querySelectorAll('section').forEach((one) => { one.style.contentVisibility = 'visible'; }));
  await page.evaluate(readFileSync(axe, 'utf8'));
  const { violations } = await page.evaluate(() => globalThis.axe.run({ exclude: [['.pane[hidden]']] }, { resultTypes: ['violations'] }));
  return violations.flatMap(({ id, nodes }) => nodes.map((node) => `${id}: ${node.html.slice(0, 160)}`));
}

/** Elements that reach beyond the page to the right. */
export async function overflow(page) {
  const now = () => page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  let over = await now();
  // A busy machine draws a chart at its new width a moment after its pane is shown.
  for (let i = 0; i < 20 && over > 0; ++i) {
    await page.waitForTimeout(100);
    over = await now();
  }
  return over;
}
