import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, delimiter, join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { run } from '../../tools/cluster/src/run.ts';
import { TOKENS } from '../support/admin/admin-api.ts';
import { cleanUp } from '../support/cleanup.ts';
import { sharedCluster } from '../support/cluster.ts';
import { connect, namespace, type Space } from '../support/kube.ts';
import { auto, configMap, deployment, usingEnvFrom } from '../support/objects/builders.ts';
import { inStep, RolloutCount } from '../support/objects/rollouts.ts';
import { keyIn, startReroll, type Reroll } from '../support/reroll.ts';
import { EXAMPLES } from './support/example.ts';

/** The commands of the README, with the packages of its lockfile: types made of the document that a real admin serves. */
let space: Space;
let reroll: Reroll;

beforeAll(async () => {
  const cluster = sharedCluster();
  space = await namespace(connect(cluster));
  await space.apply(configMap('cm', { v: '1' }), deployment('web', auto(), usingEnvFrom('cm')));
  reroll = await startReroll({ cluster, namespaces: [space], admins: 1 });
  await inStep(space, 'Deployment/web', ['ConfigMap/cm']);
  await space.setData('ConfigMap/cm', { v: '2' });
  await inStep(space, 'Deployment/web', ['ConfigMap/cm']);
  await reroll.idle();
});

it('is generated, has the right types, shows what it would reload, and reloads it', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'reroll-e2e-client-'));
  cleanUp(() => rmSync(folder, { recursive: true, force: true }));
  cpSync(join(EXAMPLES, 'typescript-client'), folder, { recursive: true });
  const [admin] = reroll.admins;
  if (!admin) throw new Error('expected an admin');
  const env = {
    REROLL_URL: await admin.apiUrl(),
    REROLL_TOKEN: TOKENS.operator,
    // `node` is that of this process, which strips types.
    PATH: [dirname(process.execPath), process.env['PATH']].join(delimiter),
  };
  const shell = async (command: string): Promise<string> => {
    const { code, stdout, tail } = await run('sh', ['-c', command], { cwd: folder, env });
    expect(code, `${command}\n${tail}`).toBe(0);
    return stdout;
  };
  const readme = readFileSync(join(folder, 'README.md'), 'utf8');
  const commands = readme.split('```sh\n')[2]?.split('```')[0]?.trim().split('\n') ?? [];
  expect(commands).toHaveLength(5);
  const said = [];
  const count = await RolloutCount.from(space, 'Deployment/web');
  for (const command of commands) {
    said.push(await shell(command.replace('Secret/shop/db', keyIn(space, 'ConfigMap/cm'))));
    if (!command.includes('--do')) expect(await count.now(), command).toBe(0);
  }
  const web = keyIn(space, 'Deployment/web');
  expect(said[3]).toMatch(new RegExp(`updated: \\{.*\\}\n${web} planned$`));
  expect(said[4]).toContain(`${web} planned\n${web} done`);
  await reroll.idle();
  expect(await count.now()).toBe(1);
});
