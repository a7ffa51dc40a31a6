// The report of real recordings, in a real browser.
import assert from 'node:assert/strict';
import { existsSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';

import { accessibilityFaults, atLast, composed, demoRun, embedded, folder, open, openTables, overflow, report, samples, settledBox, start, stop } from './browser.mjs';

before(start);
after(stop);

const MOST_BYTES = 5_000_000;
const SAMPLES = [
  'v100_resnet_steps.json.gz', 'h100_bert_small.json.gz', 'two_ranks', 'nccl_two_gpu.json.gz',
].map((name) => join(samples, 'data/kineto', name)).filter(existsSync);

const numberOf = (text) => Number(text.replace(/,/g, ''));

/** The rows of every table on the page, by section and table: exact values and texts. */
async function shownRows(page) {
  await openTables(page);
  return page.evaluate(() => {
    const blocks = [...document.querySelectorAll('details[data-table]')];
    return Object.fromEntries(blocks.map((block) => [
      `${block.closest('section').id}/${block.dataset.table}`,
      [...block.querySelectorAll('tbody tr:not(.spacer)')].map((row) => [...row.querySelectorAll('td')].map((cell) => [cell.title, cell.textContent])),
    ]));
  });
}

/** The columns that are shown: those that are 0 as a rule, and here, are left out, as in text. */
function shownColumns(table, { views }) {
  const zero = new Set(views.flatMap((view) => (view.kind === 'aside' && view.table === table.name ? view.values : [])));
  return table.columns.filter((column) => !zero.has(column.name) || column.values.some((value) => value !== 0 && value !== null));
}

// Against the JSON, whose exact numbers are in the titles of cells.
async function assertNumbers(page, path) {
  const { tables, layout } = embedded(path);
  const shown = await shownRows(page);
  for (const section of layout.sections.filter((one) => one.name !== 'summary')) {
    for (const table of tables.tables.slice(section.first_table, section.first_table + section.tables)) {
      if ((table.columns[0]?.values.length ?? 0) === 0) {
        continue;
      }
      const rows = shown[`${section.name}/${table.name}`];
      assert.ok(rows?.length > 0, `${section.name}/${table.name}`);
      rows.forEach((cells, row) => shownColumns(table, section).forEach((column, at) => {
        const value = column.values[row];
        if (typeof value === 'number') {
          assert.equal(Number(cells[at][0]), value, `${table.name}.${column.name} ${row}`);
        } else if (value === null) {
          assert.equal(cells[at][1], '–');
        }
      }));
    }
  }
}

/** Numbers in the tables that are open which do not fit into their cells. */
const cutNumbers = (page) =>
  page.locator('td.number').evaluateAll((cells) =>
    cells.filter((cell) => cell.scrollWidth > cell.clientWidth).map((cell) => `${cell.closest('details').dataset.table}: ${cell.textContent}`));

for (const input of [demoRun, ...SAMPLES]) {
  const name = input.split('/').at(-1).split('.')[0];
  test(`${name}: every section is there, with the numbers of its JSON, and nothing goes wrong`, async () => {
    const path = report(name, input);
    assert.ok(statSync(path).size < MOST_BYTES);
    const { layout } = embedded(path);
    const page = await open(path);
    const there = await page.evaluate(() => [...document.querySelectorAll('.pane > section')].map((one) => one.id));
    for (const section of layout.sections.filter((one) => one.name !== 'summary')) {
      assert.equal(there.includes(section.name), section.lack === '', section.name);
    }
    const lacks = await page.locator('.lacks > div').count();
    assert.equal(lacks, layout.sections.filter((section) => section.lack !== '').length);
    assert.ok((await page.locator('.track span').count()) > 0);
    await assertNumbers(page, path);
    assert.deepEqual(await cutNumbers(page), []);
    assert.deepEqual(page.faults, []);
    await page.done();
  });
}

test('bars are as long as the numbers of the JSON', async () => {
  const path = report('bars', demoRun);
  const { tables, layout } = embedded(path);
  const page = await open(path);
  let compared = 0;
  for (const section of layout.sections) {
    for (const view of section.views.filter(({ kind }) => kind === 'bars')) {
      const table = tables.tables.find(({ name }) => name === view.table);
      const figure = page.locator(`#${section.name} figure[data-kind="bars"]`).filter({ hasText: view.title });
      if (table === undefined || (await figure.count()) === 0) {
        continue;
      }
      const values = table.columns.find(({ name }) => name === view.values[0]).values.filter((value) => value > 0);
      const bars = await figure.locator('.track').evaluateAll((tracks) =>
        tracks.map((track) => track.firstElementChild.getBoundingClientRect().width / track.getBoundingClientRect().width));
      assert.ok(bars.length >= Math.min(12, values.length), view.title);
      const longest = values.sort((a, b) => b - a).slice(0, bars.length);
      bars.sort((a, b) => b - a).forEach((bar, i) => assert.ok(Math.abs(bar - longest[i] / longest[0]) < 0.01, `${view.title} ${i}`));
      compared += bars.length;
    }
  }
  assert.ok(compared > 30, `${compared} bars`);
  await page.done();
});

/** A page of one table: columns by name, unit, cells and hints. */
function tablePage(name, columns, views = []) {
  const typeOf = (cells) => (typeof cells[0] === 'string' ? 'string' : cells.every((cell) => cell === null || Number.isInteger(cell)) ? 'int' : 'float');
  const table = {
    name,
    title: name,
    columns: columns.map(([label, unit, values, hints]) => ({ name: label, type: typeOf(values), unit, role: 'derived', doc: '', hints, values })),
  };
  const section = { name, summary: name, first_table: 0, tables: 1, lack: '', views };
  return composed(
    name,
    { borescope: '0', schema: 2, tables: [table], diagnostics: [] },
    { title: name, against: '', all_rows: [columns[0][2].length], comparisons: ['none'], sections: [section] },
  );
}

const columnTexts = (page, at) => page.locator(`tbody td:nth-child(${at})`).allTextContents();

test('no number is cut: neither those near zero nor those with an exponent nor those beside them', async () => {
  const page = await open(tablePage('near_zero', [
    ['a_ns', 'ns', [2_776_548_799, 9_920, 0]],
    ['b_ns', 'ns', [-2_776_548_799, -9_920, 0]],
    ['c', 'GB/s', [99.5, 0.004, 0]],
    ['d', 'count', [3e18, 1e15, 0]],
  ]));
  assert.deepEqual(await columnTexts(page, 1), ['2.777', '<0.001', '0.000']);
  assert.deepEqual(await columnTexts(page, 2), ['-2.777', '>−0.001', '0.000']);
  assert.deepEqual(await columnTexts(page, 4), ['3.000e+18', '1,000,000,000,000,000', '0']);
  assert.deepEqual(await cutNumbers(page), []);
  await page.done();
});

test('keys have as many decimals as tell them apart, other numbers about four digits', async () => {
  const page = await open(tablePage('bounds', [
    ['from_ns', 'ns', [0, 10_000, 20_000, 50_000, 100_000_000]],
    ['to_ns', 'ns', [10_000, 20_000, 50_000, 100_000_000, null]],
    ['message_bytes', 'bytes', [4, 8, 4_096, 1_048_576, 102_760_448]],
    ['total_ns', 'ns', [1_000, 20_000, 50_000, 123_456_789, 100_000_000]],
  ]));
  assert.deepEqual(await columnTexts(page, 1), ['0.00', '0.01', '0.02', '0.05', '100.00']);
  assert.deepEqual(await columnTexts(page, 2), ['0.01', '0.02', '0.05', '100.00', '–']);
  assert.deepEqual(await columnTexts(page, 3), ['0.000004', '0.000008', '0.004096', '1.048576', '102.760448']);
  assert.deepEqual(await columnTexts(page, 4), ['<0.1', '<0.1', '0.1', '123.5', '100.0']);
  assert.deepEqual(await cutNumbers(page), []);
  await page.done();
});

test('intervals are drawn where their numbers are, on both sides of zero, and values of many units as parts of their marks', async () => {
  const view = { table: 'gate', kind: 'intervals', title: 'Gate', labels: ['name'], values: ['change', 'low', 'high'], x: 'mark' };
  const columns = (unit, names, change, low, high, mark) => [
    ['name', null, names], ['change', unit, change], ['low', unit, low], ['high', unit, high], ['mark', unit, mark]];
  const page = await open(tablePage('gate', columns('share', ['up', 'down', 'none'], [0.2, -0.1, null], [0.1, null, 0], [0.3, 0, 0], [0.05, null, 0.1]), [view]));
  const places = await page.locator('.track.interval').evaluateAll((tracks) => tracks.map((track) => {
    const whole = track.getBoundingClientRect();
    const ends = (name) => [...track.querySelectorAll(name)].map((one) => one.getBoundingClientRect())
      .map((box) => [box.left - whole.left, box.right - whole.left].map((at) => Math.round((at / whole.width) * 100) / 100))[0];
    return { bar: ends('span'), range: ends('.reach'), mark: ends('.held') };
  }));
  // The track goes from -0.1 to 0.3.
  assert.equal(places.length, 2);
  assert.deepEqual([places[0].bar, places[0].range], [[0.25, 0.75], [0.5, 1]]);
  assert.ok(Math.abs(places[0].mark[0] - 0.375) < 0.02);
  assert.deepEqual([places[1].bar, places[1].range, places[1].mark], [[0, 0.25], undefined, undefined]);
  assert.deepEqual(page.faults, []);
  await page.done();
  const limits = await open(tablePage('gate', columns('row', ['time', 'count'], [3e9, 6], [null, null], [null, null], [2e9, 12]), [view]));
  assert.deepEqual(await limits.locator('.bar-value').allTextContents(), ['150.0\u00a0%', '50.0\u00a0%']);
  await limits.done();
});

test('a small share beside a bar is not 0', async () => {
  const view = { table: 'shares', kind: 'bars', title: 'Shares', labels: ['name'], values: ['total_ns'], x: '' };
  const page = await open(tablePage('shares', [
    ['name', null, ['most', 'little', 'half'], { names: true }],
    ['total_ns', 'ns', [999_000, 100, 499_500]],
    ['share', 'share', [0.6666, 0.0004, 0.125]],
  ], [view]));
  assert.deepEqual(await page.locator('.bar-value small').allTextContents(), [' 66.7\u00a0%', ' 12.5\u00a0%', ' <0.1\u00a0%']);
  await page.done();
});

test('bars have the colours and the order that the hints of columns say', async () => {
  const view = { kind: 'bars', table: 'hints', title: 'Hints', values: ['total_ns'], x: '' };
  const cells = ['nccl', 'copy', '__proto__', 'constructor'];
  const page = await open(tablePage('hints', [
    ['class', null, cells, { palette: 'work', tones: { copy: 'comm', ['__proto__']: 'sync' } }],
    ['name', null, cells, { names: true }],
    ['total_ns', 'ns', [1_000, 2_000, 3_000, 4_000], { tone: 'tail' }],
    ['idle_ns', 'ns', [5, 5, 5, 5]],
  ], [
    { ...view, labels: ['name'] },
    { ...view, labels: ['class'] },
    { ...view, labels: ['class'], kind: 'stacked-bars', values: ['total_ns', 'idle_ns'] },
  ]));
  const colours = (at) => page.locator('#hints figure').nth(at).locator('.track span').evaluateAll(
    (spans) => spans.map((span) => /var\(--(\w+)\)/.exec(span.getAttribute('style'))[1]));
  assert.deepEqual(await colours(0), ['tail', 'sync', 'comm', 'tail']); // the longest first
  assert.deepEqual(await colours(1), ['tail', 'comm', 'sync', 'tail']);
  assert.deepEqual(await colours(2), ['tail', 'compute', 'tail', 'compute', 'tail', 'compute', 'tail', 'compute']);
  assert.deepEqual(page.faults, []);
  await page.done();
});

test('the bars of a run have the tones of its tables', async () => {
  const path = report('tones', demoRun);
  const page = await open(path);
  const classes = page.locator('#kernels figure[data-table="kernel_classes"] li');
  const comm = classes.filter({ hasText: 'collective' }).locator('.track span').first();
  assert.match(await comm.getAttribute('style'), /--comm/);
  const idle = page.locator('#breakdown .legend li').filter({ hasText: 'idle' }).locator('i').first();
  assert.match(await idle.getAttribute('style'), /--idle/);
  await page.done();
});

test('labels leave out what all rows share, and names their parameters first', async () => {
  const page = await open(report('labels', demoRun));
  const labels = (section) => page.locator(`#${section} figure[data-kind="bars"] .bar-label`);
  const kernel = labels('kernels').filter({ hasText: 'nccl' }).first();
  assert.equal(await kernel.textContent(), 'ncclDevKernel_AllReduce_Sum_f32_RING_LL');
  assert.match(await kernel.getAttribute('title'), /\(ncclDevKernelArgsStorage<4096ul>\)$/);
  assert.ok((await labels('stragglers').allTextContents()).every((label) => /^rank \d$/.test(label)));
  await page.done();
});

test('on paper nothing is beyond the edge, and what is left out is told', async () => {
  for (const inputs of [[demoRun], [demoRun, '--against', demoRun]]) {
    const page = await open(report(`paper${inputs.length}`, ...inputs));
    await page.emulateMedia({ media: 'print' });
    await page.setViewportSize({ width: 718, height: 1000 });
    await page.evaluate(() => dispatchEvent(new Event('beforeprint')));
    await page.getByText('rows are printed').first().waitFor({ state: 'attached' });
    assert.equal(await overflow(page), 0);
    const beyond = () => page.locator('table').evaluateAll((all) =>
      all.filter((one) => one.getBoundingClientRect().right > innerWidth + 1).map((one) => one.closest('details').dataset.table));
    assert.deepEqual(await atLast(beyond, (found) => found.length === 0), []);
    assert.equal(await page.locator('nav, .tools').filter({ visible: true }).count(), 0);
    assert.deepEqual(page.faults, []);
    await page.done();
  }
});

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
  const page = await open(report('table', demoRun), { at: '#kernels' });
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
  const page = await open(report('keys', demoRun), { at: '#ops' });
  const block = page.locator('#ops details[data-table="ops"]');
  await block.locator('tbody tr').first().focus();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  assert.match(await block.locator('.details').textContent(), /aten::mm/);
  await page.done();
});

