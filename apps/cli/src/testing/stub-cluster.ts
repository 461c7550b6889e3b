import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { stringify } from 'yaml';
import { runCli, type Ran } from './run-cli.ts';
import { stubAdmin, type StubAnswer, type StubRequest } from './stub-admin.ts';

export const items = (...all: readonly unknown[]): StubAnswer => ({ body: { items: all } });
export const kubeError = (code: number, reason: string, message = reason): StubAnswer => ({
  status: code,
  body: { kind: 'Status', code, reason, message },
});

/** For use in a test. The program with the kubeconfig of an API server with these answers, by `GET /path`; e2e/admin/cli.spec.ts has a real one. */
export async function apiServer(
  answers: Readonly<Record<string, StubAnswer>>,
  user: unknown = { token: 'kube-token' },
  env: Readonly<Record<string, string>> = {},
): Promise<{
  readonly requests: readonly StubRequest[];
  /** Any command. */
  readonly run: (...words: readonly string[]) => Promise<Ran>;
  /** `status`. */
  readonly cli: (...flags: readonly string[]) => Promise<Ran>;
}> {
  const stub = await stubAdmin(
    ({ method, path }) => answers[`${method} ${path}`] ?? kubeError(404, 'NotFound'),
  );
  const folder = mkdtempSync(join(tmpdir(), 'reroll-cli-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const kubeconfig = join(folder, 'kubeconfig');
  const parts = {
    clusters: [{ name: 'c', cluster: { server: stub.url, 'insecure-skip-tls-verify': true } }],
    users: [{ name: 'u', user }],
    contexts: [{ name: 'x', context: { cluster: 'c', user: 'u', namespace: 'shop' } }],
  };
  writeFileSync(kubeconfig, stringify({ ...parts, 'current-context': 'x' }));
  const run = (...words: readonly string[]): Promise<Ran> =>
    runCli(words, { env: { KUBECONFIG: kubeconfig, ...env } });
  return { requests: stub.requests, run, cli: (...flags) => run('status', ...flags) };
}
