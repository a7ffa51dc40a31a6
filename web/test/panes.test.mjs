// Panes, addresses, filters and keys of the report, in a real browser.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';

import { accessibilityFaults, atLast, composed, demoRun, embedded, open, openTables, overflow, report, samples, settledBox, start, stop } from './browser.mjs';

before(start);
after(stop);

const ALWAYS = ['overview', 'timeline', 'quality'];
const kineto = (name) => join(samples, 'data/kineto', name);
const SCREENS = [
  ['demo', demoRun],
  ['a100', kineto('two_ranks')],
  ['vllm', kineto('vllm_piecewise/graph_execution.json.gz')],
  ['mi300', kineto('mi300_resnet_checkpoint.json.gz')],
  ['dlrm8', kineto('dlrm8')],
].filter(([, input]) => existsSync(input));

const pages = new Map();
/** The report of an input, made once. */
function pageOf(name, ...inputs) {
  if (!pages.has(name)) {
    pages.set(name, report(name, ...inputs));
  }
  return pages.get(name);
}
const demo = () => pageOf('demo', demoRun);

const shownPane = (page) => page.locator('.pane:not([hidden])').getAttribute('id');
const hashOf = (page) => page.evaluate(() => location.hash);
const paneNames = (path) => {
  const { layout } = embedded(path);
  return layout.panes.map(({ name }) => name).filter((name) => ALWAYS.includes(name) || layout.sections.some((section) => section.pane === name));
};

/** Columns by name, unit, role and cells. */
function tableOf(name, columns) {
  const typeOf = (cells) => (cells.some((cell) => typeof cell === 'string') ? 'string' : 'int');
  return { name, title: name, columns: columns.map(([label, unit, role, values]) => ({ name: label, type: typeOf(values), unit, role, doc: '', values })) };
}

function pageOfTable(name, table, { views = [], allRows, diagnostics = [] } = {}) {
  const section = { name, summary: name, first_table: 0, tables: 1, lack: '', views };
  return composed(
    name,
    { borescope: '0', schema: 2, tables: [table], diagnostics },
    { title: name, against: '', all_rows: [allRows ?? table.columns[0].values.length], comparisons: ['none'], sections: [section] },
  );
}

// ---- Addresses ----

test('each address leads to its pane, those of older pages, too, and none to an error', async () => {
  const addresses = [
    ['', 'overview', null], ['#kernels', 'kernels', null], ['#operators/flame', 'operators', 'flame'], ['#flame', 'operators', 'flame'],
    ['#steps', 'time', 'steps'], ['#doctor', 'quality', 'doctor'], ['#not-recorded', 'quality', 'not-recorded'], ['#overview', 'overview', null],
    ['#nonsense', 'overview', null], ['#kernels/nonsense', 'kernels', null], ['#%E0%A4%A', 'overview', null],
    ['#kernels?rank=x&t=5-1&step=1e9', 'kernels', null], ['#ops?text=<img src=x onerror=alert(1)>', 'operators', 'ops'],
  ];
  for (const [at, pane, section] of addresses) {
    const page = await open(demo(), { at });
    assert.equal(await shownPane(page), `pane-${pane}`, at);
    assert.equal(await page.getByRole('tab', { selected: true }).getAttribute('id'), `tab-${pane}`);
    if (section !== null) {
      const top = () => page.locator(`#${section}`).evaluate((one) => one.getBoundingClientRect().top);
      const isInView = (pixels) => pixels >= 0 && pixels < 700;
      assert.ok(isInView(await atLast(top, isInView)), `${at}: ${await top()}`);
    }
    assert.deepEqual(page.faults, [], at);
    await page.done();
  }
});

test('every section of the layout is at home in one pane', () => {
  const { layout } = embedded(demo());
  const names = layout.panes.map(({ name }) => name);
  assert.deepEqual(layout.sections.filter(({ pane }) => !names.includes(pane)), []);
  assert.equal(layout.sections.find(({ name }) => name === 'flame').pane, 'operators');
});

test('the back button goes through panes and filters, and links can be copied', async () => {
  const page = await open(demo());
  await page.getByRole('tab', { name: 'Kernels' }).click();
  await page.getByLabel('Filter by rank').selectOption('1');
  assert.equal(await hashOf(page), '#kernels?rank=1');
  await page.getByRole('tab', { name: 'Operators' }).click();
  assert.equal(await hashOf(page), '#operators?rank=1');
  await page.goBack();
  assert.equal(await shownPane(page), 'pane-kernels');
  assert.equal(await page.getByLabel('Filter by rank').inputValue(), '1');
  await page.goBack();
  assert.equal(await page.getByLabel('Filter by rank').inputValue(), '');
  assert.equal(await shownPane(page), 'pane-kernels');
  await page.goBack();
  assert.equal(await shownPane(page), 'pane-overview');
  await page.goForward();
  await page.goForward();
  assert.equal(await hashOf(page), '#kernels?rank=1');
  const copied = await open(demo(), { at: await hashOf(page) });
  assert.equal(await shownPane(copied), 'pane-kernels');
  assert.equal(await copied.getByLabel('Filter by rank').inputValue(), '1');
  await copied.done();
  assert.deepEqual(page.faults, []);
  await page.done();
});

