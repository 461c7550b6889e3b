/**
 * Writes the generated pages of the documentation (./pages.ts).
 *
 * Usage: `node tools/docs/generate.ts [--check]`; with `--check` it writes nothing, names each page that is
 * not what would be written, and exits with 1 if there is one.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

import { PAGES, type Page } from './pages.ts';

const ROOT = join(import.meta.dirname, '../..');

const unknown = process.argv.slice(2).filter((option) => option !== '--check');
if (unknown.length > 0) {
  console.error(`expected --check or nothing, given ${unknown.join(' ')}`);
  process.exit(2);
}

const stale = PAGES.filter((page) => !isCurrent(page));
if (process.argv.includes('--check')) {
  for (const { path } of stale) console.error(`${path} is out of date: run \`node tools/docs/generate.ts\``);
  process.exitCode = stale.length === 0 ? 0 : 1;
} else {
  stale.forEach(write);
}

function isCurrent({ path, render }: Page): boolean {
  const file = join(ROOT, path);
  return existsSync(file) && readFileSync(file, 'utf8') === render();
}

function write({ path, render }: Page): void {
  const file = join(ROOT, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, render());
  console.log(`wrote ${path}`);
}
