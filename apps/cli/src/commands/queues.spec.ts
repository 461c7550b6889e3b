import { describe, expect, it } from 'vitest';
import { runCli } from '../testing/run-cli.ts';
import { stubAdmin } from '../testing/stub-admin.ts';
import { apiServer } from '../testing/stub-cluster.ts';

describe.each([
  ['jobs', 'the jobs'],
  ['audit', 'the entries'],
])('%s, which the API lists for all namespaces', (command, noun) => {
  const page = { body: { items: [], next: null } };

  it.each([[['-n', 'ops']], [['--namespace', 'ops']]])('refuses %j', async (flags) => {
    const { url, requests } = await stubAdmin(() => page);
    const { code, out, err } = await runCli([command, ...flags, '--server', url]);
    expect([code, out, requests]).toEqual([2, '', []]);
    expect(err).toBe(`error: expected no --namespace: ${noun} of all namespaces are listed, given "ops"\n`);
  });

  it.each([[[]], [['-A']]])('takes %j, whatever the namespace of the context', async (flags) => {
    const { url, requests } = await stubAdmin(() => page);
    const { run } = await apiServer({});
    expect(await run(command, ...flags, '--server', url)).toMatchObject({ code: 0 });
    expect(requests.map(({ path, query }) => [path, query.has('namespace')])).toEqual([
      [`/api/v1/${command}`, false],
    ]);
  });
});