test('panes that are not shown are found by a search of the browser, and printed', async () => {
  const page = await open(demo());
  assert.equal(await page.locator('#pane-kernels').getAttribute('hidden'), 'until-found');
  await page.locator('#pane-kernels').evaluate((pane) => pane.dispatchEvent(new Event('beforematch', { bubbles: true })));
  assert.equal(await shownPane(page), 'pane-kernels');
  await page.emulateMedia({ media: 'print' });
  await page.evaluate(() => dispatchEvent(new Event('beforeprint')));
  for (const section of ['overview', 'steps', 'ops', 'kernels', 'doctor']) {
    assert.ok(await page.locator(`section#${section}`).isVisible(), section);
    assert.ok((await page.locator(`section#${section}`).boundingBox()).height > 20, section);
  }
  await page.done();
});

test('the timeline is drawn when it is first shown, and names are fitted when they are near', async () => {
  const page = await open(demo());
  assert.equal(await page.locator('#timeline canvas').count(), 0);
  const cells = page.locator('#kernels details[data-table="kernels"] tbody td:first-child');
  const cut = async () => (await cells.allTextContents()).filter((text) => text.includes('…')).length;
  assert.equal(await cut(), 0); // whole for a search of the browser
  await page.getByRole('tab', { name: 'Kernels' }).click();
  assert.ok((await atLast(cut, (count) => count > 0)) > 0);
  await page.getByRole('tab', { name: 'Timeline' }).click();
  await page.locator('#timeline canvas[tabindex]').waitFor();
  assert.deepEqual(page.faults, []);
  await page.done();
});

// ---- Filters ----

/** The rows of a table of the JSON that a filter leaves, counted anew. */
function keptRows(table, filters) {
  const column = (name) => table.columns.find((one) => one.name === name);
  const rows = table.columns[0].values.map((_, row) => row);
  const numbers = ['rank', 'step', 'stream'].filter((name) => filters[name] !== undefined && column(name) !== undefined);
  return numbers.length === 0 ? null : rows.filter((row) => numbers.every((name) => column(name).values[row] === filters[name]));
}

const FILTERS = [{ rank: 1 }, { stream: 7 }, { rank: 0, step: 2 }];
for (const filters of FILTERS) {
  const query = new URLSearchParams(filters).toString();
  test(`filters are what a count of the JSON gives: ${query}`, async () => {
    const { tables, layout } = embedded(demo());
    const page = await open(demo(), { at: `#quality?${query}` });
    let compared = 0;
    for (const pane of paneNames(demo()).filter((name) => name !== 'overview' && name !== 'timeline')) {
      await page.show(`#${pane}?${query}`);
      await page.evaluate((id) => document.querySelectorAll(`#pane-${id} details[data-table]`).forEach((one) => { one.open = true; }), pane);
      for (const section of layout.sections.filter((one) => one.pane === pane)) {
        for (const table of tables.tables.slice(section.first_table, section.first_table + section.tables).filter((one) => one.columns[0].values.length > 0)) {
          compared += await assertFiltered(page.locator(`section#${section.name} details[data-table="${table.name}"]`).first(), table, filters);
        }
      }
    }
    assert.ok(compared > 20, `${compared} numbers`);
    assert.deepEqual(page.faults, []);
    await page.done();
  });
}

