import { expect, it } from 'vitest';
import { runCli } from '../testing/run-cli.ts';
import { problem, stubAdmin } from '../testing/stub-admin.ts';

const REASON = ['--reason', 'r'];

it.each([
  [['workloads', 'deploy/web'], 'deployment/web in the namespace shop'],
  [['sources', 'secret/db'], 'secret/db in the namespace shop'],
  [['why', 'deploy/web'], 'deployment/web in the namespace shop'],
  [['why-not', 'deploy/web', '--source', 'cm/x'], 'deployment/web in the namespace shop'],
  [['reload', 'deploy/web', ...REASON], 'deployment/web in the namespace shop'],
  [['change', '1763737200123-0'], '1763737200123-0'],
  [['retry', 'reloads:7', ...REASON], 'reloads:7'],
])('what the admin does not find is named: %j', async (words, subject) => {
  const { url } = await stubAdmin(() => problem(404, 'NotFound'));
  const { code, err } = await runCli([...words, '-n', 'shop', '--server', url]);
  expect([code, err]).toEqual([1, `error: ${subject}: title of NotFound\n`]);
});

it('a list is not', async () => {
  const { url } = await stubAdmin(() => problem(404, 'NotFound'));
  const { err } = await runCli(['changes', '-n', 'shop', '--server', url]);
  expect(err).toBe('error: title of NotFound\n');
});
