import { randomBytes } from 'node:crypto';
import { beforeAll, expect, it } from 'vitest';
import { AuditLog } from '../support/audit.ts';
import { auto, configMap, deployment, usingEnvFrom } from '../support/objects/builders.ts';
import { sharedCluster } from '../support/cluster.ts';
import { connect, namespace, type Space } from '../support/kube.ts';
import { keyIn, startReroll, type Reroll } from '../support/reroll.ts';
import { RolloutCount, hashOf, inStep, recordOf, settled } from '../support/objects/rollouts.ts';
import { eventually } from '../support/wait.ts';

const LABEL = `reroll-e2e/${randomBytes(4).toString('hex')}`;
const WEB = 'Deployment/web';
const CM = 'ConfigMap/cm';

let reroll: Reroll;
/** In scope all the time. */
let always: Space;

async function label(space: Space, value: string | null): Promise<void> {
  await space.patchNamespace({ labels: { [LABEL]: value } });
}

function count(text: string): number {
  return reroll.leaderLog().split(text).length - 1;
}

const added = (space: Space): number => count(`added namespace to be watched: ${space.name}`);
const removed = (space: Space): number => count(`removed namespace from watch: ${space.name}`);

async function comesIn(space: Space): Promise<void> {
  const before = added(space);
  await label(space, 'yes');
  await eventually(() => added(space) > before, { what: 'the namespace to be watched' });
}

/** Resolves when it is neither watched nor known any more. */
async function goesOut(space: Space): Promise<void> {
  const before = removed(space);
  await label(space, null);
  await eventually(() => removed(space) > before, { what: 'the namespace to be left' });
  await eventually(async () => expect(await knownOf(space)).toEqual([]));
}

/** What the catalog has of a namespace. */
async function knownOf(space: Space): Promise<string[]> {
  const known: string[] = [];
  const isMeant = (key: string): boolean => key.split('/')[1] === space.name;
  for (const rows of [reroll.catalog.eachSource(isMeant), reroll.catalog.eachWorkload(isMeant)]) {
    for await (const portion of rows) known.push(...portion.map(([key]) => key));
  }
  return known;
}

/** Streams of Secrets of one namespace each that the API server has open: nobody but Reroll has such. */
async function openStreams(): Promise<number> {
  const chunks: Buffer[] = [];
  const { signal } = new AbortController();
  for await (const chunk of await always.client.stream('/metrics', { signal })) chunks.push(chunk);
  const text = Buffer.concat(chunks).toString();
  const lines = text.split('\n').filter((line) => line.startsWith('apiserver_longrunning_requests{'));
  const meant = lines.filter(
    (line) => line.includes('resource="secrets"') && line.includes('scope="namespace"'),
  );
  return meant.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
}

async function labelled(): Promise<number> {
  const query = { labelSelector: LABEL };
  return (await always.client.get<{ items: unknown[] }>('/api/v1/namespaces', { query })).body.items.length;
}

async function shop(): Promise<Space> {
  const space = await namespace(connect(sharedCluster()));
  await space.apply(configMap('cm', { v: '1' }), deployment('web', auto(), usingEnvFrom('cm')));
  return space;
}

beforeAll(async () => {
  const cluster = sharedCluster();
  always = await shop();
  await label(always, 'yes');
  reroll = await startReroll({
    cluster,
    namespaces: 'all',
    watchers: 2,
    // In the incumbent's older spelling.
    flags: [`--namespace-selector=${LABEL}:yes`, '--reload-strategy=annotations'],
  });
  await inStep(always, WEB, [CM]);
});

it('is ready with what is in scope, by streams of each namespace, and says what is watched in the words of stakater/Reloader', async () => {
  await eventually(async () => expect(await openStreams()).toBe(2 * (await labelled())));
  expect(reroll.leaderLog()).toContain(
    `namespace-selector is set, will only detect changes in namespaces with these labels: ${LABEL}=yes.`,
  );
  expect(added(always)).toBe(1);
});

it('without the label nothing of a namespace is asked for or kept', async () => {
  const audit = new AuditLog(sharedCluster());
  const space = await shop();
  const rollouts = await RolloutCount.from(space, WEB);
  await space.setData(CM, { v: '2' });
  await settled(reroll, always);
  expect(await rollouts.now()).toBe(0);
  expect(recordOf(await space.get(WEB))).toEqual({});
  expect(await knownOf(space)).toEqual([]);
  const asked = audit.of('reroll-').map(({ objectRef }) => objectRef);
  expect(asked.filter((object) => object?.namespace === space.name)).toEqual([]);
  const clusterWide = asked
    .filter((object) => object?.namespace === undefined)
    .map((object) => object?.resource);
  expect(clusterWide).not.toContain('configmaps');
  expect(clusterWide).not.toContain('deployments');
});