/** How many numbers were compared. */
async function assertFiltered(block, table, filters) {
  const kept = keptRows(table, filters);
  const note = await atLast(() => block.locator('.filtered').first().textContent().catch(() => ''), (text) => text !== '');
  const missing = Object.keys(filters).filter((name) => !table.columns.some((column) => column.name === name));
  missing.forEach((name) => assert.match(note, new RegExp(`Not filtered by .*${name}`), table.name));
  if (kept === null) {
    assert.doesNotMatch(note, /^Filtered/);
    assert.equal(await block.locator('tfoot').count(), 0, table.name);
    return 1;
  }
  const all = table.columns[0].values.length;
  assert.ok(note.includes(`${kept.length.toLocaleString('en')} of ${all.toLocaleString('en')} rows`), `${table.name}: ${note}`);
  const has = (name) => table.columns.some((one) => one.name === name);
  const isInclusive = (name) => has('depth') || (name.startsWith('total_') && has(name.replace('total_', 'self_')));
  const sums = table.columns.filter((column) => column.role === 'sum' && !isInclusive(column.name));
  if (sums.length === 0) {
    return 1;
  }
  const headings = await block.locator('th[data-column]').evaluateAll((all_) => all_.map((one) => one.dataset.column));
  const cells = await block.locator('tfoot tr').evaluateAll((lines) => lines.map((line) => [...line.children].map((cell) => cell.title)));
  for (const { name, values } of sums) {
    const at = headings.indexOf(name);
    if (at < 0) { // what is 0 as a rule is left out where it is
      assert.ok(values.every((value) => value === 0 || value === null), `${table.name}.${name}`);
      continue;
    }
    assert.equal(Number(cells[0][at]), kept.reduce((sum, row) => sum + (values[row] ?? 0), 0), `${table.name}.${name}`);
    assert.equal(Number(cells[1][at]), values.reduce((sum, value) => sum + (value ?? 0), 0), `${table.name}.${name}`);
  }
  return sums.length;
}

test('a text filters names in all panes, trees with their branches, and says where it cannot', async () => {
  const tree = tableOf('tree', [
    ['depth', null, 'key', [0, 1, 2, 1, 0]],
    ['name', null, 'key', ['a', 'b', 'gemm', 'c', 'd']],
    ['total_ns', 'ns', 'sum', [10, 6, 5, 4, 3]],
  ]);
  const page = await open(pageOfTable('tree', tree), { at: '#tree' });
  await page.getByLabel('Filter names in all panes').fill('B');
  const names = () => page.locator('#tree tbody td:nth-child(2)').allTextContents();
  assert.deepEqual(await atLast(names, (found) => found.length === 3), ['a', 'b', 'gemm']);
  assert.equal(await hashOf(page), '#sections/tree?text=B');
  assert.equal(await page.locator('#tree tfoot').count(), 0); // rows lie in each other
  await page.getByRole('button', { name: 'Clear filters' }).click();
  assert.equal((await names()).length, 5);
  await page.done();
  const nameless = await open(pageOfTable('nameless', tableOf('nameless', [['rank', null, 'key', [0, 1]], ['total_ns', 'ns', 'sum', [1, 2]]])), { at: '#nameless?text=gemm' });
  assert.match(await nameless.locator('#nameless .filtered').textContent(), /Not filtered by text/);
  assert.equal(await nameless.locator('#nameless tbody tr').count(), 2);
  await nameless.done();
});

test('times that lie in each other are not added up', async () => {
  const table = tableOf('nested', [['name', null, 'key', ['outer', 'inner']], ['self_host_ns', 'ns', 'sum', [3, 7]], ['total_host_ns', 'ns', 'sum', [10, 7]]]);
  const page = await open(pageOfTable('nested', table), { at: '#nested?text=e' });
  assert.deepEqual(await page.locator('#nested tfoot tr').first().locator('td').evaluateAll((cells) => cells.map((cell) => cell.title)), ['10', '']);
  await page.done();
});

test('a flame graph marks a text and keeps its widths', async () => {
  const page = await open(demo(), { at: '#flame?text=aten::linear' });
  const flame = page.locator('#flame figure[data-kind="flame"]');
  assert.ok((await flame.locator('.hit').count()) > 0);
  assert.equal(await flame.getByRole('searchbox').inputValue(), 'aten::linear');
  assert.match(await flame.getByRole('status').textContent(), /13\.4/);
  await page.getByRole('button', { name: 'Clear filters' }).click();
  assert.equal(await flame.locator('.hit').count(), 0);
  await page.done();
});

test('a time keeps what lasts into it', async () => {
  const table = tableOf('moments', [
    ['name', null, 'key', ['before', 'into', 'in', 'after']],
    ['begin_offset_ns', 'ns', 'derived', [0, 50, 120, 300]],
    ['duration_ns', 'ns', 'sum', [40, 100, 10, 10]],
  ]);
  const page = await open(pageOfTable('moments', table), { at: '#moments?t=100-200' });
  assert.deepEqual(await page.locator('#moments tbody td:nth-child(1)').allTextContents(), ['into', 'in']);
  await page.getByRole('button', { name: 'All times again' }).click();
  assert.equal(await page.locator('#moments tbody tr').count(), 4);
  await page.done();
});

test('of a table that was cut, a filter says that it saw only what is here', async () => {
  const table = tableOf('cut', [['name', null, 'key', ['gemm', 'add', 'gemm_2']], ['total_ns', 'ns', 'sum', [3, 2, 1]]]);
  const page = await open(pageOfTable('cut', table, { allRows: 13_758 }), { at: '#cut?text=gemm' });
  assert.match(await page.locator('#cut .filtered').textContent(), /2 of 3 rows\. Only the 3 rows that are in this page were searched; there are 13,758\./);
  await page.done();
});

