import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { ensureProgram } from '../../tools/cluster/src/build/build-program.ts';
import { run } from '../../tools/cluster/src/run.ts';
import { auto, configMap, deployment, usingEnvFrom } from '../support/objects/builders.ts';
import { cleanUp } from '../support/cleanup.ts';
import { sharedCluster } from '../support/cluster.ts';
import { connect, namespace } from '../support/kube.ts';
import { App } from '../support/processes.ts';
import { prepareReroll } from '../support/reroll.ts';
import { inStep } from '../support/objects/rollouts.ts';

const ROOT = join(import.meta.dirname, '../..');
const SETUP = join(ROOT, 'deploy/compose/setup.sh');

let kubeconfigs: string;
beforeAll(async () => {
  kubeconfigs = mkdtempSync(join(tmpdir(), 'reroll-compose-'));
  cleanUp(() => rmSync(kubeconfigs, { recursive: true, force: true }));
  const { kubeconfig } = sharedCluster();
  const server = /server: (\S+)/.exec(readFileSync(kubeconfig, 'utf8'))?.[1] ?? '';
  const kubectl = dirname(await ensureProgram('kubectl', { log: console.log }));
  const env = { KUBECONFIG: kubeconfig, PATH: `${kubectl}${delimiter}${process.env['PATH'] ?? ''}` };
  // A second time, as with each `docker compose up`.
  for (let time = 0; time < 2; time += 1) {
    const { code, tail } = await run('/bin/sh', [SETUP, kubeconfigs, server], { env });
    expect({ code, tail }).toEqual({ code: 0, tail });
  }
});

it('with what setup.sh of docker-compose.yml leaves behind, watcher and worker reload a workload, and admin starts', async () => {
  const cluster = sharedCluster();
  const space = await namespace(connect(cluster));
  const reroll = await prepareReroll({ cluster, namespaces: [space], install: 'reroll' });
  const start = (app: 'watcher' | 'worker' | 'admin', ...flags: readonly string[]): App => {
    const kubeconfig = join(kubeconfigs, app, 'kubeconfig.yaml');
    // These three are in its group there; nobody else reads it.
    expect(statSync(kubeconfig).mode & 0o777).toBe(0o440);
    expect(tokenDays(kubeconfig)).toBe(7);
    const main = join(ROOT, 'apps', app, 'dist/main.js');
    const scope = app === 'admin' ? [] : [`--namespaces=${space.name}`, '--debounce=0'];
    const args = [main, '--metrics-addr=127.0.0.1:0', ...scope, ...flags];
    const env = { KUBECONFIG: kubeconfig, ...reroll.redisEnv, POD_NAMESPACE: 'reroll' };
    return new App({ name: `${app}-1`, args, env });
  };
  reroll.watchers.push(start('watcher', '--adoptions-per-second=1000'));
  reroll.workers.push(start('worker'));
  reroll.admins.push(start('admin', '--api-addr=127.0.0.1:0'));
  await reroll.ready();
  await space.apply(configMap('cm', { v: '1' }), deployment('api', auto(), usingEnvFrom('cm')));
  await inStep(space, 'Deployment/api', ['ConfigMap/cm']);
  await space.setData('ConfigMap/cm', { v: '2' });
  await inStep(space, 'Deployment/api', ['ConfigMap/cm']);
});

/** How long the token in a kubeconfig is good for. */
function tokenDays(kubeconfig: string): number {
  const payload = /token: [^.]+\.([^.]+)\./.exec(readFileSync(kubeconfig, 'utf8'))?.[1] ?? '';
  const { exp, iat } = JSON.parse(Buffer.from(payload, 'base64url').toString()) as {
    exp: number;
    iat: number;
  };
  return (exp - iat) / 86_400;
}
