// Labels of the page are those of the engine: both run the cases of tests/data/labels/cases.txt.
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';

const require = createRequire(join(process.env.BORESCOPE_PACKAGES, 'none.js'));
const { transformSync } = require('esbuild');
const here = import.meta.dirname;

async function load() {
  const folder = mkdtempSync(join(tmpdir(), 'borescope-labels-'));
  const file = join(folder, 'labels.mjs');
  writeFileSync(file, transformSync(readFileSync(join(here, '../src/labels.ts'), 'utf8'), { loader: 'ts' }).code);
  const module = await import(pathToFileURL(file));
  rmSync(folder, { recursive: true });
  return module;
}

const { labelNames } = await load();
const cells = () => 1;

function cases() {
  const text = readFileSync(join(here, '../../tests/data/labels/cases.txt'), 'utf8');
  return text.split('\n\n').filter((block) => block !== '').map((block) => {
    const lines = block.trim().split('\n');
    const of = (prefix) => lines.filter((line) => line.startsWith(prefix)).map((line) => line.slice(6));
    return { width: Number(of('width ')[0]), names: of('name  '), labels: of('label ') };
  });
}

test('labels are those of the engine', () => {
  const all = cases();
  assert.ok(all.length > 40);
  for (const { width, names, labels } of all) {
    const found = labelNames(names, width, cells);
    assert.deepEqual(names.map((name) => found.get(name)), labels, `width ${width}`);
  }
});

test('many hostile names take no long time, and differ', () => {
  const names = Array.from({ length: 5000 }, (_, i) => `${'a::b<'.repeat(60)}${i}${'>'.repeat(60)}`);
  names.push(`${'x'.repeat(1_000_000)}y`, `${'x'.repeat(1_000_000)}z`);
  const begin = process.cpuUsage();
  const labels = labelNames(names, 40, cells);
  assert.ok(process.cpuUsage(begin).user < 20e6); // of the processor, as others may run beside
  assert.equal(new Set(labels.values()).size, names.length);
  assert.ok([...labels.values()].every((label) => [...label].length <= 40));
});
