import { execFileSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { status, workloadSummary } from '../testing/answers.ts';
import { runCli } from '../testing/run-cli.ts';
import { stubAdmin } from '../testing/stub-admin.ts';
import { SCRIPTS } from './scripts.ts';

const SOURCE = {
  kind: 'Secret',
  namespace: 'shop',
  name: 'db',
  exists: true,
  hash: null,
  workloads: 1,
  changedAt: null,
};
const admin = await stubAdmin(({ path }) => {
  const page = (items: readonly unknown[]) => ({ body: { items, next: null } });
  if (path === '/api/v1/status') return { body: status() };
  if (path === '/api/v1/workloads') {
    return page([workloadSummary(), workloadSummary({ name: 'web-2' })]);
  }
  if (path === '/api/v1/sources') return page([SOURCE]);
  return undefined;
});
const ENV = { REROLL_SERVER: admin.url };

const folder = mkdtempSync(join(tmpdir(), 'reroll-cli-complete-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function completed(...words: readonly string[]): Promise<string[]> {
  const { out, err, code } = await runCli(['__complete', ...words], { env: ENV });
  expect([err, code]).toEqual(['', 0]);
  return out.trimEnd().split('\n');
}

describe('what a word could be', () => {
  it.each([
    [['wh'], ['why', 'why-not', ':4']],
    [
      ['-n', 'shop', 'res'],
      ['resume', ':4'],
    ],
    [
      ['reload', '--t'],
      ['--timeout', '--token', ':4'],
    ],
    [
      ['changes', '-o', ''],
      ['json', 'yaml', 'wide', 'name', ':4'],
    ],
    [
      ['changes', '--state', 'st'],
      ['stuck', ':4'],
    ],
    [
      ['pause', 're'],
      ['reloads', 'resumes', ':4'],
    ],
    [
      ['bulk', 're'],
      ['reload', 'retry', ':4'],
    ],
    [
      ['completion', 'z'],
      ['zsh', ':4'],
    ],
    [
      ['preview', 's'],
      ['secret/', 'spc/', 'sts/', ':6'],
    ],
    [
      ['wait', 'c'],
      ['cm/', ':6'],
    ],
    [
      ['why-not', 'deploy/web', '--source', 'c'],
      ['cm/', ':6'],
    ],
    [
      ['why', 'deploy/'],
      ['deploy/web', 'deploy/web-2', ':4'],
    ],
    [
      ['why', 'deployment.apps/web-'],
      ['deployment.apps/web-2', ':4'],
    ],
    [
      ['freeze', 'deploy/web-'],
      ['deploy/web-2', ':4'],
    ],
    [
      ['unfreeze', 'deploy/web-'],
      ['deploy/web-2', ':4'],
    ],
    [
      ['approve', 'deploy/web-'],
      ['deploy/web-2', ':4'],
    ],
    [
      ['resume', ''],
      ['changes', 'reloads', 'resumes', 'notifications', 'cm/', 'secret/', 'spc/', ':6'],
    ],
    [
      ['resume', 'secret/'],
      ['secret/db', ':4'],
    ],
    [['why', 'pod/'], [':4']],
    [['change', ''], [':4']],
    [['--context', ''], [':4']],
    [['nothing', 'x'], [':4']],
  ])('%j', async (words, expected) => {
    expect(await completed(...words)).toEqual(expected);
  });

  it('asks for the namespace that was given', async () => {
    await completed('why', 'deploy/', '-n', 'x', '');
    await completed('-n', 'other', 'why', 'deploy/');
    expect(admin.requests.at(-1)?.query.get('namespace')).toBe('other');
  });

  it('lists contexts of the kubeconfig, and gives a shell nothing that it would have to quote', async () => {
    const kubeconfig = join(folder, 'kubeconfig');
    const names = ['arn:aws:eks:eu-1:1:cluster/a', 'two words', '$(touch x)', 'b@c'];
    const contexts = names.map((name) => ({ name, context: { cluster: 'c', user: 'u' } }));
    writeFileSync(kubeconfig, stringify({ contexts }));
    const { out } = await runCli(['__complete', '--context', ''], { env: { KUBECONFIG: kubeconfig } });
    expect(out).toBe('arn:aws:eks:eu-1:1:cluster/a\nb@c\n:4\n');
  });

  it('finds nothing and says nothing if nobody answers', async () => {
    const { out, err, code } = await runCli(['__complete', 'why', 'deploy/'], {
      env: { REROLL_SERVER: 'http://127.0.0.1:1' },
    });
    expect([out, err, code]).toEqual([':4\n', '', 0]);
  });
});

describe('the script of bash, run by bash', () => {
  const program = join(folder, 'reroll');
  const main = join(import.meta.dirname, '../../dist/main.js');
  writeFileSync(program, `#!/bin/sh\nexec ${process.execPath} ${main} "$@"\n`);
  chmodSync(program, 0o755);
  writeFileSync(join(folder, 'completion'), SCRIPTS.bash);

  /** The completions for these words, of which the last is incomplete. */
  function replies(...words: readonly string[]): string[] {
    const script = `source ${join(folder, 'completion')}
compopt() { :; }
COMP_WORDS=("$@") COMP_CWORD=$(( $# - 1 ))
_reroll
printf '%s\\n' "\${COMPREPLY[@]}"`;
    const env = { PATH: `${folder}:${process.env['PATH']}`, HOME: folder };
    const out = execFileSync('bash', ['--norc', '-c', script, 'bash', ...words], { env, encoding: 'utf8' });
    return out.trim().split('\n');
  }

  it.each([
    [
      ['reroll', 'wh'],
      ['why', 'why-not'],
    ],
    [['reroll', '-n', 'shop', 'preview', 'sec'], ['secret/']],
    [
      ['reroll', 'changes', '--cause', ''],
      ['updated', 'created', 'deleted', 'missed', 'repeated', 'manual'],
    ],
  ])('%j', (words, expected) => {
    expect(replies(...words)).toEqual(expected);
  });

  it('bash knows the function for reroll', () => {
    const out = execFileSync(
      'bash',
      ['--norc', '-c', `source ${join(folder, 'completion')}; complete -p reroll`],
      { encoding: 'utf8' },
    );
    expect(out).toBe('complete -F _reroll reroll\n');
  });
});
