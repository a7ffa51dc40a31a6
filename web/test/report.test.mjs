// The report of real recordings, in a real browser.
import assert from 'node:assert/strict';
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';

import { accessibilityFaults, demoRun, embedded, open, overflow, report, samples, start, stop } from './browser.mjs';

before(start);
after(stop);

const MOST_BYTES = 5_000_000;
const SAMPLES = [
  'v100_resnet_steps.json.gz', 'h100_bert_small.json.gz', 'two_ranks', 'nccl_two_gpu.json.gz',
].map((name) => join(samples, 'data/kineto', name)).filter(existsSync);

const numberOf = (text) => Number(text.replace(/,/g, ''));

/** The first row of every table on the page, by section and table: exact values and texts. */
function firstRows(page) {
  return page.evaluate(async () => {
    const blocks = [...document.querySelectorAll('details[data-table]')];
    for (const block of blocks) {
      block.open = true;
    }
    await new Promise((resolve) => setTimeout(resolve, 500));
    return Object.fromEntries(blocks.map((block) => [
      `${block.closest('section').id}/${block.dataset.table}`,
      [...block.querySelectorAll('tbody tr:first-child td')].map((cell) => [cell.title, cell.textContent]),
    ]));
  });
}

// Against the JSON, whose exact numbers are in the titles of cells.
async function assertNumbers(page, path) {
  const { tables, layout } = embedded(path);
  const shown = await firstRows(page);
  for (const section of layout.sections.filter((one) => one.name !== 'summary')) {
    for (const table of tables.tables.slice(section.first_table, section.first_table + section.tables)) {
      if ((table.columns[0]?.values.length ?? 0) === 0) {
        continue;
      }
      const cells = shown[`${section.name}/${table.name}`];
      assert.ok(cells, `${section.name}/${table.name}`);
      table.columns.forEach((column, at) => {
        const value = column.values[0];
        if (typeof value === 'number') {
          assert.equal(Number(cells[at][0]), value, `${table.name}.${column.name}`);
        } else if (value === null) {
          assert.equal(cells[at][1], '–');
        }
      });
    }
  }
}

for (const input of [demoRun, ...SAMPLES]) {
  const name = input.split('/').at(-1).split('.')[0];
  test(`${name}: every section is there, with the numbers of its JSON, and nothing goes wrong`, async () => {
    const path = report(name, input);
    assert.ok(statSync(path).size < MOST_BYTES);
    const { layout } = embedded(path);
    const page = await open(path);
    const there = await page.evaluate(() => [...document.querySelectorAll('main > section')].map((one) => one.id));
    for (const section of layout.sections.filter((one) => one.name !== 'summary')) {
      assert.equal(there.includes(section.name), section.lack === '', section.name);
    }
    const lacks = await page.locator('.lacks > div').count();
    assert.equal(lacks, layout.sections.filter((section) => section.lack !== '').length);
    assert.ok((await page.locator('.track span').count()) > 0);
    await assertNumbers(page, path);
    assert.deepEqual(page.faults, []);
    await page.done();
  });
}

test('themes and widths: nothing overflows, nothing is wrong for axe-core', async () => {
  const path = report('widths', demoRun);
  for (const width of [1280, 400]) {
    for (const scheme of ['light', 'dark']) {
      const page = await open(path, { width, scheme });
      assert.equal(await overflow(page), 0, `${width} ${scheme}`);
      if ((width === 1280) === (scheme === 'light')) {
        assert.deepEqual(await accessibilityFaults(page), [], `${width} ${scheme}`);
      }
      assert.deepEqual(page.faults, []);
      await page.done();
    }
  }
});

test('the theme can be chosen', async () => {
  const page = await open(report('theme', demoRun), { scheme: 'light' });
  const paper = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const light = await paper();
  await page.locator('.theme').click();
  assert.equal(await paper(), light);
  await page.locator('.theme').click();
  assert.notEqual(await paper(), light);
  await page.done();
});