test('the flame graph zooms, searches and is driven by keys', async () => {
  const page = await open(report('flame', demoRun), { at: '#flame' });
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
  assert.match(await flame.locator('.hit').first().getAttribute('class'), /tone-transfer/);
  await page.show('#stacks');
  const stacks = page.locator('#stacks figure[data-kind="flame"]');
  await stacks.getByRole('button', { name: 'total device' }).click();
  assert.equal(await stacks.getByRole('button', { name: 'total device' }).getAttribute('aria-pressed'), 'true');
  assert.deepEqual(page.faults, []);
  await page.done();
});

/** Annotations around each other, and two kernels in the innermost. */
function nestedTrace(levels) {
  const path = join(folder, 'nested.json');
  const around = Array.from({ length: levels }, (_, i) => (
    { ph: 'X', cat: 'user_annotation', name: `around ${i}`, pid: 1, tid: 1, ts: i, dur: 1000 - 2 * i }));
  const kernels = [0, 1].flatMap((i) => [
    { ph: 'X', cat: 'cpu_op', name: `aten::op${i}`, pid: 1, tid: 1, ts: 200 + 200 * i, dur: 100 },
    { ph: 'X', cat: 'cuda_runtime', name: 'cudaLaunchKernel', pid: 1, tid: 1, ts: 210 + 200 * i, dur: 5, args: { correlation: i + 1 } },
    { ph: 'X', cat: 'kernel', name: `kernel${i}`, pid: 0, tid: 7, ts: 220 + 200 * i, dur: 60, args: { device: 0, stream: 7, correlation: i + 1 } },
  ]);
  writeFileSync(path, JSON.stringify({ schemaVersion: 1, traceEvents: [...around, ...kernels] }));
  return path;
}

