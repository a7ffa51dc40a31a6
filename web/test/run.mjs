// Runs one file of tests of the page. Exit status 77: something that they need is not here.
//   node run.mjs NAME BORESCOPE BUILD/web SAMPLES
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';

const [name, borescope, build, samples] = process.argv.slice(2);
const NEEDS_NO_BROWSER = ['busy_strip', 'labels', 'timeline_model'];
const lacks = [
  [NEEDS_NO_BROWSER.includes(name) || ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].some(existsSync), 'chromium is not installed'],
  [existsSync(join(build, 'node_modules/playwright-core')), 'the packages of the page are not installed'],
  [NEEDS_NO_BROWSER.includes(name) || existsSync(join(build, 'template.html')), 'the page was not bundled'],
];
const lack = lacks.find(([there]) => !there);
if (lack !== undefined) {
  console.log(`skipped: ${lack[1]}`);
  process.exit(77);
}
const tests = join(import.meta.dirname, `${name}.test.mjs`);
const { status } = spawnSync(process.execPath, ['--test', '--test-reporter=spec', tests], {
  stdio: 'inherit',
  env: {
    ...process.env,
    BORESCOPE: borescope,
    BORESCOPE_PACKAGES: join(build, 'node_modules'),
    BORESCOPE_TEMPLATE: join(build, 'template.html'),
    BORESCOPE_SAMPLES: samples,
  },
});
process.exit(status ?? 1);
