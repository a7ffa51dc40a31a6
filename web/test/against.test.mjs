// The report of one run against another, in a real browser.
import assert from 'node:assert/strict';
import { existsSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';

import { accessibilityFaults, demoRun, embedded, folder, open, openTables, overflow, report, samples, start, stop } from './browser.mjs';

before(start);
after(stop);

const MOST_BYTES = 5_000_000;
const kineto = (name) => join(samples, 'data/kineto', name);
const PAIRS = [
  ['compare/test.json.gz', 'compare/base.json.gz'],
  ['nccl_two_gpu.json.gz', 'v100_resnet_steps.json.gz'],
].map((pair) => pair.map(kineto)).filter((pair) => pair.every(existsSync));

/** Kernels of one operator of a module: name, start and length in us. */
function trace(name, kernels) {
  const path = join(folder, name);
  const events = kernels.flatMap(([kernel, ts, dur, op = 'aten::mm'], i) => [
    { ph: 'X', cat: 'cpu_op', name: op, pid: 1, tid: 1, ts: ts - 20, dur: 18 },
    { ph: 'X', cat: 'cuda_runtime', name: 'cudaLaunchKernel', pid: 1, tid: 1, ts: ts - 10, dur: 5, args: { correlation: i + 1 } },
    { ph: 'X', cat: 'kernel', name: kernel, pid: 0, tid: 7, ts, dur, args: { device: 0, stream: 7, correlation: i + 1 } },
  ]);
  writeFileSync(path, JSON.stringify({ schemaVersion: 1, traceEvents: events }));
  return path;
}

const mine = () => trace('mine.json', [['gemm', 100, 40], ['gemm', 200, 40], ['add', 300, 10], ['new', 400, 7]]);
const other = () => trace('other.json', [['gemm', 100, 50], ['old', 250, 9, 'aten::old'], ['add', 300, 10]]);
const pair = (name) => report(name, mine(), '--against', other());

/** All cells of the tables on the page: by section and table, rows of exact values by column. */
async function shownTables(page) {
  await openTables(page);
  return page.evaluate(() => {
    const blocks = [...document.querySelectorAll('details[data-table]')];
    return Object.fromEntries(blocks.map((block) => [
      `${block.closest('section').id}/${block.dataset.table}`,
      {
        columns: [...block.querySelectorAll('th[data-column]')].map((heading) => heading.dataset.column),
        rows: [...block.querySelectorAll('tbody tr:not(.spacer)')].map((row) =>
          [...row.querySelectorAll('td')].map((cell) => [cell.title, cell.textContent])),
      },
    ]));
  });
}

/** Columns that both runs agree on need not be shown twice; those that are 0 as a rule not at all, where they are. */
function assertColumns(table, shown, { views }) {
  const zero = views.flatMap((view) => (view.kind === 'aside' && view.table === table.name ? view.values : []));
  for (const { name, values } of table.columns.filter((column) => !shown.includes(column.name))) {
    const own = name.replace(/^(against|change)_/, '');
    const both = table.columns.filter((column) => [own, `against_${own}`].includes(column.name));
    if (zero.includes(own) && both.every((column) => column.values.every((one) => !one))) {
      continue;
    }
    const twin = table.columns.find((column) => column.name === own);
    if (name === 'runs') {
      assert.ok(values.every((run) => run === 'both'), table.name);
    } else {
      assert.ok(name !== own && twin !== undefined, `${table.name}.${name}`);
      assert.ok(name.startsWith('change_') ? values.every((one) => !one) : values.every((one, i) => one === twin.values[i]));
    }
  }
}

async function assertNumbers(page, path) {
  const { tables, layout } = embedded(path);
  const shown = await shownTables(page);
  let compared = 0;
  for (const section of layout.sections.filter((one) => one.name !== 'summary')) {
    for (let at = section.first_table; at < section.first_table + section.tables; ++at) {
      const table = tables.tables[at];
      if (table.columns[0].values.length === 0) {
        continue;
      }
      const { columns, rows } = shown[`${section.name}/${table.name}`];
      assertColumns(table, columns, section);
      rows.forEach((cells, row) => columns.forEach((name, i) => {
        const value = table.columns.find((column) => column.name === name).values[row];
        if (typeof value === 'number') {
          assert.equal(Number(cells[i][0]), value, `${table.name}.${name} ${row}`);
          compared += layout.comparisons[at] === 'none' ? 0 : 1;
        } else if (value === null) {
          assert.equal(cells[i][1], '–', `${table.name}.${name} ${row}`);
        }
      }));
    }
  }
  assert.ok(compared > 100, `${compared} numbers`);
}

async function assertPage(path) {
  assert.ok(statSync(path).size < MOST_BYTES);
  const { layout } = embedded(path);
  const page = await open(path);
  for (const section of layout.sections.filter((one) => one.name !== 'summary')) {
    assert.equal(await page.locator(`.pane > section#${section.name}`).count(), section.lack === '' ? 1 : 0, section.name);
  }
  await assertNumbers(page, path);
  assert.equal(await overflow(page), 0);
  assert.deepEqual(page.faults, []);
  await page.done();
}

test('a pair of small runs: every table holds the numbers of its JSON', () => assertPage(pair('pair')));

for (const inputs of [[demoRun, demoRun], ...PAIRS]) {
  const name = inputs.map((input) => input.split('/').at(-1).split('.')[0]).join(' against ');
  test(`${name}: every section is a comparison, with the numbers of its JSON`, () =>
    assertPage(report(name.replaceAll(' ', '-'), inputs[0], '--against', inputs[1])));
}

test('what changed has its own pane, and the header names both runs', async () => {
  const page = await open(pair('header'));
  assert.equal(await page.locator('#diff').isVisible(), false);
  await page.getByRole('tab', { name: 'Compare' }).click();
  assert.equal(await page.locator('#pane-compare > section#diff').isVisible(), true);
  assert.equal(await page.locator('h1').textContent(), 'mine.json');
  assert.match(await page.locator('header .against').textContent(), /against the other run, other\.json/);
  assert.match(await page.locator('.facts').textContent(), /Kernels4\+33.3\s%, ×1.33other 3/);
  await page.done();
});

/** Steps of 1 ms with a kernel of so many us, and one in no step. */
function steps(name, count, dur) {
  const path = join(folder, name);
  const events = Array.from({ length: count }, (_, i) => i * 1000).flatMap((ts, i) => [
    { ph: 'X', cat: 'user_annotation', name: `ProfilerStep#${i + 1}`, pid: 1, tid: 1, ts, dur: 999 },
    { ph: 'X', cat: 'cpu_op', name: 'aten::mm', pid: 1, tid: 1, ts: ts + 10, dur: 50 },
    { ph: 'X', cat: 'cuda_runtime', name: 'cudaLaunchKernel', pid: 1, tid: 1, ts: ts + 20, dur: 5, args: { correlation: i + 1 } },
    { ph: 'X', cat: 'kernel', name: 'gemm', pid: 0, tid: 7, ts: ts + 100, dur, args: { device: 0, stream: 7, correlation: i + 1 } },
  ]);
  events.push({ ph: 'X', cat: 'kernel', name: 'gemm', pid: 0, tid: 7, ts: count * 1000 + 500, dur: 90, args: { device: 0, stream: 7, correlation: 999 } });
  writeFileSync(path, JSON.stringify({ schemaVersion: 1, traceEvents: events }));
  return path;
}

test('runs of different length are compared by the step, and the first line is the answer', async () => {
  const path = report('steps', steps('six.json', 6, 400), '--against', steps('three.json', 3, 500));
  const { tables, layout } = embedded(path);
  assert.deepEqual(layout.units, { unit: 'step', this: 6, other: 3 });
  const kernels = tables.tables.find((one) => one.name === 'kernels');
  const cell = (name) => kernels.columns.find((one) => one.name === name).values[0];
  assert.deepEqual(['count', 'against_count', 'total_ns', 'against_total_ns', 'change_total_ns'].map(cell), [1, 1, 400000, 500000, -100000]);
  const page = await open(path);
  assert.match(await page.locator('.answer').textContent(), /^\S+ µs against \S+ µs a step, |^\S+ ms against \S+ ms a step, /);
  assert.match(await page.locator('.answer').textContent(), /less compute.*means of 6 steps here and 3 in the other run/);
  assert.match(await page.locator('.facts').textContent(), /Kernels a step1±0\.0\s%other 1/);
  assert.match(await page.locator('.box.time').textContent(), /Where the device time of a step goes.*compute 400\.0\sµs · .*other 500\.0\sµs .*\(−20\.0\s%, ×0\.80\)/);
  assert.match(await page.locator('#kernels > .summary').textContent(), /sums are of one step/);
  assert.deepEqual(page.faults, []);
  await page.done();
});

test('bars are pairs, with what changed', async () => {
  const page = await open(pair('bars'));
  const figure = page.locator('#kernels figure[data-table="kernels"]');
  assert.equal(await figure.locator('.legend.runs li').count(), 2);
  const gemm = figure.locator('li').filter({ hasText: 'gemm' });
  assert.equal(await gemm.locator('.track').count(), 2);
  const widths = await gemm.locator('.track span').evaluateAll((bars) => bars.map((bar) => bar.getBoundingClientRect().width));
  assert.ok(Math.abs(widths[0] / widths[1] - 80 / 50) < 0.05, `${widths}`);
  assert.match(await gemm.textContent(), /80\.00\s*µs \+60\.0\s*%, ×1\.6050\.00\s*µs other/);
  assert.match(await figure.locator('li').filter({ hasText: 'new' }).textContent(), /only here/);
  assert.match(await figure.locator('li').filter({ hasText: 'old' }).textContent(), /only other/);
  await page.done();
});

test('tables put what changed beside the values, and mark rows of one run', async () => {
  const page = await open(pair('cells'), { at: '#kernels' });
  const block = page.locator('#kernels details[data-table="kernels"]');
  const row = (name) => block.locator('tbody tr').filter({ hasText: name });
  assert.match(await row('gemm').textContent(), /both/);
  assert.equal(await row('gemm').locator('td.change.more').first().getAttribute('title'), '1');
  assert.match(await row('gemm').textContent(), /80\.0050\.00\+30\.00/);
  assert.equal(await row('old').getAttribute('class'), 'other');
  assert.equal(await row('new').getAttribute('class'), 'this');
  await block.getByRole('button', { name: 'total, change' }).click();
  assert.match(await block.locator('tbody tr').first().textContent(), /gemm/);
  await block.locator('tbody tr').first().click();
  assert.match(await block.locator('.details').textContent(), /total80\.00 µs other 50\.00 µs · \+30\.00 µs/);
  await block.getByRole('button', { name: /Copy/ }).click();
  const csv = await page.evaluate(() => navigator.clipboard.readText());
  assert.match(csv, /^name,class,runs,count,against_count,change_count,total_ns,against_total_ns,change_total_ns,/);
  assert.match(csv, /\ngemm,gemm,both,2,1,1,80000,50000,30000,/);
  await page.done();
});

test('the flame graph is coloured by what changed, and shows either run', async () => {
  const page = await open(pair('flame'), { at: '#flame' });
  const flame = page.locator('#flame figure[data-kind="flame"]');
  const frame = (name) => flame.getByRole('button', { name: new RegExp(`^${name}:`) });
  assert.match(await frame('gemm').getAttribute('class'), /change-more-2/);
  assert.match(await frame('add').getAttribute('class'), /change-same/);
  assert.match(await frame('new').getAttribute('class'), /change-more-3/);
  assert.equal(await frame('old').count(), 0);
  assert.equal(await flame.locator('.legend.changes li').count(), 7);
  await frame('all').focus();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowDown');
  assert.match(await flame.locator('.tip').textContent(), /gemm kernel: 80\.00\s*µs in this run, 50\.00\s*µs in the other, \+30\.00\s*µs \(\+60\.0\s*%, ×1\.60\)/);
  const whole = await frame('gemm').evaluate((one) => one.clientWidth);
  await page.keyboard.press('Enter');
  assert.ok(await frame('gemm').evaluate((one) => one.clientWidth) > whole);
  await page.keyboard.press('Escape');
  await flame.getByRole('button', { name: 'by share' }).click();
  assert.match(await frame('gemm').getAttribute('class'), /change-more-1/); // 82.5 % against 72.5 %
  assert.match(await frame('add').getAttribute('class'), /change-less-2/); // 10.3 % against 14.5 %
  assert.match(await frame('gemm').getAttribute('aria-label'), /82\.5\s*% of this run; .*72\.5\s*% of the other/);
  await flame.getByRole('button', { name: 'by time' }).click();
  assert.match(await flame.locator('.note').textContent(), /Only in the other run: 1 frame with all below, 9\.000\s*µs/);
  await flame.getByRole('button', { name: 'Show the other run' }).click();
  assert.match(await frame('old').getAttribute('class'), /change-less-3/);
  assert.equal(await frame('new').count(), 0);
  await flame.getByRole('searchbox').fill('old');
  assert.equal(await flame.locator('.hit').count(), 2);
  await flame.getByRole('button', { name: 'this run', exact: true }).click();
  assert.equal(await flame.locator('.hit').count(), 0);
  assert.deepEqual(page.faults, []);
  await page.done();
});

test('the frames of a flame graph add up to the device time', async () => {
  const { tables } = embedded(pair('sums'));
  const flame = tables.tables.find((table) => table.name === 'flame');
  const column = (name) => flame.columns.find((one) => one.name === name).values;
  const roots = (name) => column(name).reduce((sum, value, row) => sum + (column('depth')[row] === 0 ? value ?? 0 : 0), 0);
  assert.deepEqual([roots('device_ns'), roots('against_device_ns'), roots('change_device_ns')], [97000, 69000, 28000]);
});

test('the rank of one run is beside the other rank of the other', async () => {
  const [one, two] = [0, 1].map((rank) => join(demoRun, readdirSync(demoRun).filter((name) => name.includes(`rank-${rank}`))[0]));
  const path = report('ranks', one, '--against', two);
  const { tables } = embedded(path);
  for (const name of ['breakdown', 'steps', 'critical_path_summary']) {
    const table = tables.tables.find((each) => each.name === name);
    const column = (of) => table.columns.find((each) => each.name === of).values;
    assert.ok(column('runs').every((runs) => runs === 'both'), name);
    assert.deepEqual([new Set(column('rank')), new Set(column('against_rank'))], [new Set([0]), new Set([1])], name);
  }
  const page = await open(path);
  assert.equal(await page.locator('#breakdown figure .bar-label').textContent(), 'rank 0 | 1 · gpu 0 | 1');
  await assertNumbers(page, path);
  assert.deepEqual(page.faults, []);
  await page.done();
});

test('lines of both runs: one colour, full and dashed', async () => {
  const page = await open(report('lines', demoRun, '--against', demoRun));
  const plot = page.locator('#queue figure[data-kind="series"]');
  const lines = await plot.locator('path.line').evaluateAll((paths) => paths.map((path) => [path.getAttribute('class'), path.style.stroke]));
  const colours = (name) => lines.filter(([of]) => of === name).map(([, stroke]) => stroke);
  assert.ok(colours('line').length > 0);
  assert.deepEqual(colours('line').sort(), colours('line other').sort());
  assert.match(await plot.locator('.legend').textContent(), /this run.*other run/);
  await page.done();
});

test('a run against itself has changed nowhere', async () => {
  const { tables } = embedded(report('same', demoRun, '--against', demoRun));
  const changes = tables.tables.flatMap((table) => table.columns.filter((column) => column.name.startsWith('change_')));
  assert.ok(changes.length > 100);
  for (const { name, values } of changes) {
    assert.ok(values.every((value) => !value), name);
  }
});

test('operators of both runs stand under one roof', async () => {
  const page = await open(report('roofline', demoRun, '--against', demoRun));
  const plot = page.locator('#roofline figure[data-kind="roofline"]');
  assert.equal(await plot.locator('circle.this').count(), await plot.locator('circle.other').count());
  assert.equal(await plot.locator('line.way').count(), await plot.locator('circle.this').count());
  assert.deepEqual(page.faults, []);
  await page.done();
});

test('what only one of the runs recorded is told', async () => {
  const path = join(folder, 'host_only.json');
  writeFileSync(path, JSON.stringify({ schemaVersion: 1, traceEvents: [{ ph: 'X', cat: 'cpu_op', name: 'aten::mm', pid: 1, tid: 1, ts: 1, dur: 9 }] }));
  const page = await open(report('lacks', mine(), '--against', path));
  assert.match(await page.locator('#kernels > .note').textContent(), /^Not in the other run: /);
  assert.ok((await page.locator('#kernels tbody tr').count()) > 0);
  await page.done();
  const swapped = await open(report('swapped', path, '--against', mine()));
  assert.match(await swapped.locator('#pane-kernels .lacks').textContent(), /the other run has it/);
  await swapped.done();
});

test('names of either run are inert in every view', async () => {
  const names = ['</script><script>alert(1)</script>', '<img src=x onerror=alert(2)>', '\u202egnol\u202c', '__proto__', 'constructor'];
  const one = trace('hostile_a.json', names.slice(1).map((name, i) => [name, 100 + 100 * i, 30, name]));
  const two = trace("hostile_<b onclick='alert(3)'>.json", names.slice(0, 4).map((name, i) => [name, 100 + 100 * i, 20, name]));
  const page = await open(report('hostile_pair', one, '--against', two), { at: '#flame' });
  const flame = page.locator('#flame figure');
  await flame.getByRole('button', { name: /Show the other run/ }).click();
  await flame.getByRole('searchbox').fill('<script>');
  await flame.locator('.frame').last().focus();
  await page.show('#kernels');
  await page.locator('#kernels tbody tr').first().click();
  await shownTables(page);
  assert.deepEqual(page.faults, []);
  assert.equal(await page.locator('script').count(), 4);
  assert.equal(await page.locator('img, iframe, b[onclick]').count(), 0);
  assert.match(await page.locator('#kernels details[data-table="kernels"] table').textContent(), /<\/script><script>alert\(1\)<\/script>/);
  await page.done();
});

test('themes and widths of a comparison: nothing overflows, nothing is wrong for axe-core', async () => {
  const path = pair('widths');
  for (const width of [1280, 400]) {
    for (const scheme of ['light', 'dark']) {
      const page = await open(path, { width, scheme });
      assert.equal(await overflow(page), 0, `${width} ${scheme}`);
      assert.deepEqual(await accessibilityFaults(page), [], `${width} ${scheme}`);
      assert.deepEqual(page.faults, []);
      await page.done();
    }
  }
});