test('what is around all of a flame graph is left out, and shown when asked for', async () => {
  const page = await open(report('nested', nestedTrace(9)), { at: '#flame' });
  const flame = page.locator('#flame figure[data-kind="flame"]');
  const frame = (name) => flame.getByRole('button', { name: new RegExp(`^${name}:`) });
  assert.match(await flame.locator('.note').textContent(), /^7 frames around all of it are left out/);
  assert.equal(await frame('around 6').count(), 0);
  await frame('all').focus();
  await page.keyboard.press('ArrowDown');
  assert.match(await flame.locator('.tip').textContent(), /^around 7/);
  await page.keyboard.press('ArrowUp');
  assert.match(await flame.locator('.tip').textContent(), /^all/);
  await frame('kernel1').click();
  assert.equal(await frame('kernel0').count(), 0);
  assert.match(await frame('kernel1').getAttribute('class'), /tone-kernel/);
  await flame.getByRole('button', { name: 'Show all', exact: true }).click();
  await flame.getByRole('button', { name: 'Show what is around' }).click();
  assert.equal(await frame('around 0').count(), 1);
  assert.deepEqual(await flame.locator('.legend.kinds li').allTextContents(), ['annotation', 'op', 'kernel']);
  assert.deepEqual(page.faults, []);
  await page.done();
});

