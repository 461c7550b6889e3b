import { beforeAll, expect, it } from 'vitest';
import { QUICK_LEASE } from '../faults/support/settings.ts';
import { RerollCli } from '../support/admin/reroll-cli.ts';
import { sharedCluster } from '../support/cluster.ts';
import { connect, namespace, type Space } from '../support/kube.ts';
import {
  annotated,
  auto,
  deployment,
  secret,
  usingEnvFrom,
  type Modifier,
} from '../support/objects/builders.ts';
import { hashOf, inStep, recordOf } from '../support/objects/rollouts.ts';
import { startReroll, type Reroll } from '../support/reroll.ts';
import { eventually } from '../support/wait.ts';

let space: Space;
let reroll: Reroll;

beforeAll(async () => {
  const cluster = sharedCluster();
  space = await namespace(connect(cluster));
  reroll = await startReroll({
    cluster,
    namespaces: [space],
    watchers: 2,
    workers: 2,
    debounce: '0',
    watcherFlags: QUICK_LEASE,
  });
});

/** A Secret with waves, and so many recorded Deployments that use it. The first one comes first. */
async function installed(name: string, count: number, first: readonly Modifier[]): Promise<string[]> {
  const source = `Secret/${name}` as const;
  const waves = { 'reroll.dev/waves': '1,10%,100%', 'reroll.dev/bake': '2s' };
  await space.apply(secret(name, { v: '1' }, { annotations: waves }));
  const names = Array.from({ length: count }, (_, at) => `${name}-${String(at).padStart(3, '0')}`);
  for (const [at, each] of names.entries())
    await space.apply(deployment(each, auto(), usingEnvFrom(source), ...(at === 0 ? first : [])));
  for (const each of names) await inStep(space, `Deployment/${each}`, [source], { within: 120_000 });
  return names;
}

/** Those that have the current data by their records. */
async function reloaded(name: string, names: readonly string[]): Promise<string[]> {
  const source = await space.get(`Secret/${name}`);
  const objects = await space.list('Deployment');
  const having = objects.filter((object) => recordOf(object)[`Secret/${name}`] === hashOf(source));
  const found = new Set(having.map(({ metadata }) => metadata.name));
  return names.filter((each) => found.has(each));
}

async function reasons(name: string): Promise<string[]> {
  return (await space.events(`Deployment/${name}`)).map(({ reason }) => reason);
}

it('a change reaches one, then a tenth, then all, though everything is killed and Redis emptied in the second wave', async () => {
  const names = await installed('calm', 30, []);
  const generations = async (): Promise<number[]> =>
    await Promise.all(
      names.map(async (each) => (await space.get(`Deployment/${each}`)).metadata.generation ?? 0),
    );
  const before = await generations();
  await space.setData('Secret/calm', { v: '2' });
  const seen = new Set<number>();
  // Not expected in `look`: `eventually` would look again.
  const outOfTurn: string[][] = [];
  const look = async (): Promise<number> => {
    const having = await reloaded('calm', names);
    // Whoever has it comes before all that lack it, wave by wave.
    const wave = [1, 3, 30].find((end) => having.length <= end) ?? 30;
    if (having.some((each) => names.indexOf(each) >= wave)) outOfTurn.push(having);
    seen.add(wave);
    return having.length;
  };
  await eventually(async () => (await look()) > 1);
  for (const process of [...reroll.watchers, ...reroll.workers]) await process.kill('SIGKILL');
  await reroll.redis.flushall();
  expect(await look()).toBeLessThanOrEqual(3);
  reroll.start('watcher');
  reroll.start('worker');
  await eventually(async () => (await look()) === names.length, { within: 120_000 });
  expect(outOfTurn).toEqual([]);
  expect([...seen]).toEqual([1, 3, 30]);
  // The annotations of a Deployment move its generation too: each was written once.
  expect(await generations()).toEqual(before.map((generation) => generation + 1));
});

it('of 200 workloads only the first gets data that break it; the change goes on once somebody says so', async () => {
  const names = await installed('bad', 200, [annotated({ 'reroll.dev/wave': '0' })]);
  const [first = '', second = ''] = names;
  await space.patch(`Deployment/${first}`, {
    spec: {
      replicas: 1,
      progressDeadlineSeconds: 1,
      template: { spec: { nodeSelector: { e2e: 'nowhere' } } },
    },
  });
  await space.setData('Secret/bad', { v: '2' });
  await eventually(async () => expect(await reasons(second)).toContain('WaveHalted') ?? true, {
    within: 180_000,
  });
  expect(await reloaded('bad', names)).toEqual([first]);
  const held = (await space.events(`Deployment/${second}`)).find(({ reason }) => reason === 'WaveHalted');
  expect(held?.message).toContain(`Deployment/${space.name}/${first} is stuck (ProgressDeadlineExceeded)`);
  // One of the source, for all of its workloads.
  const ofSource = (await space.events('Secret/bad')).filter(({ reason }) => reason === 'WaveHalted');
  expect(ofSource.map(({ message }) => message)).toEqual([held?.message]);
  const cli = new RerollCli(sharedCluster(), ['-n', space.name]);
  expect(await cli.run('resume', 'secret/bad', '--reason', 'a test')).toEqual({
    code: 0,
    out: 'secret/bad: failed rollouts no longer halt the change to its current data\n',
    err: '',
  });
  await eventually(async () => expect((await reloaded('bad', names)).length).toBe(200) ?? true, {
    within: 180_000,
  });
});
