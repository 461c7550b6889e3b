import { expect, it } from 'vitest';
import { workload } from '../testing/answers.ts';
import { runCli } from '../testing/run-cli.ts';
import { stubAdmin } from '../testing/stub-admin.ts';

it('preview --annotate asks for --direct if the admin does not know all annotations', async () => {
  const key = 'secret.reloader.stakater.com/reload';
  const excess = `${key}: expected a list of at most 1000 entries, given 1001`;
  const { url, requests } = await stubAdmin(({ path }) =>
    path.includes('/workloads/') ? { body: workload({ excess }) } : undefined,
  );
  const words = ['preview', 'deploy/web', '-n', 'shop', '--server', url, '--annotate', 'team=x'];
  const { code, err } = await runCli(words);
  expect([code, err]).toEqual([
    1,
    `error: the admin does not know all annotations of deployment/web in the namespace shop, which exceeds a limit: ${excess}\n` +
      '  --direct reads them with your own rights\n',
  ]);
  expect(requests.map(({ method }) => method)).not.toContain('POST');
});