test('words of the program are plain, copies keep the identifiers, and a filter finds both', async () => {
  const table = tableOf('words', [
    ['cause', null, 'key', ['host_wait', 'kernel_wait', 'nccl']],
    ['name', null, 'key', ['my_kernel', 'other_kernel', 'x']],
    ['help', null, 'derived', ['waits of 12 us', 'plus 3 users', '5.5 us']],
    ['total_ns', 'ns', 'sum', [3, 2, 1]],
  ]);
  const page = await open(pageOfTable('words', table), { at: '#words' });
  const cells = (at) => page.locator(`#words tbody td:nth-child(${at})`).allTextContents();
  assert.deepEqual(await cells(1), ['host wait', 'kernel wait', 'nccl']);
  assert.deepEqual(await cells(2), ['my_kernel', 'other_kernel', 'x']);
  assert.deepEqual(await cells(3), ['waits of 12 µs', 'plus 3 users', '5.5 µs']);
  await page.getByRole('button', { name: /Copy CSV/ }).click();
  assert.match(await page.evaluate(() => navigator.clipboard.readText()), /host_wait,my_kernel,waits of 12 us,3/);
  await page.done();
});

test('times of several ranks are filtered on one clock', async () => {
  const table = tableOf('clocks', [
    ['rank', null, 'key', [0, 0, 1, 1]], ['begin_offset_ns', 'ns', 'derived', [100, 900, 100, 900]], ['duration_ns', 'ns', 'sum', [50, 50, 50, 50]],
  ]);
  const section = { name: 'clocks', summary: 'clocks', first_table: 0, tables: 1, lack: '', views: [] };
  const path = composed('clocks', { borescope: '0', schema: 2, tables: [table], diagnostics: [] }, {
    title: 'clocks', against: '', all_rows: [4], comparisons: ['none'], sections: [section],
    clocks: [{ rank: 0, begin_ns: 5_000, shift_ns: 0 }, { rank: 1, begin_ns: 6_000, shift_ns: 800 }],
  });
  const page = await open(path, { at: '#clocks?t=850-1000' }); // rank 0 at 900, rank 1 at 800 + 100
  const rows = await page.locator('#clocks tbody tr').evaluateAll((all) => all.map((row) => [...row.querySelectorAll('td')].map((cell) => cell.title)));
  assert.deepEqual(rows.map((row) => row.slice(0, 2)), [['0', '900'], ['1', '100']]);
  await page.done();
});

test('the first cell of sums says what they are of, also where it has one', async () => {
  const table = tableOf('launches', [['launches', 'count', 'sum', [3, 4]], ['name', null, 'key', ['a', 'b']]]);
  const page = await open(pageOfTable('launches', table), { at: '#launches?text=a' });
  assert.deepEqual(await page.locator('#launches tfoot th').allTextContents(), ['Kept 3', 'All 7']);
  await page.done();
});

// ---- One whole ----

/** A page of the sections that the overview is made of; the device waits 600 of 1,000, 500 of it before the recording. */
function overviewPage(name, { comparison = 'none', extra = {} } = {}) {
  const both = (columns) => (comparison === 'none' ? columns : [['runs', null, 'derived', ['both']], ...columns.flatMap(([label, unit, role, values, other]) => (
    other === undefined ? [[label, unit, role, values]] : [[label, unit, role, values], [`against_${label}`, unit, 'derived', other], [`change_${label}`, unit, 'derived', values.map((value, i) => value - other[i])]]))]);
  const ns = (label, value, other) => [label, 'ns', 'sum', [value], [other]];
  const tones = { compute_ns: 'compute', idle_ns: 'idle', before_recording_ns: 'faint' };
  const toned = (table) => ({ ...table, columns: table.columns.map((column) => ({ ...column, ...(tones[column.name] ? { hints: { tone: tones[column.name] } } : {}) })) });
  const tables = [
    tableOf('overview', both([['rank', null, 'key', [0]], ['devices', null, 'derived', ['1 x A100']], ns('span_ns', 1_000, 2_000), ['kernels', 'count', 'sum', [5], [7]]])),
    tableOf('left_out', both([['rank', null, 'key', [0]], ns('before_first_launch_ns', 0, 0), ns('before_recording_ns', 500, 200)])),
    tableOf('breakdown', both([['rank', null, 'key', [0]], ns('span_ns', 1_000, 2_000), ns('compute_ns', 400, 900), ns('idle_ns', 600, 1_100)])),
    tableOf('kernels', both([['name', null, 'key', ['gemm']], ns('total_ns', 400, 900)])),
  ].map(toned);
  const view = { table: 'breakdown', kind: 'stacked-bars', title: 'Time', labels: ['rank'], values: ['compute_ns', 'idle_ns'], x: '' };
  const section = (of, pane, first, count, views = []) => ({ name: of, pane, summary: of, first_table: first, tables: count, lack: '', views });
  return composed(name, { borescope: '0', schema: 2, tables, diagnostics: [] }, {
    title: name, against: comparison === 'none' ? '' : 'before', all_rows: tables.map(() => 1), comparisons: tables.map(() => comparison),
    panes: [{ name: 'overview', title: 'Overview' }, { name: 'time', title: 'Time' }, { name: 'quality', title: 'Data quality' }],
    sections: [section('summary', 'overview', 0, 2), section('breakdown', 'time', 2, 1, [view]), section('kernels', 'time', 3, 1)], ...extra,
  });
}

