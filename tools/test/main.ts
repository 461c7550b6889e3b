/**
 * `npm test`: builds, checks, and runs every suite; `npm test -- core e2e` runs only the suites named.
 * Each step prints its time. The last line is `N passed, N failed`, over all suites; a check that fails
 * counts as one failed test. Exit 1 if anything failed.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** In order: what is quick and says most comes first. */
const CHECKS: readonly (readonly [string, readonly string[]])[] = [
  ['build', ['nx', 'run-many', '-t', 'build', '--output-style=stream']],
  ['types', ['tsc', '--noEmit', '-p', 'tsconfig.json']],
  ['lint', ['oxlint', '--deny-warnings']],
  ['format', ['oxfmt', '--check']],
  ['generated docs', ['node', '--conditions=@reroll/source', 'tools/docs/generate.ts', '--check']],
];
const SUITES = [
  'core',
  'platform',
  'watcher',
  'worker',
  'admin',
  'cli',
  'dashboard',
  'tools',
  'adapters',
  'e2e',
  'install',
  'hostile',
  'faults',
] as const;

/** They make network namespaces and mounts; whoever is not root is root in a user namespace. */
const AS_ROOT: ReadonlySet<string> = new Set(['install']);
const ROOTLESS = join(import.meta.dirname, '../kubelet/rootless.sh');

interface Counts {
  passed: number;
  failed: number;
}

const total: Counts = { passed: 0, failed: 0 };

function run(command: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<number> {
  const [program = '', ...args] = command;
  return new Promise((resolve) => {
    const child = spawn(program, args, { stdio: 'inherit', env: { ...process.env, ...env } });
    child.once('error', () => resolve(1));
    child.once('exit', (code) => resolve(code ?? 1));
  });
}

async function timed(name: string, step: () => Promise<Counts>): Promise<void> {
  const began = Date.now();
  const counts = await step();
  total.passed += counts.passed;
  total.failed += counts.failed;
  console.log(
    `== ${name}: ${counts.passed} passed, ${counts.failed} failed, ${((Date.now() - began) / 1000).toFixed(1)} s`,
  );
}

async function check(command: readonly string[]): Promise<Counts> {
  const failed = (await run(command)) === 0 ? 0 : 1;
  return { passed: 1 - failed, failed };
}

async function suite(name: string, folder: string): Promise<Counts> {
  const file = join(folder, `${name}.json`);
  const isRootless = AS_ROOT.has(name) && process.getuid?.() !== 0;
  if (isRootless) console.log(`== ${name}: not root: in a user namespace (tools/kubelet/rootless.sh)`);
  const code = await run([
    ...(isRootless ? [ROOTLESS] : []),
    'vitest',
    'run',
    '--project',
    name,
    '--reporter=default',
    '--reporter=json',
    `--outputFile.json=${file}`,
  ]);
  const counts = readCounts(file);
  // Unhandled errors and leaked handles fail a run whose every test passed.
  if (code !== 0 && counts.failed === 0) counts.failed = 1;
  return counts;
}

function readCounts(file: string): Counts {
  try {
    const report = JSON.parse(readFileSync(file, 'utf8')) as {
      numPassedTests: number;
      numFailedTests: number;
      numFailedTestSuites: number;
    };
    return {
      passed: report.numPassedTests,
      failed: Math.max(report.numFailedTests, report.numFailedTestSuites > 0 ? 1 : 0),
    };
  } catch {
    console.error(`no report in ${file}: the suite did not run`);
    return { passed: 0, failed: 1 };
  }
}

async function main(asked: readonly string[]): Promise<void> {
  const unknown = asked.filter((name) => !SUITES.some((each) => each === name));
  if (unknown.length > 0) {
    console.error(`expected suites among ${SUITES.join(', ')}; given ${unknown.join(', ')}`);
    process.exitCode = 2;
    return;
  }
  const folder = mkdtempSync(join(tmpdir(), 'reroll-test-'));
  const checks = asked.length === 0 ? CHECKS : CHECKS.slice(0, 1);
  for (const [name, command] of checks) await timed(name, () => check(command));
  for (const name of asked.length === 0 ? SUITES : asked) await timed(name, () => suite(name, folder));
  rmSync(folder, { recursive: true, force: true });
  process.exitCode = total.failed > 0 ? 1 : 0;
  console.log(`${total.passed} passed, ${total.failed} failed`);
}

await main(process.argv.slice(2));
