// Checks the types of src/ against the packages of a build folder, where a copy of it is made: the
// compiler looks for packages around the files.
//   node check_types.mjs BUILD/web       Exit status 77: the packages are not installed.
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';

const build = process.argv[2];
const compiler = join(build, 'node_modules/typescript/bin/tsc');
if (!existsSync(compiler)) {
  console.log('skipped: the packages of the page are not installed');
  process.exit(77);
}
rmSync(join(build, 'src'), { recursive: true, force: true });
cpSync(join(import.meta.dirname, 'src'), join(build, 'src'), { recursive: true });
cpSync(join(import.meta.dirname, 'tsconfig.json'), join(build, 'tsconfig.json'));
const { status } = spawnSync(process.execPath, [compiler, '--noEmit', '-p', build], { stdio: 'inherit' });
process.exit(status ?? 1);
