import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { TcpProxy } from '@reroll/kube/testing/tcp-proxy';
import { DELETED_HASH } from '@reroll/core/record/record-hash';
import type { Cluster } from '../../tools/cluster/src/cluster.ts';
import { auto, configMap, deployment, usingEnvFrom } from '../support/objects/builders.ts';
import { cleanUp } from '../support/cleanup.ts';
import { connect, namespace } from '../support/kube.ts';
import { startReroll } from '../support/reroll.ts';
import { RolloutCount, inStep, recordOf } from '../support/objects/rollouts.ts';
import { eventually } from '../support/wait.ts';
import { mendedCluster } from './support/cluster.ts';

/** The same cluster by way of a proxy that can be told to refuse. */
async function throughProxy(cluster: Cluster): Promise<{ proxy: TcpProxy; proxied: Cluster }> {
  const text = readFileSync(cluster.kubeconfig, 'utf8');
  const port = /127\.0\.0\.1:(?<port>\d+)/u.exec(text)?.groups?.['port'] ?? '';
  const proxy = await TcpProxy.start({ host: '127.0.0.1', port: Number(port) });
  cleanUp(() => proxy.stop());
  const kubeconfig = join(cluster.dir, 'kubeconfig-through-proxy');
  writeFileSync(kubeconfig, text.replaceAll(`127.0.0.1:${port}`, `127.0.0.1:${proxy.port}`));
  return { proxy, proxied: Object.create(cluster, { kubeconfig: { value: kubeconfig } }) as Cluster };
}

/** Forgets etcd's past, and with the API server what it remembers of it: who resumes gets a 410. */
async function forgetThePast(cluster: Cluster, revision: string): Promise<void> {
  const url = `http://127.0.0.1:${cluster.ports.etcd}/v3/kv/compaction`;
  const answer = await fetch(url, { method: 'POST', body: JSON.stringify({ revision, physical: true }) });
  expect(answer.status).toBe(200);
  await cluster.restart('apiserver');
}

test('with --reload-on-delete, a deletion that a running watcher sees only at a re-list reloads once, and nothing else does', async () => {
  const cluster = await mendedCluster();
  const { proxy, proxied } = await throughProxy(cluster);
  const space = await namespace(connect(cluster));
  await space.apply(
    configMap('gone', { v: '1' }),
    configMap('kept', { v: '1' }),
    deployment('gone', auto(), usingEnvFrom('gone')),
    deployment('kept', auto(), usingEnvFrom('kept')),
  );
  const reroll = await startReroll({
    cluster: proxied,
    namespaces: [space],
    flags: ['--reload-on-delete=true', '--reload-strategy=annotations'],
    // It stays the leader meanwhile.
    watcherFlags: ['--lease-duration=10m', '--lease-renew-deadline=9m', '--lease-retry-period=1s'],
  });
  await inStep(space, 'Deployment/gone', ['ConfigMap/gone']);
  await inStep(space, 'Deployment/kept', ['ConfigMap/kept']);
  await reroll.idle();
  const templates = async (): Promise<unknown[]> =>
    Promise.all(['gone', 'kept'].map(async (name) => (await space.get(`Deployment/${name}`)).spec.template));
  const [, kept] = await templates();

  proxy.refuse();
  await space.delete('ConfigMap/gone');
  const { metadata } = await space.setData('ConfigMap/kept', { v: '1' });
  await forgetThePast(cluster, metadata.resourceVersion);
  const rollouts = await RolloutCount.from(space, 'Deployment/gone');
  proxy.accept();

  await eventually(
    async () => {
      const metrics = (await reroll.watchers[0]?.metrics()) ?? '';
      return /^reroll_relists_total\{kind="ConfigMap"\} [1-9]/mu.test(metrics);
    },
    { what: 'a re-list' },
  );
  await eventually(
    async () => recordOf(await space.get('Deployment/gone'))['ConfigMap/gone'] === DELETED_HASH,
    { what: 'the deletion to be recorded' },
  );
  await reroll.idle();
  expect(await rollouts.now()).toBe(1);
  expect((await templates())[1]).toEqual(kept);
  expect(reroll.watchers.map(({ isRunning }) => isRunning)).toEqual([true]);
});