test('shares of the overview are of one whole, without what the verdict leaves out', async () => {
  const page = await open(overviewPage('whole'));
  assert.match(await page.locator('.facts').textContent(), /Devices busy80\.0\s%/);
  assert.deepEqual(await page.locator('.box.time .legend li').allTextContents(), ['compute 400\u00a0ns · 80.0\u00a0%', 'idle 100\u00a0ns · 20.0\u00a0%']);
  assert.equal(await page.locator('.left-out').textContent(), 'Shares are of 500\u00a0ns; left out: 500\u00a0ns before recording.');
  const widths = await page.locator('.box.time .track span').evaluateAll((bars) => bars.map((bar) => bar.style.width));
  assert.deepEqual(widths, ['80%', '20%']);
  assert.deepEqual(page.faults, []);
  await page.done();
});

test('the overview of two runs has both, and what changed', async () => {
  const page = await open(overviewPage('both', { comparison: 'matched' }));
  const facts = await page.locator('.facts').textContent();
  assert.match(facts, /Time1\.000\sµs−50\.0\s%, ×0\.50other 2\.000\sµs/);
  assert.match(facts, /Devices busy80\.0\s%\+30\.0\spointsother 50\.0\s%/); // 400 of 500, 900 of 1,800
  assert.equal(await page.locator('.box.time .track').count(), 2);
  assert.match(await page.locator('.box.time .legend').first().textContent(), /compute 400\sns · 80\.0\s%; other 900\sns · 50\.0\s% \(−55\.6\s%, ×0\.44\)/);
  assert.match(await page.locator('.box.names').first().textContent(), /Kernels that changed most.*900\sns → 400\sns −55\.6\s%/);
  assert.equal(await overflow(page), 0);
  assert.deepEqual(page.faults, []);
  await page.done();
});

// ---- The overview ----

for (const [name, input] of SCREENS) {
  test(`${name}: the overview fits one screen, and all on it leads somewhere`, async () => {
    const page = await open(pageOf(name, input), { height: 800 });
    const box = await page.locator('section#overview').boundingBox();
    assert.ok(box.y + box.height <= 800, `${box.y + box.height}`);
    assert.equal(await overflow(page), 0);
    const findings = page.locator('#overview .verdict > li');
    assert.ok((await findings.count()) > 0);
    const targets = await page.locator('#overview a').evaluateAll((links) => links.map((link) => link.getAttribute('href')));
    assert.ok(targets.length > 15);
    const sections = await page.evaluate(() => [...document.querySelectorAll('.pane [id]')].map((one) => one.id));
    for (const target of new Set(targets.map((one) => one.split('?')[0]))) {
      const [pane, section] = target.slice(1).split('/');
      assert.ok(sections.includes(section ?? pane), target);
    }
    assert.deepEqual(page.faults, []);
    await page.done();
  });
}

test('each finding shows its evidence, and what to do', async () => {
  const page = await open(demo());
  const finding = page.locator('#overview .verdict > li').first();
  assert.equal(await finding.locator('.help').last().isVisible(), false);
  await finding.getByRole('button', { name: /^What to do/ }).click();
  assert.ok(await finding.locator('.help').last().isVisible());
  await finding.getByRole('link', { name: /^Show me/ }).first().click();
  assert.notEqual(await shownPane(page), 'pane-overview');
  await page.goBack();
  const top = page.locator('#overview .names').first().getByRole('link').nth(1);
  const name = await top.getAttribute('title');
  await top.click();
  assert.equal(await shownPane(page), 'pane-kernels');
  const rows = page.locator('#kernels details[data-table="kernels"] tbody tr:not(.spacer)');
  assert.ok((await rows.first().locator('td').first().getAttribute('title')).includes(name));
  await page.done();
});

