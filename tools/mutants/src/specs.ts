/** Has a named test judge a mutant. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { environmentOf } from './given-mutant.ts';
import { escaped, type Change } from './mutant.ts';
import { lastLine, runNode } from './run.ts';
import { killed, noVerdict, survived, type Verdict } from './verdict.ts';

const VITEST = 'node_modules/vitest/vitest.mjs';
const CONFIG = join(import.meta.dirname, 'vitest.config.ts');

/** What is used of vitest's JSON report. */
interface Report {
  readonly testResults: readonly { readonly assertionResults: readonly Assertion[] }[];
}

interface Assertion {
  readonly fullName: string;
  readonly status: string;
  readonly failureMessages?: readonly string[];
}

export async function judgeBySpec(mutant: Change, spec: string, test: string): Promise<Verdict> {
  const folder = mkdtempSync(join(tmpdir(), 'reroll-mutant-'));
  const file = join(folder, 'report.json');
  const only = ['--project', suiteOf(spec), spec, '-t', escaped(test)];
  const reports = ['--reporter=json', `--outputFile=${file}`];
  const args = [VITEST, 'run', '--config', CONFIG, ...only, ...reports];
  const { output } = await runNode(args, environmentOf(mutant));
  const report = readReport(file);
  rmSync(folder, { recursive: true });
  return report ? verdictOf(report, test) : noVerdict(lastLine(output));
}

/** The suite to which the specs of a folder belong. */
function suiteOf(spec: string): string {
  const [, suite = ''] = /^(?:apps|libs)\/(\w+)\//u.exec(spec) ?? [];
  if (suite === 'shared') return 'platform';
  return suite === 'kube' || suite === 'redis' ? 'adapters' : suite;
}

function readReport(file: string): Report | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Report;
  } catch {
    return undefined;
  }
}

function verdictOf({ testResults }: Report, test: string): Verdict {
  const named = testResults
    .flatMap(({ assertionResults }) => assertionResults)
    .filter(
      ({ fullName, status }) => fullName.includes(test) && status !== 'skipped' && status !== 'pending',
    );
  if (named.length === 0) return noVerdict(`no test ran whose name has ${JSON.stringify(test)}`);
  const failed = named.find(({ status }) => status === 'failed');
  if (!failed) return survived(`the test ${JSON.stringify(test)}`);
  const [why = ''] = failed.failureMessages ?? [];
  // Then it is not even a program.
  if (/^(?:Reference|Syntax)Error/u.test(why)) return noVerdict(why);
  return killed(`${JSON.stringify(test)}: ${why.split('\n', 1)[0] ?? ''}`);
}
