// Counters of another run on the page: measured points beside modelled ones, and what limits a kernel.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';

import { accessibilityFaults, composed, embedded, open, overflow, report, samples, settledBox, start, stop } from './browser.mjs';

before(start);
after(stop);

const KERNEL = 'void gemm_kernel<float, 128>(Params)';

/** A page of a matrix product and a copy: by the model, and as counters measured them. */
function page(name, { measured = true, hostile = 'aten::mm' } = {}) {
  const column = (label, unit, role, values) => ({ name: label, type: values.some((one) => typeof one === 'string') ? 'string' : Number.isInteger(values.find((one) => one !== null)) ? 'int' : 'float', unit, role, doc: '', values });
  const roofline = { name: 'roofline', title: 'Operators against the peaks', columns: [
    column('op', null, 'key', [hostile, 'aten::copy_']), column('count', 'count', 'sum', [4, 9]), column('total_ns', 'ns', 'sum', [4_000_000, 1_000_000]),
    column('roof_share', 'share', 'derived', [0.5, 0.4]), column('bound', null, 'derived', ['compute', 'memory']), column('tflops', null, 'derived', [200.5, 0.5]), column('intensity', null, 'derived', [100.5, 0.25]),
  ] };
  const roofs = { name: 'roofs', title: 'Peaks', columns: [column('device', null, 'key', ['Example GPU']), column('bf16_tflops', null, 'derived', [900.5]), column('memory_gbps', 'GB/s', 'derived', [3000.5])] };
  const ops = { name: 'counter_ops', title: 'Operators as measured', columns: [
    column('rank', null, 'key', [0, 0]), column('op', null, 'key', [hostile, 'aten::add']), column('total_ns', 'ns', 'derived', [4_000_000, 500_000]),
    column('matrix_flops', 'flops', 'derived', [1_000_000, null]), column('tensor_flops', 'flops', 'derived', [1_000_000, null]), column('flops_ratio', null, 'derived', [1.0001, null]),
    column('model_read', 'bytes', 'derived', [1_000_000, 500_000]), column('dram_read', 'bytes', 'derived', [2_200_000, null]), column('read_ratio', null, 'derived', [2.2001, null]),
    column('model_written', 'bytes', 'derived', [400_000, 200_000]), column('dram_written', 'bytes', 'derived', [100_000, null]),
    column('tflops', null, 'derived', [200.5, 1.5]), column('intensity', null, 'derived', [50.25, 0.75]), column('flops_verdict', null, 'derived', ['equal', null]), column('bytes_verdict', null, 'derived', ['more traffic', null]),
  ] };
  const light = { name: 'speed_of_light', title: 'Kernels against the peaks, as measured', columns: [
    column('rank', null, 'key', [0, 0]), column('kernel', null, 'key', [KERNEL, KERNEL]), column('grid', null, 'key', ['1, 2, 3', '11, 2, 3']), column('op', null, 'derived', [hostile, hostile]),
    column('total_ns', 'ns', 'derived', [1_000_000, 3_000_000]), column('compute', 'share', 'derived', [0.731, 0.455]), column('memory', 'share', 'derived', [0.301, 0.482]), column('dram', 'share', 'derived', [0.101, 0.111]),
    column('occupancy', 'share', 'derived', [0.507, 0.507]), column('occupancy_max', 'share', 'derived', [0.625, 0.625]), column('occupancy_limit', null, 'derived', ['registers', 'registers']),
    column('waves', null, 'derived', [3.5, 0.5]), column('limiter', null, 'derived', ['compute', 'small grid']), column('inner', null, 'derived', ['sm__issue_active', 'l1tex']), column('beyond_ns', 'ns', 'derived', [269_000, 1_554_000]),
  ] };
  const kernels = { name: 'kernels', title: 'Kernels', columns: [column('name', null, 'key', [KERNEL, 'other']), column('count', 'count', 'sum', [2, 3]), column('total_ns', 'ns', 'sum', [4_000_000, 20])] };
  const first = measured ? [roofline, roofs, ops, light] : [roofline, roofs];
  const tables = [...first, kernels];
  const view = { table: 'roofline', kind: 'roofline', title: 'Operators under the roofs', labels: ['op'], values: ['intensity', 'tflops'], x: '' };
  const section = (of, from, count, views) => ({ name: of, summary: of, pane: of, first_table: from, tables: count, lack: '', other_lack: '', views });
  return composed(name, { borescope: '0', schema: 2, tables, diagnostics: [] }, {
    title: 'counted', against: '', all_rows: tables.map((table) => table.columns[0].values.length), comparisons: tables.map(() => 'none'),
    panes: [{ name: 'roofline', title: 'Roofline' }, { name: 'kernels', title: 'Kernels' }, { name: 'quality', title: 'Data quality' }],
    sections: [section('roofline', 0, first.length, [view]), section('kernels', first.length, 1, [])],
  });
}

