import { beforeAll, describe, expect, it } from 'vitest';
import { Rollouts } from '@reroll/redis/history/rollouts';
import type { RolloutEntry } from '@reroll/core/history/entries';
import { MERGE_PATCH } from '@reroll/kube/client/connection';
import { AdminApi } from '../support/admin/admin-api.ts';
import { AuditLog, requestName } from '../support/audit.ts';
import {
  auto,
  configMap,
  deployment,
  replicas,
  usingEnvFrom,
  type Modifier,
} from '../support/objects/builders.ts';
import { sharedCluster } from '../support/cluster.ts';
import { connect, namespace, type Space } from '../support/kube.ts';
import { keyIn, startReroll, type Reroll } from '../support/reroll.ts';
import { inStep } from '../support/objects/rollouts.ts';
import { eventually } from '../support/wait.ts';

/** What containers would know, and no message may bring out. */
const DATA = 'hunter2-of-the-secret';
const WAITING = { reason: 'ImagePullBackOff', message: 'Back-off pulling image "shop/web:2"' };
/** By pod: the state of its container. */
const STATES = [
  { waiting: WAITING },
  { waiting: { reason: 'RunContainerError', message: `exec: "${DATA}": not found` } },
  { waiting: { reason: 'ErrImagePull', message: `https://ann:${DATA}@registry.shop/web: denied` } },
];
const SAID = [
  { container: 'app', ...WAITING },
  { container: 'app', reason: 'RunContainerError', message: '' },
  { container: 'app', reason: 'ErrImagePull', message: 'https://…@registry.shop/web: denied' },
];

let space: Space;
let audit: AuditLog;
/** With `--rollout-details`. */
let reroll: Reroll;
/** Without. */
let plain: Reroll;

/** Pods that no node takes, so that nobody else writes their status. */
const unschedulable: Modifier = ({ spec }) => {
  spec.template.spec.nodeSelector = { nowhere: 'true' };
};

beforeAll(async () => {
  const cluster = sharedCluster();
  space = await namespace(connect(cluster));
  audit = new AuditLog(cluster);
  const watcherFlags = ['--rollout-details=true'];
  reroll = await startReroll({ cluster, namespaces: [space], admins: 1, watcherFlags });
  plain = await startReroll({ cluster, namespaces: [space], workers: 0 });
});

async function stuck(at: Reroll, name: string): Promise<RolloutEntry | undefined> {
  const key = keyIn(space, `Deployment/${name}`);
  const entry = (await new Rollouts(at.redis, at.catalog.keys.rollouts).of([key])).get(key);
  return entry?.state === 'stuck' ? entry : undefined;
}

/** The names of its pods, once it has so many. */
async function podsOf(name: string, count: number): Promise<string[]> {
  return await eventually(async () => {
    const names = (await space.list('Pod')).map(({ metadata }) => metadata.name).sort();
    const own = names.filter((each) => each.startsWith(`${name}-`));
    return own.length === count && own;
  });
}

async function writeState(pod: string, state: unknown): Promise<void> {
  const status = {
    containerStatuses: [
      { name: 'app', image: 'web', imageID: '', ready: false, restartCount: 0, started: false, state },
    ],
  };
  await space.client.patch(`${space.path(`Pod/${pod}`)}/status`, { status }, { contentType: MERGE_PATCH });
}

describe('the pods of a rollout that is stuck', () => {
  it('say why they do not run, with --rollout-details and not without, and never what is secret', async () => {
    await space.apply(
      configMap('web', { v: '0' }),
      deployment('web', auto(), usingEnvFrom('web'), replicas(STATES.length), unschedulable),
    );
    const names = await podsOf('web', STATES.length);
    await Promise.all(names.map((pod, index) => writeState(pod, STATES[index])));
    await inStep(space, 'Deployment/web', ['ConfigMap/web']);
    // It passes at once.
    await space.patch('Deployment/web', { spec: { progressDeadlineSeconds: 1 } });
    const pods = SAID.map((said, index) => ({ name: names[index], ...said }));
    const entry = await eventually(async () => {
      const found = await stuck(reroll, 'web');
      return found?.pods && found;
    });
    expect(entry.pods).toEqual(pods);
    expect(JSON.stringify(entry)).not.toContain(DATA);
    const [admin] = reroll.admins;
    if (!admin) throw new Error('expected an admin');
    const params = { kind: 'Deployment', namespace: space.name, name: 'web' } as const;
    const answer = await new AdminApi(admin).call('getWorkload', { params });
    expect(answer.rolloutInDetail).toMatchObject({ state: 'stuck', pods });
    const without = await eventually(() => stuck(plain, 'web'));
    expect(without.pods).toBeUndefined();
    const lists = audit.of('reroll-watcher/').filter((entry) => requestName(entry) === 'LIST pods');
    const ours = lists.filter(({ objectRef }) => objectRef?.namespace === space.name);
    expect(ours[0]?.requestURI).toMatch(/\?labelSelector=app%3Dweb&limit=50$/u);
    const metrics = (await reroll.watchers[0]?.metrics()) ?? '';
    expect(metrics).toContain(`reroll_pod_reads_total{result="success"} ${ours.length}\n`);
    expect(metrics).toContain('reroll_pod_reads_total{result="error"} 0\n');
    expect(reroll.logs()).not.toContain(DATA);
  });
});
