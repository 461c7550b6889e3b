import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { parse } from 'yaml';
import { ensureOldestApiServer } from '../../tools/cluster/src/build/build-oldest-api-server.ts';
import { ensureProgram } from '../../tools/cluster/src/build/build-program.ts';
import { startCluster, type Cluster } from '../../tools/cluster/src/cluster.ts';
import { run } from '../../tools/cluster/src/run.ts';
import { at } from '../../tools/deploy/look.ts';
import { manifestsOf, type ChartValues } from '../../tools/deploy/render.ts';
import { kubernetesVersion } from '../../tools/deploy/schemas/ensure-schemas.ts';
import { CHART } from '../../tools/deploy/values/values-comments.ts';
import { Helm } from '../install/support/helm.ts';
import { reloadEveryKind } from '../install/support/exercise.ts';
import { ISSUER, tokenOf } from '../support/admin/service-account-tokens.ts';
import { cleanUp } from '../support/cleanup.ts';
import { Space, connect, namespace } from '../support/kube.ts';
import { auto, configMap, deployment, usingEnvFrom } from '../support/objects/builders.ts';
import { RolloutCount, inStep } from '../support/objects/rollouts.ts';
import { kubeconfigOf } from '../support/objects/worker-account.ts';
import { startStandalone, type Standalone } from '../support/standalone.ts';

/** The API server of the oldest Kubernetes that Chart.yaml names. No controllers: there are no pods. */
let cluster: Cluster;
let helm: Helm;

beforeAll(async () => {
  const log = console.log;
  cluster = await startCluster({
    dir: mkdtempSync(join(tmpdir(), 'reroll-oldest-')),
    apiServer: await ensureOldestApiServer({ log }),
    nodes: 0,
    redis: false,
    controllerManager: false,
    scheduler: false,
  });
  cleanUp(() => cluster.stop());
  helm = await Helm.of(cluster);
  await ensureProgram('kubectl', { log });
}, 1_800_000);

it('is the one that Chart.yaml names and whose schemas are tested', async () => {
  const { body } = await connect(cluster).get<{ gitVersion: string }>('/version');
  expect(body.gitVersion).toBe(`v${kubernetesVersion('oldest')}`);
  const chart = parse(readFileSync(join(CHART, 'Chart.yaml'), 'utf8')) as { kubeVersion: string };
  expect(chart.kubeVersion).toBe(`>=${body.gitVersion.replace(/^v(\d+\.\d+)\..*$/u, '$1')}.0-0`);
});

/** Sends these to the API server, which validates them and keeps nothing. Resolves with a line for each. */
async function accepted(text: string, space: string): Promise<readonly string[]> {
  const file = join(cluster.dir, 'hooks.yaml');
  writeFileSync(file, text);
  const kubectl = await ensureProgram('kubectl', { log: console.log });
  const args = ['apply', '--dry-run=server', '--validate=strict', '-n', space, '-f', file];
  const { stdout, tail } = await run(kubectl, args, { env: { KUBECONFIG: cluster.kubeconfig } });
  return stdout === '' ? [tail] : stdout.trimEnd().split('\n');
}

/** The names of a process's Lease and of ConfigMaps follow from that of the release; this is what they are by default. */
const RELEASE = 'reroll';

/** By the namespace. */
const INSTALLS: Readonly<Record<string, ChartValues>> = {
  distributed: {},
  'distributed-tls': { redis: { tls: { enabled: true } }, worker: { autoscaling: { enabled: true } } },
  standalone: { mode: 'standalone' },
  scoped: { reloader: { watchGlobally: false, namespaces: ['default'] } },
};

it.each(Object.entries(INSTALLS))('takes every object of an install: %s', async (namespaceName, values) => {
  const args = ['--namespace', namespaceName];
  // Nothing here runs the Jobs of hooks: what they consist of is sent apart.
  const given = ['--create-namespace', '--no-hooks', ...helm.values(values)];
  await helm.run(['install', RELEASE, CHART, ...args, ...given]);
  const kinds = manifestsOf(await helm.run(['get', 'manifest', RELEASE, ...args])).map(({ kind }) => kind);
  expect(kinds).toContain('Deployment');
  expect(kinds).toContain('RoleBinding');
  // They need 1.30: the chart leaves them out where the API server has none.
  expect(kinds.filter((kind) => kind.startsWith('ValidatingAdmission'))).toEqual([]);
  const hooks = await helm.run(['get', 'hooks', RELEASE, ...args]);
  const answers = await accepted(hooks, namespaceName);
  expect(answers.filter((line) => !line.endsWith('(server dry run)'))).toEqual([]);
  expect(answers).toHaveLength(manifestsOf(hooks).length);
});

/** As the pod of the release `standalone`: with the rights of its ServiceAccount. */
async function startReroll(space: Space): Promise<Standalone> {
  const release = new Space(connect(cluster), 'standalone');
  const [standalone] = await release.list('Deployment');
  const token = await tokenOf(
    release,
    String(at(standalone, 'spec.template.spec.serviceAccountName')),
    ISSUER,
  );
  const kubeconfig = kubeconfigOf(cluster, token);
  const reroll = await startStandalone({
    cluster: { ...cluster, kubeconfig },
    name: 'standalone-1',
    install: release.name,
    space,
  });
  await reroll.app.ready();
  return reroll;
}

it('with the rights of the chart, every kind is recorded, and reloaded for a change', async () => {
  const space = await namespace(connect(cluster));
  const { app } = await startReroll(space);
  await reloadEveryKind(space, {}, ['Rollout', 'DeploymentConfig']);
  await space.event('Deployment/deployment', 'Reloaded');
  // That API server cannot stream a list.
  const lists = app.logs().match(/msg=listed .*/gu) ?? [];
  expect(lists).not.toEqual([]);
  expect(lists.filter((line) => !line.includes('streamed=false'))).toEqual([]);
});

it('a change that was made while nothing ran is one reload, by the record', async () => {
  const space = await namespace(connect(cluster));
  await space.apply(configMap('settings', { v: '1' }), deployment('web', auto(), usingEnvFrom('settings')));
  const first = await startReroll(space);
  await inStep(space, 'Deployment/web', ['ConfigMap/settings']);
  await first.kill();
  const rollouts = await RolloutCount.from(space, 'Deployment/web');
  await space.setData('ConfigMap/settings', { v: '2' });
  await startReroll(space);
  await inStep(space, 'Deployment/web', ['ConfigMap/settings']);
  expect(await rollouts.now()).toBe(1);
});