test('lines zoom by a drag', async () => {
  const page = await open(report('series', demoRun), { at: '#queue' });
  const plot = page.locator('#queue figure[data-kind="series"]');
  const svg = plot.locator('svg');
  const line = () => svg.locator('path.line').first().getAttribute('d');
  const path = await line();
  const box = await settledBox(svg);
  await page.mouse.move(box.x + box.width * 0.4, box.y + 50);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * 0.6, box.y + 60);
  await page.mouse.up();
  assert.notEqual(await atLast(line, (now) => now !== path), path);
  await plot.getByRole('button', { name: 'Show all' }).click();
  assert.equal(await atLast(line, (now) => now === path), path);
  await page.done();
});

test('the roofline tells about the operator that is pointed at', async () => {
  const page = await open(report('roofline', demoRun), { at: '#roofline' });
  const plot = page.locator('#roofline figure[data-kind="roofline"]');
  const circle = await settledBox(plot.locator('circle').first());
  await page.mouse.move(circle.x + circle.width / 2, circle.y + circle.height / 2);
  const said = /aten::.*of the roof/;
  assert.match(await atLast(() => plot.locator('.tip').textContent(), (text) => said.test(text)), said);
  assert.ok((await plot.locator('.roof line').count()) >= 2);
  await page.done();
});
