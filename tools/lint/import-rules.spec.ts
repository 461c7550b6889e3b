import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');

interface Plant {
  /** Folder below the workspace in which the code is planted. */
  readonly folder: string;
  readonly code: string;
}

interface Diagnostic {
  readonly code: string;
  readonly message: string;
  readonly help?: string;
  readonly filename: string;
}

const CORE = 'libs/shared/src/core';
const PURE = 'core is pure: it imports its own files, node:crypto and re2js, nothing else';
const OURS = 'core imports nothing of ours';
const NEST = 'Nest appears only in apps';
const NO_APP = 'nobody imports an app';

/** From where, what is imported, and the words with which lint refuses it. */
const FORBIDDEN: readonly (readonly [folder: string, specifier: string, message: string])[] = [
  [CORE, 'node:fs', PURE],
  [CORE, 'node:process', PURE],
  [CORE, 'node:timers/promises', PURE],
  [CORE, '@kubernetes/client-node', PURE],
  [CORE, 'bullmq', PURE],
  [CORE, 'zod', PURE],
  [CORE, '@nestjs/common', PURE],
  [CORE, '../kube/connection.ts', OURS],
  [CORE, '../queue/jobs.ts', OURS],
  [CORE, '../catalog/catalog.ts', OURS],
  [CORE, '../platform/logging.ts', OURS],
  [`${CORE}/rules`, '../../kube/connection.ts', OURS],
  ['libs/shared/src/kube', '../queue/jobs.ts', 'kube imports core only'],
  ['libs/shared/src/kube', '../catalog/catalog.ts', 'kube imports core only'],
  ['libs/shared/src/kube/workloads', '../../platform/logging.ts', 'kube imports core only'],
  ['libs/shared/src/queue', '../kube/connection.ts', 'queue imports core only'],
  ['libs/shared/src/queue', '../catalog/catalog.ts', 'queue imports core only'],
  ['libs/shared/src/catalog', '../platform/logging.ts', 'catalog imports core only'],
  ['libs/shared/src/catalog', '../queue/jobs.ts', 'catalog imports core only'],
  ['libs/shared/src/platform', '../catalog/catalog.ts', 'platform imports core only'],
  ['libs/shared/src/platform/options', '../../kube/connection.ts', 'platform imports core only'],
  ['libs/shared/src/kube', '@nestjs/common', NEST],
  ['libs/shared/src/queue', '@nestjs/bullmq', NEST],
  ['libs/shared/src/catalog', '@nestjs/core', NEST],
  ['libs/shared/src/platform', '@nestjs/common', NEST],
  ['libs/shared/src/kube', '../../../../apps/worker/src/tokens.ts', NO_APP],
  ['apps/watcher/src', '../../worker/src/tokens.ts', NO_APP],
  ['apps/watcher/src', '@reroll/worker/tokens', NO_APP],
  ['apps/worker/src', '../../watcher/src/tokens.ts', NO_APP],
  ['apps/worker/src', '../../../apps/watcher/src/tokens.ts', NO_APP],
];

const ALLOWED: readonly (readonly [folder: string, specifier: string])[] = [
  [CORE, 'node:crypto'],
  [CORE, 're2js'],
  [CORE, './model.ts'],
  [`${CORE}/rules`, '../record/record.ts'],
  ['libs/shared/src/kube', '../core/model.ts'],
  ['libs/shared/src/kube', '@kubernetes/client-node'],
  ['libs/shared/src/queue', '../core/model.ts'],
  ['libs/shared/src/catalog', 'ioredis'],
  ['libs/shared/src/platform', '../core/reasons.ts'],
  ['apps/watcher/src', '@nestjs/common'],
  ['apps/worker/src', '@reroll/shared/queue/queues'],
];

const KUBE = 'libs/shared/src/kube';
const lines = (count: number, line: string): string => Array.from({ length: count }, () => line).join('\n');

