/**
 * Writes the generated pages of the documentation (./pages.ts).
 *
 * Usage: `npm run -s docs [-- --check]`; with `--check` it writes nothing, names each page that is
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

const isCheck = process.argv.includes('--check');
for (const page of PAGES) {
  if (await isCurrent(page)) continue;
  if (isCheck) {
    console.error(`${page.path} is out of date: run \`npm run -s docs\``);
    process.exitCode = 1;
  } else {
    await write(page);
  }
}

async function isCurrent({ path, render }: Page): Promise<boolean> {
  const file = join(ROOT, path);
  return existsSync(file) && readFileSync(file, 'utf8') === (await render());
}

async function write({ path, render }: Page): Promise<void> {
  const file = join(ROOT, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, await render());
  console.log(`wrote ${path}`);
}
