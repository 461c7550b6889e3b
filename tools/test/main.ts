/**
 * `npm test`: builds, checks, and runs every suite, two at once; `npm test -- core e2e` runs only the suites named.
 * Each step prints its output and its time when it ends. What failed is named once more at the end. The last line is
 * `N passed, N failed`, over all suites; a check that fails counts as one failed test. Exit 1 if anything failed.
 */
import { spawn } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { isRootOfMachine } from '../cluster/src/node/root.ts';

const BUILD = ['nx', 'run-many', '-t', 'build', '--output-style=stream'];
const CHECKS: readonly (readonly [string, readonly string[]])[] = [
  ['types', ['tsc', '--noEmit', '-p', 'tsconfig.json']],
  ['lint', ['oxlint', '--deny-warnings']],
  ['format', ['oxfmt', '--check']],
  ['spelling', ['cspell', '--no-progress', '--no-summary']],
  ['generated docs', ['node', '--conditions=@reroll/source', 'tools/docs/generate.ts', '--check']],
];

/** In the order in which they begin: what takes longest first. */
const SUITES = [
  'e2e',
  'install',
  'image',
  'faults',
  'tools',
  'adapters',
  'core',
  'cli',
  'admin',
  'worker',
  'watcher',
  'standalone',
  'reroll',
  'platform',
  'dashboard',
  'hostile',
] as const;

/** With three on two cores, leaders cannot renew their Lease in time. Each has clusters of its own. */
const AT_ONCE = 2;

/** It measures how long changes take: nothing else may run beside it. */
const ALONE: ReadonlySet<string> = new Set(['hostile']);

/** They start a real node, or mount an image. A user namespace does not do for the first: it may not make cgroups. */
const AS_ROOT: ReadonlySet<string> = new Set(['install', 'image']);

interface Counts {
  passed: number;
  failed: number;
}

/** What is read of vitest's JSON report. */
interface Report {
  readonly numPassedTests: number;
  readonly numFailedTests: number;
  readonly numFailedTestSuites: number;
  readonly testResults: readonly {
    readonly name: string;
    readonly status: string;
    readonly message: string;
    readonly assertionResults: readonly {
      readonly fullName: string;
      readonly status: string;
      readonly failureMessages: readonly string[];
    }[];
  }[];
}

type Step = readonly [name: string, command: readonly string[]];

const total: Counts = { passed: 0, failed: 0 };

/** A line for each failed test or step. */
const failures: string[] = [];

/** The output goes to a file, so that steps at the same time do not mix theirs; without one, to the terminal. */
function run([program = '', ...args]: readonly string[], file?: string): Promise<number> {
  const out = file === undefined ? 'inherit' : openSync(file, 'w');
  return new Promise((resolve) => {
    const child = spawn(program, args, { stdio: ['inherit', out, out] });
    if (typeof out === 'number') closeSync(out);
    child.once('error', () => resolve(1));
    child.once('exit', (code) => resolve(code ?? 1));
  });
}

function suiteStep(name: string, folder: string): Step {
  const report = reportOf(name, folder);
  const vitest = ['vitest', 'run', '--project', name, '--reporter=default', '--reporter=json'];
  return [name, [...vitest, `--outputFile.json=${report}`]];
}

function canRun(name: string): boolean {
  if (!AS_ROOT.has(name) || isRootOfMachine()) return true;
  console.log(`== ${name}: not run: it needs root (CONTRIBUTING.md)`);
  return false;
}

function reportOf(name: string, folder: string): string {
  return join(folder, `${name}.json`);
}

/** One after the other, `lanes` at once; what each has to say comes when it ends. */
async function runSteps(steps: readonly Step[], folder: string, lanes = 1): Promise<void> {
  const waiting = [...steps];
  const isShown = lanes === 1 || steps.length === 1;
  const lane = async (): Promise<void> => {
    for (let step = waiting.shift(); step; step = waiting.shift()) await runStep(step, folder, isShown);
  };
  await Promise.all(Array.from({ length: lanes }, lane));
}

async function runStep([name, command]: Step, folder: string, isShown: boolean): Promise<void> {
  const began = Date.now();
  const output = isShown ? undefined : join(folder, `${name}.txt`);
  if (!isShown) console.log(`== ${name}: started`);
  const code = await run(command, output);
  if (output !== undefined) process.stdout.write(readFileSync(output));
  const isSuite = SUITES.some((each) => each === name);
  const counts = isSuite ? readCounts(reportOf(name, folder)) : { passed: 1, failed: 0 };
  if (code !== 0 && counts.failed === 0) {
    // Unhandled errors and leaked handles fail a suite whose every test passed.
    counts.failed = 1;
    if (!isSuite) counts.passed = 0;
    failures.push(`${name}: exit code ${code}`);
  }
  total.passed += counts.passed;
  total.failed += counts.failed;
  const seconds = ((Date.now() - began) / 1000).toFixed(1);
  console.log(`== ${name}: ${counts.passed} passed, ${counts.failed} failed, ${seconds} s`);
}

function readCounts(file: string): Counts {
  try {
    const report = JSON.parse(readFileSync(file, 'utf8')) as Report;
    failures.push(...failuresIn(report));
    return {
      passed: report.numPassedTests,
      failed: Math.max(report.numFailedTests, report.numFailedTestSuites > 0 ? 1 : 0),
    };
  } catch {
    failures.push(`no report in ${file}: the suite did not run`);
    return { passed: 0, failed: 1 };
  }
}

function failuresIn({ testResults }: Report): string[] {
  return testResults.flatMap(({ name, status, message, assertionResults }) => {
    const tests = assertionResults.filter((test) => test.status === 'failed');
    const file = relative(process.cwd(), name);
    // A file that cannot be loaded, or whose hooks fail, has no failed test.
    if (tests.length === 0) return status === 'failed' ? [`${file}: ${firstLine(message)}`] : [];
    return tests.map(
      ({ fullName, failureMessages }) => `${file} > ${fullName}: ${firstLine(failureMessages[0])}`,
    );
  });
}

function firstLine(text = ''): string {
  return text.split('\n', 1).join('');
}

async function main(asked: readonly string[]): Promise<void> {
  const unknown = asked.filter((name) => !SUITES.some((each) => each === name));
  if (unknown.length > 0) {
    console.error(`expected suites among ${SUITES.join(', ')}; given ${unknown.join(', ')}`);
    process.exitCode = 2;
    return;
  }
  const folder = mkdtempSync(join(tmpdir(), 'reroll-test-'));
  const isAll = asked.length === 0;
  const suites = SUITES.filter((name) => (isAll || asked.includes(name)) && canRun(name));
  const steps = suites.map((name) => suiteStep(name, folder));
  await runSteps([['build', BUILD]], folder);
  const together = [...(isAll ? CHECKS : []), ...steps.filter(([name]) => !ALONE.has(name))];
  await runSteps(together, folder, AT_ONCE);
  await runSteps(
    steps.filter(([name]) => ALONE.has(name)),
    folder,
  );
  rmSync(folder, { recursive: true, force: true });
  process.exitCode = total.failed > 0 ? 1 : 0;
  for (const failure of failures) console.log(`failed: ${failure}`);
  console.log(`${total.passed} passed, ${total.failed} failed`);
}

await main(process.argv.slice(2));
