import { beforeAll, describe, expect, it } from 'vitest';
import { QUICK_LEASE } from '../faults/support/settings.ts';
import { sharedCluster } from '../support/cluster.ts';
import { connect, namespace, type Space } from '../support/kube.ts';
import { startReroll, type Reroll } from '../support/reroll.ts';
import { adopted, inStep, type RolloutCount } from '../support/objects/rollouts.ts';
import { eventually } from '../support/wait.ts';

let space: Space;
let reroll: Reroll;

beforeAll(async () => {
  const cluster = sharedCluster();
  space = await namespace(connect(cluster));
  // With the rights that the chart gives.
  reroll = await startReroll({
    cluster,
    namespaces: [space],
    watchers: 2,
    debounce: '0',
    chart: {},
    watcherFlags: QUICK_LEASE,
  });
});

/** Changes the source of the workload and resolves with the Event that says why nothing is reloaded. */
async function held(name: string, v: string, reason: string): Promise<string> {
  const messages = async (): Promise<string[]> =>
    (await space.events(`Deployment/${name}`))
      .filter((event) => event.reason === reason)
      .map(({ message }) => message);
  const before = new Set(await messages());
  await space.setData(`ConfigMap/${name}`, { v });
  return await eventually(async () => (await messages()).find((message) => !before.has(message)));
}

/** Resolves when the workload runs the current data, which was one reload. */
async function reloadedOnce(name: string, rollouts: RolloutCount): Promise<void> {
  await inStep(space, `Deployment/${name}`, [`ConfigMap/${name}`]);
  expect(await rollouts.now()).toBe(1);
}

describe.each([
  ['a freeze', { 'reroll.dev/freeze': '; a test' }, 'Frozen', 'is frozen until somebody ends it: a test'],
  ['a window that is closed', { 'reroll.dev/window': closedWindow() }, 'OutsideWindow', 'is closed until'],
  ['a window that cannot be read', { 'reroll.dev/window': 'tonight' }, 'OutsideWindow', 'given "tonight"'],
  ['an approval', { 'reroll.dev/approval': 'required' }, 'AwaitsApproval', 'has the id'],
] as const)('%s', (_what, annotations, reason, told) => {
  const name = `${reason.toLowerCase()}-${told.length}`;
  const none = Object.fromEntries(Object.keys(annotations).map((key) => [key, null]));

  it('of a workload holds it, and once it ends the last data comes with one reload', async () => {
    const rollouts = await adopted(space, name);
    await space.annotate(`Deployment/${name}`, annotations);
    expect(await held(name, '2', reason)).toContain(told);
    await space.setData(`ConfigMap/${name}`, { v: '3' });
    const outcomes = await reroll.outcomes(space, `Deployment/${name}`);
    expect(outcomes.at(-1)).toMatchObject({ state: 'unchanged', reason });
    expect(await rollouts.now()).toBe(0);
    await space.annotate(`Deployment/${name}`, none);
    await reloadedOnce(name, rollouts);
  });
});

it('a freeze of the namespace holds all of it until its end, though the leader dies and Redis is emptied', async () => {
  const names = ['late-a', 'late-b'];
  const rollouts = await Promise.all(names.map((name) => adopted(space, name)));
  const end = Date.now() + 30_000;
  await space.patchNamespace({
    annotations: { 'reroll.dev/freeze': `${new Date(end).toISOString()}; a test` },
  });
  // What a worker has read of the Namespace may be two seconds old.
  await eventually(() => Date.now() > end - 27_500);
  await Promise.all(names.map((name) => held(name, '2', 'Frozen')));
  await (await reroll.leader()).kill('SIGKILL');
  reroll.start('watcher');
  await reroll.redis.flushall();
  for (const name of names) await space.setData(`ConfigMap/${name}`, { v: '3' });
  await reroll.ready();
  for (const each of rollouts) expect(await each.now()).toBe(0);
  expect(Date.now(), 'all of this took less time than the freeze').toBeLessThan(end);
  for (const [at, name] of names.entries()) {
    await inStep(space, `Deployment/${name}`, [`ConfigMap/${name}`], { within: 60_000 });
    expect(await (rollouts[at] as RolloutCount).now()).toBe(1);
  }
  await space.patchNamespace({ annotations: { 'reroll.dev/freeze': null } });
});

it('an approval lets through what it names, and nothing later', async () => {
  const rollouts = await adopted(space, 'approved');
  await space.annotate('Deployment/approved', { 'reroll.dev/approval': 'required' });
  const [, id = ''] = /id ([0-9a-f]{10})/.exec(await held('approved', '2', 'AwaitsApproval')) ?? [];
  await space.annotate('Deployment/approved', { 'reroll.dev/approved': id });
  await reloadedOnce('approved', rollouts);
  const [, later = ''] = /id ([0-9a-f]{10})/.exec(await held('approved', '3', 'AwaitsApproval')) ?? [];
  expect(later).not.toBe(id);
  expect(await rollouts.now()).toBe(1);
  await space.annotate('Deployment/approved', { 'reroll.dev/approved': later });
  await inStep(space, 'Deployment/approved', ['ConfigMap/approved']);
  expect(await rollouts.now()).toBe(2);
});

it('a workload beyond its limit waits, and then gets the last data', async () => {
  const rollouts = await adopted(space, 'often');
  await space.annotate('Deployment/often', { 'reroll.dev/reload-limit': '2/10s' });
  for (const v of ['2', '3']) {
    await space.setData('ConfigMap/often', { v });
    await inStep(space, 'Deployment/often', ['ConfigMap/often']);
  }
  expect(await held('often', '4', 'TooOften')).toMatch(
    /It was reloaded 2 times since .*, and waits until .*\. ConfigMap\/often was last written by \S+ at /u,
  );
  await space.setData('ConfigMap/often', { v: '5' });
  expect(await rollouts.now()).toBe(2);
  await inStep(space, 'Deployment/often', ['ConfigMap/often'], { within: 60_000 });
  expect(await rollouts.now()).toBe(3);
});

/** Four hours that begin in two hours. */
function closedWindow(): string {
  const at = (hours: number): string => new Date(Date.now() + hours * 3_600_000).toISOString().slice(11, 16);
  return `${at(2)}-${at(6)}`;
}
