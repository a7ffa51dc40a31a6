// What draws many boxes fastest in Chromium: rectangles one by one, paths, one line of pixels for each
// line of boxes (what the timeline does), a whole picture of pixels, WebGL. Prints the median and the
// 95th percentile of the times between frames, and the time in script.
//   node bench/timeline_drawing.mjs BUILD/web/node_modules [/usr/bin/chromium]
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';

const [packages, executablePath = '/usr/bin/chromium'] = process.argv.slice(2);
const BOXES = [20, 1_200]; // in each line
const LINES = 50;
const FRAMES = 60;

const { chromium } = createRequire(join(resolve(packages), 'x.js'))('playwright-core');
for (const boxes of BOXES) {
  for (const way of ['rectangles', 'paths', 'strips', 'pixels', 'WebGL']) {
    const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-dev-shm-usage'] });
    const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
    await page.addScriptTag({ path: join(import.meta.dirname, 'timeline_drawing_page.js') });
    const found = await page.evaluate(([...asked]) => globalThis.measure(...asked), [way, boxes, LINES, FRAMES])
      .catch((error) => `failed: ${error.message.split('\n')[0]}`);
    console.log(`${(boxes * LINES).toLocaleString('en')} boxes, ${way}: ${found}`);
    await browser.close();
  }
}
