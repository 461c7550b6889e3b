import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Package } from './packages.ts';

const FILE = /^(licen[cs]e|copying|notice|authors)/i;
const CODE = /\.(js|ts|json)$/;

/** What their authors want to come with their code: a section a package. */
export function licenses(packages: readonly Package[]): string {
  const sections = packages.map(
    (each) => `${each.name} ${each.version}\nLicense: ${each.license}\n\n${textOf(each)}`,
  );
  return `${sections.map((section) => section.trim()).join(`\n\n${'-'.repeat(78)}\n\n`)}\n`;
}

function textOf({ folder }: Package): string {
  const files = readdirSync(folder).filter((file) => FILE.test(file) && !CODE.test(file));
  return files
    .sort()
    .map((file) => readFileSync(join(folder, file), 'utf8').trim())
    .join('\n\n');
}
