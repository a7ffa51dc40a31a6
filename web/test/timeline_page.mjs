// Pages with a timeline, made of the template and a document.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { composed, folder } from './browser.mjs';

const MARK = '@@borescope-timeline@@';
const LAYOUT = '<script type="application/json" id="borescope-layout">';

const PANES = [['overview', 'Overview'], ['timeline', 'Timeline'], ['sections', 'Sections'], ['quality', 'Data quality']]
  .map(([name, title]) => ({ name, title }));

/** A page of this timeline and a table. */
export function timelinePage(name, document) {
  const column = { name: 'name', type: 'string', unit: null, doc: '', values: ['a'] };
  const path = composed(name, { borescope: '0', schema: 2, tables: [{ name: 'few', title: 'Few rows', columns: [column] }], diagnostics: [] },
    { title: name, against: '', panes: PANES, all_rows: [1], comparisons: ['none'], sections: [{ name: 'few', pane: 'sections', summary: 'few rows', first_table: 0, tables: 1, lack: '', views: [] }] });
  const text = JSON.stringify(document).replaceAll('<', '\\u003c');
  const html = readFileSync(path, 'utf8');
  const element = `<script type="application/json" id="borescope-timeline">${MARK}</script>`;
  const marked = html.includes(MARK) ? html : html.replace(LAYOUT, () => `${element}\n${LAYOUT}`);
  writeFileSync(join(folder, `${name}.html`), marked.replace(MARK, () => text));
  return path;
}

/** Waits until the picture has come to rest, and what is said about it is drawn. */
export async function rest(page) {
  await page.waitForTimeout(100);
  await page.locator('.tl-area canvas[data-resting="true"]').waitFor();
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => setTimeout(done, 30))));
}
