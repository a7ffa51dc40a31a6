// Bundles src/ into one page and writes it to the --out folder, twice: template.html, and
// report_template.cc with ReportTemplate() of output/html/html.h. Packages are taken from the folder
// --packages, so that nothing is installed into the source tree.
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const here = dirname(fileURLToPath(import.meta.url));
const { values: options } = parseArgs({
  options: { packages: { type: 'string' }, out: { type: 'string' } },
});
const packages = resolve(options.packages ?? join(here, 'node_modules'));
const out = resolve(options.out ?? join(here, 'dist'));
const esbuild = createRequire(join(packages, 'x.js'))('esbuild');

// Longest raw string literal that every compiler takes.
const PIECE = 15000;
const DELIMITER = 'borescope_page';

function bundle(entry) {
  const result = esbuild.buildSync({
    entryPoints: [join(here, 'src', entry)],
    bundle: true,
    minify: true,
    write: false,
    format: 'iife',
    target: 'es2020',
    charset: 'ascii',
    legalComments: 'none',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    nodePaths: [packages],
    tsconfigRaw: { compilerOptions: { jsx: 'react-jsx', jsxImportSource: 'preact' } },
  });
  return result.outputFiles[0].text.trim();
}

const hash = (text) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

function licences() {
  const licenceOf = (library) => {
    const { name, version, license } = JSON.parse(readFileSync(join(packages, library, 'package.json'), 'utf8'));
    return `${name} ${version} (${license})`;
  };
  return ['preact', 'fflate'].map(licenceOf).join(', ');
}

function page(script, style) {
  const policy = [
    "default-src 'none'",
    `script-src ${hash(script)}`,
    `style-src ${hash(style)}`,
    'img-src data:',
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ');
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="generator" content="Borescope, with ${licences()}">
<title>@@borescope-title@@ \u00b7 Borescope</title>
<style>${style}</style>
</head>
<body>
<div id="page"><noscript>This page draws its tables with a script that it contains. Without
scripts, ask <code>borescope</code> for text: <code>borescope summary INPUT</code>.</noscript></div>
<script type="application/json" id="borescope-tables">@@borescope-tables@@</script>
<script type="application/json" id="borescope-layout">@@borescope-layout@@</script>
<script type="application/json" id="borescope-timeline">@@borescope-timeline@@</script>
<script>${script}</script>
</body>
</html>
`;
}

function source(html) {
  const pieces = [];
  for (let at = 0; at < html.length; at += PIECE) {
    pieces.push(`R"${DELIMITER}(${html.slice(at, at + PIECE)})${DELIMITER}"`);
  }
  return `// Made by web/build.mjs.
#include "borescope/output/html/html.h"

namespace borescope::internal {

std::string_view ReportTemplate() {
  static constexpr char kTemplate[] =
${pieces.join('\n')};
  return {kTemplate, sizeof(kTemplate) - 1};  // so that its length is not computed at run time
}

}  // namespace borescope::internal
`;
}

const script = bundle('main.tsx');
const style = bundle('all.css');
for (const [text, end] of [[script, '</script'], [style, '</style']]) {
  if (text.toLowerCase().includes(end) || text.includes('<!--') || text.includes('@@')) {
    throw new Error(`the bundle contains ${end}, <!-- or @@`);
  }
}
const html = page(script, style);
mkdirSync(out, { recursive: true });
writeFileSync(join(out, 'template.html'), html);
writeFileSync(join(out, 'report_template.cc'), source(html));