test('evidence that names a rank, a step or a kernel leads to its rows', async () => {
  const text = (name, values) => [name, null, 'derived', values];
  const tables = [
    tableOf('verdict', [
      text('finding', ['Slow step', 'One kernel', 'Two ranks']), text('severity', ['warning', 'info', 'info']),
      text('evidence', ['step 7 of rank 1 takes 9 ms', 'a_kernel_of_some_length…end (gemm): 1 ms', '1 ms on rank 0, 2 ms on rank 1']),
      text('help', ['`borescope breakdown` shows it.', '`borescope flame` shows it.', '`borescope steps` shows it.']),
    ]),
    tableOf('steps', [['rank', null, 'key', [0, 1]], ['step', null, 'key', [7, 7]], ['span_ns', 'ns', 'sum', [5, 9]]]),
    tableOf('kernels', [['name', null, 'key', ['void a_kernel_of_some_length_to_the_end(int)', 'b']], ['total_ns', 'ns', 'sum', [3, 1]]]),
  ];
  const sections = tables.map((table, i) => ({ name: i === 0 ? 'summary' : table.name, summary: '', first_table: i, tables: 1, lack: '', views: [] }));
  const path = composed('evidence', { borescope: '0', schema: 2, tables, diagnostics: [] }, {
    title: 'evidence', against: '', all_rows: [3, 2, 2], comparisons: ['none', 'none', 'none'], sections,
  });
  const page = await open(path);
  const links = (at) => page.locator('#overview .verdict > li').nth(at).getByRole('link').evaluateAll((all) => all.map((one) => one.getAttribute('href')));
  assert.deepEqual(await links(0), ['#sections/steps?rank=1&step=7']);
  assert.deepEqual(await links(1), ['#sections/kernels?text=void+a_kernel_of_some_length_to_the_end%28int%29']);
  assert.deepEqual(await links(2), ['#sections/steps']);
  await page.locator('#overview .verdict > li').first().getByRole('link').click();
  assert.equal(await page.locator('#steps tbody tr').count(), 1);
  await page.done();
});

const STEPS = 40;
function stepsTable() {
  const steps = Array.from({ length: STEPS }, (_, i) => i);
  const long = (i) => (i === 7 ? 900 : 100);
  return tableOf('steps', [
    ['rank', null, 'key', steps.map(() => 0)],
    ['step', null, 'key', steps],
    ['begin_offset_ns', 'ns', 'derived', steps.map((i) => i * 1000)],
    ['span_ns', 'ns', 'sum', steps.map(() => 1000)],
    ['busy_ns', 'ns', 'sum', steps.map(long)],
    ['idle_ns', 'ns', 'sum', steps.map(() => 50)],
  ]);
}
const stepsView = { table: 'steps', kind: 'stacked-bars', title: 'Steps', labels: ['rank', 'step'], values: ['busy_ns', 'idle_ns'], x: '' };

test('steps stand in the order of time; a click chooses one, a drag a stretch of time', async () => {
  const page = await open(pageOfTable('steps', stepsTable(), { views: [stepsView] }), { at: '#steps' });
  const plot = page.locator('#steps svg.steps');
  assert.match(await plot.getAttribute('aria-label'), /40 steps in the order of time; the longest is step 7: 950\sns, 6\.33 × the median/);
  const bars = await plot.locator('g.axis ~ rect').evaluateAll((rects) => rects.map((rect) => [Number(rect.getAttribute('x')), Number(rect.getAttribute('height'))]));
  const busy = bars.filter((_, i) => i % 2 === 0);
  assert.equal(busy.length, STEPS);
  assert.ok(busy.every(([x], i) => i === 0 || x > busy[i - 1][0]));
  assert.equal(busy.findIndex(([, height]) => height === Math.max(...busy.map(([, one]) => one))), 7);
  const box = await settledBox(plot);
  const wide = busy[1][0] - busy[0][0];
  const at = (step) => box.x + busy[0][0] + (step + 0.5) * wide;
  await page.mouse.move(at(3), box.y + 50);
  await page.mouse.down();
  await page.mouse.move(at(4), box.y + 50);
  await page.mouse.move(at(5), box.y + 50);
  await page.mouse.up();
  assert.equal(await atLast(() => hashOf(page), (hash) => hash.includes('t=')), '#sections/steps?t=3000-6000');
  await page.getByRole('button', { name: 'Clear filters' }).click();
  await page.mouse.click(at(7), box.y + 50);
  assert.equal(await atLast(() => hashOf(page), (hash) => hash.includes('step=')), '#sections/steps?step=7');
  assert.equal(await page.locator('#steps tbody tr').count(), 1);
  assert.deepEqual(page.faults, []);
  await page.done();
});

