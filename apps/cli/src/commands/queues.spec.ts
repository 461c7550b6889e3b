import { describe, expect, it } from 'vitest';
import { runCli } from '../testing/run-cli.ts';
import { stubAdmin } from '../testing/stub-admin.ts';
import { apiServer } from '../testing/stub-cluster.ts';

describe.each([
  ['jobs', 'the jobs of all namespaces are listed'],
  ['audit', 'the entries of all namespaces are listed'],
  ['queues', 'the queues are those of the installation'],
])('%s, which the API lists for all namespaces', (command, why) => {
  const page = { body: { items: [], next: null } };

  it.each([[['-n', 'ops']], [['--namespace', 'ops']], [['-n', 'ops', '--service-account', 'reroll/bot']]])(
    'refuses %j',
    async (flags) => {
      const { url, requests } = await stubAdmin(() => page);
      const { code, out, err } = await runCli([command, ...flags, '--server', url]);
      expect([code, out, requests]).toEqual([2, '', []]);
      expect(err).toBe(`error: expected no --namespace: ${why}, given "ops"\n`);
    },
  );

  it.each<[readonly string[], Readonly<Record<string, string>>]>([
    [[], {}],
    [['-A'], {}],
    [['-n', 'ops', '--service-account', 'bot'], {}],
    [['-n', 'ops'], { REROLL_SERVICE_ACCOUNT: 'bot' }],
  ])('takes %j with %j, whatever the namespace of the context', async (flags, env) => {
    const { url, requests } = await stubAdmin(() => page);
    const token = { status: 201, body: { status: { token: 'ten-minutes' } } };
    const { run } = await apiServer(
      { 'POST /api/v1/namespaces/ops/serviceaccounts/bot/token': token },
      undefined,
      env,
    );
    expect(await run(command, ...flags, '--server', url)).toMatchObject({ code: 0 });
    expect(requests.map(({ path, query }) => [path, query.has('namespace')])).toEqual([
      [`/api/v1/${command}`, false],
    ]);
  });
});

it.each(['pause', 'resume'])('%s refuses a namespace, which a queue does not have', async (verb) => {
  const { url, requests } = await stubAdmin(() => ({ status: 500, body: {} }));
  const words = [verb, 'reloads', '--reason', 'r', '-n', 'ops', '--server', url];
  const { code, out, err } = await runCli(words);
  expect([code, out, requests]).toEqual([2, '', []]);
  expect(err).toBe('error: expected no --namespace: the queues are those of the installation, given "ops"\n');
});

it.each([
  [['--unresolved'], { unresolved: 'true' }],
  [['--unresolved', '--state', 'failed'], { unresolved: 'true', state: 'failed' }],
  [[], {}],
])('jobs %j asks for %j', async (flags, expected) => {
  const { url, requests } = await stubAdmin(() => ({ body: { items: [], next: null } }));
  expect(await runCli(['jobs', ...flags, '--server', url])).toMatchObject({ code: 0 });
  expect(requests.map(({ query }) => Object.fromEntries(query))).toEqual([{ ...expected, limit: '50' }]);
});