test('tables sort, filter, tell about a row, and copy as CSV', async () => {
  const page = await open(report('table', demoRun));
  const block = page.locator('#kernels details[data-table="kernels"]');
  const column = async (at) =>
    (await block.locator(`tbody tr:not(.spacer) td:nth-child(${at})`).allTextContents()).map(numberOf);
  const counts = block.getByRole('button', { name: 'count' });
  await counts.click();
  const falling = await column(3);
  assert.deepEqual(falling, [...falling].sort((a, b) => b - a));
  await counts.click();
  const rising = await column(3);
  assert.deepEqual(rising, [...rising].sort((a, b) => a - b));
  assert.equal(await block.locator('th[aria-sort="ascending"]').count(), 1);
  await block.getByRole('searchbox').fill('NCCL');
  assert.equal(await block.locator('tbody tr').count(), 1);
  await block.locator('tbody tr').click();
  assert.match(await block.locator('.details').textContent(), /ncclDevKernel_AllReduce_Sum_f32_RING_LL\(ncclDevKernelArgsStorage<4096ul>\)/);
  await block.getByRole('button', { name: /Copy/ }).click();
  const csv = await page.evaluate(() => navigator.clipboard.readText());
  assert.match(csv, /^name,class,count,total_ns,.*\nncclDev.*,collective,24,23474962,.*\n$/);
  await page.done();
});

test('rows are reached and told about by keys', async () => {
  const page = await open(report('keys', demoRun));
  const block = page.locator('#ops details[data-table="ops"]');
  await block.locator('tbody tr').first().focus();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  assert.match(await block.locator('.details').textContent(), /aten::mm/);
  await page.done();
});

test('the flame graph zooms, searches and is driven by keys', async () => {
  const page = await open(report('flame', demoRun));
  const flame = page.locator('#flame figure[data-kind="flame"]');
  const wide = (name) => flame.getByRole('button', { name: new RegExp(`^${name}:`) }).first().evaluate((frame) => frame.clientWidth);
  const before_ = await wide('aten::linear');
  await flame.getByRole('button', { name: /^DistributedDataParallel.forward:/ }).click();
  assert.ok((await wide('aten::linear')) > 2 * before_);
  await page.keyboard.press('Escape');
  assert.equal(await wide('aten::linear'), before_);
  await flame.getByRole('button', { name: /^all:/ }).focus();
  await page.keyboard.press('ArrowDown');
  assert.match(await flame.locator('.tip').textContent(), /record_param_comms/);
  await flame.getByRole('searchbox').fill('aten::linear');
  assert.ok((await flame.locator('.hit').count()) > 0);
  assert.match(await flame.getByRole('status').textContent(), /13\.4/);
  await flame.getByRole('searchbox').fill('Memcpy');
  assert.match(await flame.locator('.hit').first().getAttribute('class'), /kind-copy/);
  const stacks = page.locator('#stacks figure[data-kind="flame"]');
  await stacks.getByRole('button', { name: 'total device' }).click();
  assert.equal(await stacks.getByRole('button', { name: 'total device' }).getAttribute('aria-pressed'), 'true');
  assert.deepEqual(page.faults, []);
  await page.done();
});

test('lines zoom by a drag', async () => {
  const page = await open(report('series', demoRun));
  const plot = page.locator('#queue figure[data-kind="series"]');
  const svg = plot.locator('svg');
  await svg.scrollIntoViewIfNeeded();
  const path = await svg.locator('path.line').first().getAttribute('d');
  const box = await svg.boundingBox();
  await page.mouse.move(box.x + box.width * 0.4, box.y + 50);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * 0.6, box.y + 60);
  await page.mouse.up();
  assert.notEqual(await svg.locator('path.line').first().getAttribute('d'), path);
  await plot.getByRole('button', { name: 'Show all' }).click();
  assert.equal(await svg.locator('path.line').first().getAttribute('d'), path);
  await page.done();
});

test('the roofline tells about the operator that is pointed at', async () => {
  const page = await open(report('roofline', demoRun));
  const plot = page.locator('#roofline figure[data-kind="roofline"]');
  await plot.locator('svg').scrollIntoViewIfNeeded();
  const circle = await plot.locator('circle').first().boundingBox();
  await page.mouse.move(circle.x + circle.width / 2, circle.y + circle.height / 2);
  assert.match(await plot.locator('.tip').textContent(), /aten::.*of the roof/);
  assert.ok((await plot.locator('.roof line').count()) >= 2);
  await page.done();
});