test('a chosen step stays among the others, boxes say what they are not filtered by, and shares are of all names', async () => {
  const tables = [
    tableOf('overview', [['rank', null, 'key', [0, 1, 2]], ['devices', null, 'derived', ['1 x GPU A', '1 x GPU A, 2 x GPU B', '1 x GPU A']], ['span_ns', 'ns', 'sum', [9, 9, 9]]]),
    stepsTable(),
    tableOf('kernels', [['name', null, 'key', ['gemm', 'add', '']], ['total_ns', 'ns', 'sum', [60, 30, 10]]]),
  ];
  const names = ['summary', 'steps', 'kernels'];
  const sections = tables.map((table, i) => ({ name: names[i], summary: '', first_table: i, tables: 1, lack: '', views: i === 1 ? [stepsView] : [] }));
  const path = composed('chosen', { borescope: '0', schema: 2, tables, diagnostics: [] }, {
    title: 'chosen', against: '', all_rows: [3, STEPS, 3], comparisons: ['none', 'none', 'none'], sections,
  });
  const page = await open(path);
  assert.match(await page.locator('.facts').textContent(), /Devices3 x GPU A; 2 x GPU B/);
  assert.deepEqual(await page.locator('#overview .names .bar-label').allTextContents(), ['gemm', 'add', '(no name)']);
  await page.show('#overview?step=7&text=add');
  const kernels = page.locator('#overview .names');
  assert.match(await atLast(() => kernels.locator('h3').textContent(), (text) => text.includes('not')), /not filtered by step$/);
  assert.match(await kernels.locator('li').textContent(), /30\.0\s%/);
  const columns = page.locator('#overview svg.steps');
  assert.equal(await columns.locator('g.axis ~ rect:not(.chosen)').count(), 2 * STEPS);
  const [mark, seventh] = [await columns.locator('.chosen').boundingBox(), await columns.locator('g.axis ~ rect').nth(2 * 7).boundingBox()];
  assert.ok(Math.abs(mark.x - seventh.x) < 2, `${mark.x} ${seventh.x}`);
  await page.show('#steps?step=7');
  assert.equal(await page.locator('#steps svg.steps .chosen').count(), 1);
  assert.equal(await page.locator('#steps tbody tr').count(), 1);
  assert.deepEqual(page.faults, []);
  await page.done();
});

test('two steps have no usual length, and no ratio to it', async () => {
  const whole = stepsTable();
  const two = { ...whole, columns: whole.columns.map((column) => ({ ...column, values: column.values.slice(6, 8) })) };
  const page = await open(pageOfTable('steps_two', two, { views: [stepsView] }), { at: '#steps_two' });
  assert.match(await page.locator('svg.steps').getAttribute('aria-label'), /the longest is step 7: 950\sns$/);
  await page.done();
});

test('remarks of eight ranks are one, with their sum', async () => {
  const of = (rank, code, severity) => ({ code, severity, count: rank + 1, file: `rank-${rank}.json`, first: `first ${rank}`, help: `help of ${code}` });
  const ranks = Array.from({ length: 8 }, (_, rank) => rank);
  const diagnostics = [...ranks.map((rank) => of(rank, 'no-operator', 'info')), ...ranks.slice(2, 4).map((rank) => of(rank, 'truncated-file', 'error'))];
  const table = tableOf('some', [['rank', null, 'key', [0]]]);
  const page = await open(pageOfTable('odd', table, { diagnostics }), { at: '#quality' });
  const titles = await page.locator('#remarks h3').allTextContents();
  assert.deepEqual(titles, ['truncated-file 7 × in 2 files', 'no-operator 36 × in 8 files']);
  assert.match(await page.locator('#remarks li').nth(1).textContent(), /rank-0\.json: first 0/);
  await page.done();
});

test('dots of the roofline have names, and a list beside them', async () => {
  const page = await open(demo(), { at: '#roofline' });
  const list = page.locator('#roofline .roof-list li');
  assert.ok((await list.count()) > 3);
  const first = await list.first().getByRole('button').getAttribute('title');
  assert.ok((await page.locator('#roofline .point-label').allTextContents()).includes(`1 ${first}`));
  await list.first().hover();
  assert.equal(await page.locator('#roofline circle.near').count(), 1);
  assert.match(await page.locator('#roofline .tip').textContent(), new RegExp(first.replace(/[()]/g, '\\$&')));
  await page.done();
});

// ---- Keys, screens, readers ----