/** What is wrong, where, and the rule that says so. */
const CEILINGS: Readonly<Record<string, Plant & { readonly rule: string }>> = {
  'a function of 60 lines': {
    folder: KUBE,
    code: `export function long(): void {\n${lines(58, '  console.log(1);')}\n}`,
    rule: 'eslint(max-lines-per-function)',
  },
  'a file of 401 lines': {
    folder: KUBE,
    code: `import 'undici';\n${lines(400, 'console.log(1);')}`,
    rule: 'eslint(max-lines)',
  },
  'four parameters': {
    folder: KUBE,
    code: 'export function add(a: number, b: number, c: number, d: number): number { return a + b + c + d; }',
    rule: 'eslint(max-params)',
  },
  'four levels of nesting': {
    folder: KUBE,
    code: 'export function deep(x: number): void { if (x > 1) { if (x > 2) { if (x > 3) { if (x > 4) { console.log(x); } } } } }',
    rule: 'eslint(max-depth)',
  },
  'a complexity of 11': {
    folder: KUBE,
    code: `export function pick(x: number): number {\n${[...Array(10).keys()].map((n) => `if (x === ${n}) return ${n + 1};`).join('\n')}\nreturn 0; }`,
    rule: 'eslint(complexity)',
  },
  any: {
    folder: KUBE,
    code: 'export function loose(x: any): string { return String(x); }',
    rule: 'typescript(no-explicit-any)',
  },
  'a non-null assertion': {
    folder: KUBE,
    code: 'export function sure(x: { y?: string }): string { return x.y!; }',
    rule: 'typescript(no-non-null-assertion)',
  },
  'a default export': { folder: KUBE, code: 'export default 1;', rule: 'import(no-default-export)' },
  'export *': { folder: KUBE, code: "export * from './model.ts';", rule: 'oxc(no-barrel-file)' },
  'a floating promise': {
    folder: KUBE,
    code: 'async function later(): Promise<void> {}\nexport function now(): void { later(); }',
    rule: 'typescript(no-floating-promises)',
  },
  'process.env outside the options': {
    folder: KUBE,
    code: "export const home = process.env['HOME'];",
    rule: 'node(no-process-env)',
  },
  'process.exit': {
    folder: 'apps/worker/src',
    code: 'export function end(): void { process.exit(1); }',
    rule: 'unicorn(no-process-exit)',
  },
};

const workspace = mkdtempSync(join(tmpdir(), 'reroll-lint-'));
const found = new Map<string, Diagnostic[]>();

/** One file a plant; its name is the case's. */
function plant(name: string, { folder, code }: Plant): void {
  const path = join(workspace, folder, fileOf(name));
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, `${code}\n`);
}

function fileOf(name: string): string {
  return `${name.replaceAll(/[^A-Za-z0-9]+/g, '-')}.ts`;
}

function importPlant(folder: string, specifier: string): Plant {
  return { folder, code: `import { thing } from '${specifier}';\nconsole.log(thing);` };
}

function diagnosticsOf(folder: string, name: string): Diagnostic[] {
  return found.get(join(folder, fileOf(name))) ?? [];
}

beforeAll(async () => {
  for (const file of ['.oxlintrc.json', 'tsconfig.json', 'tsconfig.base.json']) {
    cpSync(join(ROOT, file), join(workspace, file));
  }
  symlinkSync(join(ROOT, 'node_modules'), join(workspace, 'node_modules'));
  // Imported by plants: what does not exist would be an error of another kind.
  plant('model', { folder: KUBE, code: 'export const thing = 1;' });
  for (const [folder, specifier] of [...FORBIDDEN, ...ALLOWED])
    plant(specifier, importPlant(folder, specifier));
  for (const [name, each] of Object.entries(CEILINGS)) plant(name, each);
  const oxlint = join(ROOT, 'node_modules/.bin/oxlint');
  const args = ['--deny-warnings', '--format=json', 'libs', 'apps'];
  const { stdout } = await promisify(execFile)(oxlint, args, { cwd: workspace }).catch(
    (error: { stdout: string }) => error,
  );
  for (const diagnostic of (JSON.parse(stdout) as { diagnostics: Diagnostic[] }).diagnostics) {
    found.set(diagnostic.filename, [...(found.get(diagnostic.filename) ?? []), diagnostic]);
  }
}, 30_000);

afterAll(() => rmSync(workspace, { recursive: true, force: true }));

describe('lint refuses', () => {
  it.each(FORBIDDEN)('in %s an import of %s: %s', (folder, specifier, message) => {
    const texts = diagnosticsOf(folder, specifier).map(({ code, help }) => `${code} ${help ?? ''}`);
    expect(texts).toContain(`eslint(no-restricted-imports) ${message}`);
  });

  it.each(Object.entries(CEILINGS))('%s', (name, { folder, rule }) => {
    expect(diagnosticsOf(folder, name).map(({ code }) => code)).toContain(rule);
  });
});

describe('lint accepts', () => {
  it.each(ALLOWED)('in %s an import of %s', (folder, specifier) => {
    const codes = diagnosticsOf(folder, specifier).map(({ code }) => code);
    expect(codes).not.toContain('eslint(no-restricted-imports)');
  });
});
