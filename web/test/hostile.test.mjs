// Names that want to be more than names.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';

import { composed, embedded, folder, open, overflow, report, start, stop } from './browser.mjs';

before(start);
after(stop);

const HOSTILE = [
  '</script><script>alert(1)</script>',
  '<img src=x onerror=alert(2)>',
  '"><svg onload=alert(3)>',
  '<!--<script>',
  "'];alert(4);//",
  '@@borescope-layout@@ ${alert(5)} {{7*7}}',
  '</style><style>*{display:none}</style>',
  '\u202egnol\u202c \u2028 \u2029 \u200b end',
  `${'very_long_'.repeat(2000)}name`,
  '__proto__',
  'constructor',
  '',
];

function hostileTrace() {
  const events = HOSTILE.flatMap((name, i) => [
    { ph: 'X', cat: 'cpu_op', name, pid: 1, tid: 1, ts: i * 100, dur: 50 },
    { ph: 'X', cat: 'cuda_runtime', name: 'cudaLaunchKernel', pid: 1, tid: 1, ts: i * 100 + 5, dur: 5, args: { correlation: i + 1 } },
    { ph: 'X', cat: 'kernel', name, pid: 0, tid: 7, ts: i * 100 + 20, dur: 60, args: { device: 0, stream: 7, correlation: i + 1 } },
    { ph: 'X', cat: 'user_annotation', name, pid: 1, tid: 1, ts: i * 100 - 1, dur: 70 },
  ]);
  const path = join(folder, "<b onclick='alert(6)'>&quot;.json");
  writeFileSync(path, JSON.stringify({
    schemaVersion: 1,
    deviceProperties: [{ id: 0, name: '<script>alert(7)</script>' }],
    distributedInfo: { rank: 0, world_size: 1, backend: '</script>' },
    traceEvents: events,
  }));
  return path;
}

async function assertInert(page) {
  assert.deepEqual(page.faults, []);
  assert.equal(await page.locator('script').count(), 4);
  assert.equal(await page.locator('style').count(), 1);
  assert.equal(await page.locator('img, iframe, b[onclick], svg[onload]').count(), 0);
  assert.equal(await overflow(page), 0);
}

test('names of a trace are inert and shown as they are', async () => {
  const path = report('hostile', hostileTrace());
  const { tables } = embedded(path);
  const kernels = tables.tables.find((table) => table.name === 'kernels');
  assert.ok(kernels.columns[0].values.includes(HOSTILE[0]));
  for (const width of [1280, 400]) {
    const page = await open(path, { width, at: '#kernels' });
    await assertInert(page);
    const names = page.locator('#kernels details[data-table="kernels"] tbody td:first-child');
    const titles = await names.evaluateAll((cells) => cells.map((cell) => cell.title));
    assert.ok(titles.includes(HOSTILE[0]));
    assert.ok(width < 1000 || (await names.allTextContents()).includes(HOSTILE[0]));
    await page.locator('#kernels details[data-table="kernels"] tbody tr').nth(3).click();
    await page.show('#flame');
    await page.locator('#flame figure input[type="search"]').fill('alert');
    await page.locator('#stacks figure input[type="search"]').fill('<script>');
    await page.evaluate(() => document.querySelectorAll('details').forEach((block) => { block.open = true; }));
    await assertInert(page);
    await page.done();
  }
});

test('a policy forbids what the page does not do itself', async () => {
  const page = await open(report('policy', hostileTrace()));
  const ran = await page.evaluate(() => {
    const script = document.createElement('script');
    script.textContent = 'globalThis.ran = true';
    document.body.append(script);
    return globalThis.ran === true;
  });
  assert.equal(ran, false);
  assert.ok(page.faults.some((fault) => fault.includes('Content Security Policy')));
  await page.done();
});

test('the plain page allows its own style and nothing else', () => {
  const source = readFileSync(join(import.meta.dirname, '../../src/borescope/output/html/html.cc'), 'utf8');
  const [, style] = /<style>(.*?)<\/style>/s.exec(source);
  const hash = createHash('sha256').update(style).digest('base64');
  assert.ok(source.includes(`default-src 'none'; style-src 'sha256-${hash}'; base-uri`));
});

function manyRows(count, comparison) {
  const values = Array.from({ length: count }, (_, i) => i);
  const times = (name, cells) => ({ name, type: 'int', unit: 'ns', doc: '', values: cells });
  const texts = (name, cells) => ({ name, type: 'string', unit: null, doc: '', values: cells });
  const own = [texts('name', values.map((i) => `row ${i}`)), times('total_ns', values)];
  const others = [
    texts('runs', values.map(() => 'both')), times('against_total_ns', values.map((i) => 2 * i)),
    times('change_total_ns', values.map((i) => -i)),
  ];
  const table = { name: 'many', title: 'Many rows', columns: comparison === 'none' ? own : [...own, ...others] };
  const section = { name: 'many', summary: 'many rows', first_table: 0, tables: 1, lack: '', views: [] };
  return [
    { borescope: '0', schema: 2, tables: [table], diagnostics: [] },
    { title: 'many', against: comparison === 'none' ? '' : 'other', all_rows: [count], comparisons: [comparison], sections: [section] },
  ];
}

const MANY = [['none', '10,000 rows scroll and sort at once'], ['matched', '10,000 rows of two runs do, too']];
MANY.forEach(([comparison, title]) => test(title, async () => {
  const page = await open(composed(`many_${comparison}`, ...manyRows(10_000, comparison)), { at: '#many' });
  const block = page.locator('#many');
  assert.ok((await block.locator('tbody tr').count()) < 100);
  const took = await block.locator('.scroller').evaluate(async (scroller) => {
    const begin = performance.now();
    for (let i = 1; i <= 50; ++i) {
      scroller.scrollTop = (scroller.scrollHeight * i) / 50;
      await new Promise(requestAnimationFrame);
    }
    return performance.now() - begin;
  });
  assert.ok(took < 30_000, `50 frames took ${took} ms`);  // a second or two on a free machine
  assert.match(await block.locator('tbody').textContent(), /row 9999/);
  await block.getByRole('button', { name: /^total/ }).first().click();
  await block.locator('.scroller').evaluate((scroller) => { scroller.scrollTop = 0; });
  await block.getByText('row 9999', { exact: true }).waitFor();
  assert.deepEqual(page.faults, []);
  await page.done();
}));

test('a chart of 200,000 points is drawn', async () => {
  const values = Array.from({ length: 200_000 }, (_, i) => i);
  const column = (name, unit, cells) => ({ name, type: 'int', unit, doc: '', values: cells });
  const table = {
    name: 'many',
    title: 'Many points',
    columns: [column('elapsed_ns', 'ns', values), column('length', 'count', values.map((i) => i % 7))],
  };
  const view = { table: 'many', kind: 'series', title: 'Many points', labels: [], values: ['length'], x: 'elapsed_ns', tones: ['compute'] };
  const section = { name: 'many', summary: 'many points', first_table: 0, tables: 1, lack: '', views: [view] };
  const page = await open(composed(
    'many_points',
    { borescope: '0', schema: 2, tables: [table], diagnostics: [] },
    { title: 'many', against: '', all_rows: [values.length], comparisons: ['none'], sections: [section] },
  ), { at: '#many' });
  await page.locator('#many figure svg path').first().waitFor();
  assert.deepEqual(page.faults, []);
  await page.done();
});