test('the page is used with keys alone', async () => {
  const page = await open(demo());
  const focused = () => page.evaluate(() => document.activeElement?.id ?? '');
  await page.keyboard.press('3');
  assert.equal(await shownPane(page), 'pane-time');
  await page.locator('#tab-time').focus();
  await page.keyboard.press('ArrowRight');
  assert.equal(await shownPane(page), 'pane-operators');
  assert.equal(await focused(), 'tab-operators');
  await page.keyboard.press('End');
  assert.equal(await focused(), 'tab-quality');
  await page.keyboard.press('Home');
  assert.equal(await shownPane(page), 'pane-overview');
  assert.equal(await page.locator('[role="tab"][tabindex="0"]').count(), 1);
  await page.keyboard.press('5');
  await page.keyboard.press('/');
  assert.equal(await focused(), 'filter-text');
  await page.keyboard.type('nccl 5'); // digits are text here
  assert.equal(await shownPane(page), 'pane-kernels');
  await page.keyboard.press('Backspace');
  await page.keyboard.press('Backspace');
  const rows = page.locator('#kernels details[data-table="kernels"] tbody tr:not(.spacer)');
  assert.equal(await atLast(() => rows.count(), (count) => count === 1), 1);
  await rows.first().focus();
  await page.keyboard.press('Enter');
  assert.match(await page.locator('#kernels .details').textContent(), /ncclDev/);
  await page.keyboard.press('?');
  const help = page.getByRole('dialog', { name: 'Keys' });
  await help.waitFor();
  await page.keyboard.press('Escape');
  await help.waitFor({ state: 'detached' });
  assert.deepEqual(page.faults, []);
  await page.done();
});

for (const scheme of ['light', 'dark']) {
  for (const width of [1280, 420]) {
    test(`${width} px, ${scheme}: every pane is clean for axe-core, and nothing scrolls sideways but tables`, async () => {
      const page = await open(demo(), { width, scheme });
      for (const pane of paneNames(demo())) {
        await page.show(`#${pane}`);
        assert.equal(await shownPane(page), `pane-${pane}`);
        assert.equal(await overflow(page), 0, pane);
        const sideways = await page.locator('.pane:not([hidden]) *, header *, .bar *').evaluateAll((all) => all
          .filter((one) => one.scrollWidth > one.clientWidth + 1 && /auto|scroll/.test(getComputedStyle(one).overflowX) && !one.matches('.scroller'))
          .map((one) => one.className));
        assert.deepEqual(sideways, [], pane);
        if ((width === 1280) === (scheme === 'light')) {
          assert.deepEqual(await accessibilityFaults(page), [], pane);
        }
      }
      await page.done();
    });
  }
}

test('on a small screen names and times come first', async () => {
  const page = await open(demo(), { width: 420, at: '#kernels' });
  const headings = await page.locator('#kernels details[data-table="kernels"] th[data-column]').evaluateAll((all) => all.map((one) => [one.dataset.column, one.getBoundingClientRect().right]));
  assert.deepEqual(headings.slice(0, 3).map(([name]) => name), ['name', 'total_ns', 'share']);
  assert.ok(headings[1][1] <= 420, `${headings[1][1]}`);
  await page.done();
});

test('the tree of a screen reader has tabs, the panel that is shown, and its tables', async () => {
  const page = await open(demo(), { at: '#kernels' });
  assert.equal(await page.getByRole('tab').count(), paneNames(demo()).length);
  assert.deepEqual(await page.getByRole('tabpanel').evaluateAll((all) => all.map((one) => one.id)), ['pane-kernels']);
  assert.ok(await page.getByRole('tabpanel', { name: 'Kernels' }).getByRole('table').first().isVisible());
  assert.equal(await page.getByRole('heading', { level: 1 }).count(), 1);
  await page.done();
});

// ---- A task ----

test('which step is slowest, what stands still then, and what the host did: two clicks', async () => {
  const page = await open(demo());
  let clicks = 0;
  const click = async (locator) => {
    ++clicks;
    await locator.click();
  };
  const said = await page.locator('#overview svg.steps').getAttribute('aria-label');
  const slowest = Number(/the longest is step (\d+)/.exec(said)[1]);
  const { tables } = embedded(demo());
  const steps = tables.tables.find(({ name }) => name === 'steps');
  const column = (name) => steps.columns.find((one) => one.name === name).values;
  const length = (row) => column('busy_ns')[row] + column('waiting_ns')[row];
  const longest = column('step').reduce((best, step, row) => (step !== null && length(row) > length(best) ? row : best), 0);
  assert.equal(slowest, column('step')[longest]);
  await click(page.locator('#overview').getByRole('link', { name: /^idle/ }));
  assert.equal(await shownPane(page), 'pane-time');
  assert.ok((await page.locator('#idle details[data-table="late_host"]').count()) > 0);
  await click(page.locator('#pane-time nav').getByRole('link', { name: 'Gaps' }));
  await openTables(page);
  assert.ok((await page.locator('#gaps details[data-table="gap_neighbours"] tbody tr').count()) > 0);
  assert.equal(clicks, 2);
  await page.done();
});