test('measured points are beside modelled ones, joined to their operator, with a legend', async () => {
  for (const scheme of ['light', 'dark']) {
    const shown = await open(page(`roofline_${scheme}`), { at: '#roofline', scheme });
    const plot = shown.locator('figure[data-kind="roofline"]');
    await settledBox(plot.locator('svg'));
    assert.equal(await plot.locator('circle.point').count(), 2);
    assert.equal(await plot.locator('path.point.measured').count(), 2); // aten::add has no model, and is measured
    assert.equal(await plot.locator('line.way.measured').count(), 1);
    assert.match(await plot.locator('.legend.points').textContent(), /by the model.*as counters measured it/s);
    // Half the intensity and the same rate: to the left of its model, at its height.
    const [model, point] = await plot.evaluate((figure) => ['circle.point', 'path.point.measured'].map((one) => figure.querySelector(one).getBBox()).map(({ x, y, width, height }) => ({ x, y, width, height })));
    const middle = (box) => [box.x + box.width / 2, box.y + box.height / 2];
    assert.ok(middle(point)[0] < middle(model)[0] && Math.abs(middle(point)[1] - middle(model)[1]) < 1, JSON.stringify([middle(model), middle(point)]));
    const box = await plot.locator('svg').boundingBox();
    await shown.mouse.move(box.x + middle(point)[0], box.y + middle(point)[1]);
    assert.match(await plot.locator('.tip').textContent(), /aten::mm as counters measured it.*1\.00 times the FLOPs of the model · 2\.20 times the bytes read · equal · more traffic.*200\.5 TFLOP\/s at 50\.25/s);
    assert.deepEqual(await accessibilityFaults(shown), []);
    assert.deepEqual(shown.faults, []);
    await shown.done();
  }
});

test('without counters there is neither a point nor a word of them', async () => {
  const shown = await open(page('uncounted', { measured: false }), { at: '#roofline' });
  assert.equal(await shown.locator('.measured, .legend.points').count(), 0);
  await shown.show('#kernels');
  await shown.locator('#kernels tbody tr:not(.spacer)').first().click();
  assert.equal(await shown.locator('.limits').count(), 0);
  await shown.done();
});

test('the details of a kernel say what limits it, and what its operator did against its model', async () => {
  const shown = await open(page('limits'), { at: '#kernels' });
  await shown.locator('#kernels tbody tr:not(.spacer)').first().click();
  const words = await shown.locator('#kernels .limits').textContent();
  assert.match(words, /of 2 sizes that with most time, grid 11, 2, 3/);
  assert.match(words, /its grid is small: less than one wave of blocks/);
  assert.match(words, /compute 45\.5\s%, memory 48\.2\s%, device memory 11\.1\s%/);
  assert.match(words, /50\.7\s% of 62\.5\s% at most, by registers/);
  assert.match(words, /1\.000\sMFLOP measured, 1\.000\sMFLOP by the model: × 1\.00/);
  assert.match(words, /2\.200\sMB measured, 1\.000\sMB by the model: × 2\.20/);
  assert.match(words, /equal; more traffic/);
  // Of one size alone, where the row has it.
  await shown.show('#roofline');
  await shown.locator('details[data-table="speed_of_light"] tbody tr:not(.spacer)').first().click();
  assert.match(await shown.locator('#roofline .limits').textContent(), /limitercompute.*3\.50/s);
  // Of others nothing was measured.
  await shown.show('#kernels');
  await shown.locator('#kernels tbody tr:not(.spacer)').nth(1).click();
  assert.equal(await shown.locator('#kernels .limits').count(), 0);
  assert.deepEqual(shown.faults, []);
  await shown.done();
});

test('names of operators stay text', async () => {
  for (const [i, hostile] of ['<img src=x onerror=alert(1)>', '</script><script>alert(2)</script>'].entries()) {
    const shown = await open(page(`hostile_${i}`, { hostile }), { at: '#kernels' });
    await shown.locator('#kernels tbody tr:not(.spacer)').first().click();
    await shown.show('#roofline');
    assert.deepEqual(shown.faults, []);
    assert.equal(await shown.locator('img').count(), 0);
    assert.equal(await overflow(shown), 0);
    await shown.done();
  }
});

const NCU = join(samples, 'data/h100/ncu');
test('a recorded pair: every measured operator of the table is a point', { skip: !existsSync(join(NCU, 'ops_ncu.ncu-rep.gz')) }, async () => {
  const path = report('pair', join(NCU, 'ops.pt.trace.json.gz'), '--counters', join(NCU, 'ops_ncu.ncu-rep.gz'));
  const { tables } = embedded(path);
  const ops = tables.tables.find((table) => table.name === 'counter_ops');
  const cells = (name) => ops.columns.find((one) => one.name === name).values;
  const wanted = cells('op').filter((_, row) => cells('intensity')[row] > 0 && cells('tflops')[row] > 0).length;
  assert.ok(wanted > 5);
  const shown = await open(path, { at: '#roofline' });
  const plot = shown.locator('#roofline figure[data-kind="roofline"]');
  await settledBox(plot.locator('svg'));
  const drawn = await plot.locator('path.point.measured').count();
  const left = Number(/(\d+) of \d+ points lie/.exec(await plot.textContent())?.[1] ?? 0);
  assert.ok(drawn > 5 && drawn <= wanted && drawn >= wanted - left, `${drawn} of ${wanted}, ${left} left out`);
  // The kernel with most time, on the timeline, too.
  await shown.show('#kernels');
  await shown.locator('#kernels details[data-table="kernels"] tbody tr:not(.spacer)').first().click();
  // This report has no percentages of the peaks: its FLOPs and bytes are there.
  assert.match(await shown.locator('#kernels .limits').textContent(), /What its operator did.*FLOPs of aten::mm ?not measured.*read from device memory.*measured, .* by the model: × \d.*SpeedOfLight/s);
  assert.deepEqual(shown.faults, []);
  await shown.done();
});