it('a freeze of a Namespace holds its workloads until it is taken away, and no worker has to read the Namespace', async () => {
  const audit = new AuditLog(sharedCluster());
  const space = await shop();
  await space.patchNamespace({ annotations: { 'reroll.dev/freeze': '; a test' } });
  await comesIn(space);
  await inStep(space, WEB, [CM]);
  const rollouts = await RolloutCount.from(space, WEB);
  await space.setData(CM, { v: '2' });
  await eventually(async () => (await space.events(WEB)).some(({ reason }) => reason === 'Frozen'));
  expect(await rollouts.now()).toBe(0);
  await space.patchNamespace({ annotations: { 'reroll.dev/freeze': null } });
  await inStep(space, WEB, [CM]);
  expect(await rollouts.now()).toBe(1);
  const read = audit
    .of('reroll-worker')
    .filter(({ verb, objectRef }) => objectRef?.resource === 'namespaces' && verb === 'get');
  expect(read).toEqual([]);
});

it('a label that comes adopts what is there and reloads nothing; one that goes ends it, and with it again what changed meanwhile is reloaded', async () => {
  const space = await shop();
  const rollouts = await RolloutCount.from(space, WEB);
  await comesIn(space);
  await inStep(space, WEB, [CM]);
  await settled(reroll, space);
  expect(await rollouts.now()).toBe(0);
  await space.setData(CM, { v: '2' });
  await inStep(space, WEB, [CM]);
  await goesOut(space);
  await space.setData(CM, { v: '3' });
  await settled(reroll, always);
  // Not even for a job that somebody has put there.
  await reroll.queues.enqueueReloads([{ workload: keyIn(space, WEB), since: Date.now() }]);
  await reroll.queues.enqueueChanges([keyIn(space, CM)], Date.now());
  await reroll.idle();
  expect(await rollouts.now()).toBe(1);
  await comesIn(space);
  await inStep(space, WEB, [CM]);
  await settled(reroll, space);
  expect(await rollouts.now()).toBe(2);
  expect(reroll.logs()).not.toContain('cannot process an object');
});

it('a namespace that goes and comes without a change reloads nothing, and none right after is missed', async () => {
  const space = await shop();
  await comesIn(space);
  await inStep(space, WEB, [CM]);
  const rollouts = await RolloutCount.from(space, WEB);
  for (let turn = 0; turn < 5; turn += 1) {
    await label(space, null);
    await label(space, 'yes');
  }
  await space.setData(CM, { v: '2' });
  await inStep(space, WEB, [CM]);
  await settled(reroll, space);
  expect(await rollouts.now()).toBe(1);
  await goesOut(space);
  await comesIn(space);
  await settled(reroll, space);
  expect(await rollouts.now()).toBe(1);
  // One stream for each of the two watchers, and none is left of those that were ended.
  await eventually(async () => expect(await openStreams()).toBe(2 * (await labelled())));
  const before = removed(space);
  await space.end();
  await eventually(() => removed(space) > before, { what: 'a namespace that is deleted to be left' });
  await eventually(async () => expect(await knownOf(space)).toEqual([]));
});

it('all of it holds for a new leader: nothing is reloaded twice, and what it was not told of is forgotten', async () => {
  const [inside, outside] = [await shop(), await shop()];
  for (const space of [inside, outside]) await comesIn(space);
  for (const space of [inside, outside]) await inStep(space, WEB, [CM]);
  const counts = [await RolloutCount.from(inside, WEB), await RolloutCount.from(outside, WEB)] as const;
  const leader = await reroll.leader();
  const standby = await reroll.standby();
  await label(outside, null);
  await Promise.all([leader.stop(), inside.setData(CM, { v: '2' }), outside.setData(CM, { v: '2' })]);
  await eventually(() => standby.logs().includes('became leader'), { what: 'the standby to lead' });
  await inStep(inside, WEB, [CM]);
  await settled(reroll, inside);
  expect(await counts[0].now()).toBe(1);
  await eventually(async () => expect(await knownOf(outside)).toEqual([]));
  const before = await outside.get(CM);
  await comesIn(outside);
  await eventually(async () => expect(recordOf(await outside.get(WEB))).toEqual({ [CM]: hashOf(before) }));
  await settled(reroll, outside);
  expect(await counts[1].now()).toBe(1);
  expect(standby.logs()).not.toContain('cannot process an object');
});
