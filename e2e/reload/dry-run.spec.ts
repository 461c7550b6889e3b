import { beforeAll, expect, it } from 'vitest';
import { ReloadRequests } from '@reroll/redis/catalog/requests';
import { AuditLog } from '../support/audit.ts';
import {
  auto,
  configMap,
  daemonSet,
  deployment,
  naming,
  statefulSet,
  usingEnvFrom,
} from '../support/objects/builders.ts';
import { sharedCluster } from '../support/cluster.ts';
import { connect, namespace, type Space } from '../support/kube.ts';
import { keyIn, startReroll, type Reroll } from '../support/reroll.ts';
import { eventually } from '../support/wait.ts';

const WORKLOADS = ['Deployment/api', 'StatefulSet/db', 'DaemonSet/agent', 'Deployment/named'] as const;

let space: Space;
let reroll: Reroll;
let audit: AuditLog;

beforeAll(async () => {
  const cluster = sharedCluster();
  space = await namespace(connect(cluster));
  audit = new AuditLog(cluster);
  await space.apply(
    configMap('cm', { v: '1' }),
    deployment('api', auto(), usingEnvFrom('cm')),
    statefulSet('db', auto(), usingEnvFrom('cm')),
    daemonSet('agent', auto(), usingEnvFrom('cm')),
    deployment('named', naming('c.*')),
    deployment('silent', usingEnvFrom('cm')),
  );
  reroll = await startReroll({
    cluster,
    namespaces: [space],
    sweepInterval: '1s',
    workerFlags: ['--dry-run'],
  });
  for (const ref of WORKLOADS) await eventually(async () => (await reroll.outcomes(space, ref)).length > 0);
});

async function wouldReload(times: number): Promise<void> {
  for (const ref of WORKLOADS) {
    await eventually(async () => {
      const outcomes = (await reroll.outcomes(space, ref)).filter(({ state }) => state === 'wouldReload');
      expect(outcomes, ref).toHaveLength(times);
      return true;
    });
  }
}

it('says for each change what would be reloaded, once, also when the job, or the resync, comes again', async () => {
  for (const times of [1, 2]) {
    await space.setData('ConfigMap/cm', { v: `change ${times}` });
    await wouldReload(times);
  }
  const outcomes = await reroll.outcomes(space, 'Deployment/api');
  const outcome = outcomes.find(({ state }) => state === 'wouldReload');
  expect(outcome).toMatchObject({ reason: 'WouldReload', rolled: ['ConfigMap/cm'] });
  expect(await reroll.outcomes(space, 'Deployment/silent')).toEqual([]);
  expect(reroll.logs()).toContain('dry run: would reload');

  const jobs = WORKLOADS.map((ref) => ({ workload: keyIn(space, ref), since: Date.now() }));
  await reroll.queues.enqueueReloads(jobs);
  await reroll.idle();
  const resyncs = async (): Promise<number> => {
    const metrics = await (await reroll.leader()).metrics();
    return Number(/^\w*sweep_duration_seconds_count(?:\{[^}]*\})? (\d+)$/m.exec(metrics)?.[1] ?? 0);
  };
  const before = await resyncs();
  await eventually(async () => (await resyncs()) >= before + 3);
  await reroll.idle();
  await wouldReload(2);
  // What the resync looks at without finding anything new is not recorded.
  const reasons = (await reroll.outcomes(space, 'Deployment/api')).map(({ reason }) => reason);
  expect(reasons).not.toContain('InStep');
});

it("says of a person's request too what would be reloaded, and takes it away", async () => {
  const key = keyIn(space, 'Deployment/api');
  const requests = new ReloadRequests(reroll.redis, reroll.catalog.keys.requests);
  const { id } = await requests.put(key, { actor: 'ann', reason: 'a test' });
  await reroll.queues.enqueueReloadNow(key, Date.now());
  await eventually(async () => (await requests.of(key)) === undefined);
  const told = await eventually(async () => {
    const outcomes = await reroll.outcomes(space, 'Deployment/api');
    const found = outcomes.filter(({ request }) => request?.id === id);
    return found.length > 0 && found;
  });
  expect(told).toMatchObject([{ state: 'wouldReload', reason: 'WouldReload', rolled: [] }]);
});

it('writes to no workload and posts no Event: the audit log of the API server has none', async () => {
  await reroll.stop();
  const requests = audit.of('reroll-').filter(({ objectRef }) => objectRef?.namespace === space.name);
  expect(requests.length).toBeGreaterThan(0);
  const verbs = new Set(requests.map(({ verb }) => verb));
  expect([...verbs].sort()).toEqual(['get', 'list', 'watch'].filter((verb) => verbs.has(verb)));
  for (const ref of [...WORKLOADS, 'Deployment/silent']) {
    const { annotations = {} } = (await space.get(ref)).metadata;
    expect(Object.keys(annotations)).not.toContain('reroll.dev/applied');
  }
});

it('leaves nothing behind that a real run would take for done', async () => {
  const real = await startReroll({ cluster: sharedCluster(), namespaces: [space], install: reroll.install });
  await space.setData('ConfigMap/cm', { v: 'change 3' });
  for (const ref of WORKLOADS) {
    await eventually(async () => (await real.outcomes(space, ref)).some(({ state }) => state === 'reloaded'));
  }
});
