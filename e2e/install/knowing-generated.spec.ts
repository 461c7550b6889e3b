import { setTimeout as pause } from 'node:timers/promises';
import { beforeAll, describe, expect, it } from 'vitest';
import { Random } from '../../tools/simulation/src/random.ts';
import { cleanUp } from '../support/cleanup.ts';
import { RerollCli } from '../support/admin/reroll-cli.ts';
import { inLanes } from '../support/in-lanes.ts';
import { eventually } from '../support/wait.ts';
import { keepsOlder, plansOf, type PodPlan, type SourceName, writesOf } from './support/knowing/plans.ts';
import { podOf } from './support/knowing/pod-objects.ts';
import { passwordOf, startRegistry } from './support/knowing/registry.ts';
import { Tally, USES } from './support/knowing/tally.ts';
import {
  DELAY,
  DELAY_S,
  type Held,
  isBeingNoticed,
  look,
  type Look,
  seenUses,
  type State,
  type Surroundings,
  useKey,
} from './support/knowing/verdicts.ts';
import { Witness } from './support/knowing/witness.ts';
import { Sources } from './support/knowing/written.ts';
import { Release, installCluster } from './support/release.ts';

/**
 * A hundred pods that use sources in every way, some of which come, or start again, around the writes. Whatever `stale` says of one is
 * held against what its process sees, and against what the guide says that nobody knows. `KNOWING_SEED` draws other pods.
 */
const { KNOWING_SEED = '20261125' } = process.env;
const random = new Random(Number(KNOWING_SEED));
const PLANS = plansOf(random);
const WRITES = writesOf(random);
const EARLY = PLANS.filter(({ createdAt }) => createdAt === undefined);
const LATE = PLANS.filter(({ createdAt }) => createdAt !== undefined);
const IMAGE_PULLS = PLANS.filter(({ form }) => form === 'imagePull');
const KILLS = PLANS.flatMap(({ name, kill }) =>
  kill === undefined ? [] : [[kill.at, `${name}/${kill.container}`] as const],
);
/** A part of the pods: enough for everybody to have the present `settings`. */
const REPLACED = [...PLANS.filter((plan) => keepsOlder(plan, 'settings')), ...IMAGE_PULLS.slice(0, 3)];
const AT_ONCE = 16;

let release: Release;
let cli: RerollCli;
let sources: Sources;
let witness: Witness;
/** Those that there should be, by name. */
const plans = new Map<string, PodPlan>();
const tally = new Tally();

beforeAll(async () => {
  release = await Release.prepare('generated');
  cli = new RerollCli(installCluster(), ['-n', release.space.name]);
  witness = new Witness(installCluster());
  sources = new Sources(release.space);
  await sources.create();
  await startRegistry(release);
  // The node is busy with the end of so many pods; whoever is next shall not notice.
  cleanUp(endPods);
});

async function endPods(): Promise<void> {
  const path = `/api/v1/namespaces/${release.space.name}/pods`;
  await release.client.request({ method: 'DELETE', path });
  await eventually(async () => (await release.space.list('Pod')).length === 0, {
    what: 'the pods to end',
    within: 120_000,
  });
}

function around(): Surroundings {
  return { cli, space: release.space, witness, sources, plans };
}

async function create(plan: PodPlan, name = plan.name): Promise<void> {
  plans.set(name, plan);
  await release.client.post(`/api/v1/namespaces/${release.space.name}/pods`, podOf(plan, name));
}

function keysOfAll(): readonly string[] {
  return [...plans].flatMap(([pod, { containers }]) =>
    containers.flatMap(({ name, uses }) => uses.map((use) => useKey(pod, name, use))),
  );
}

async function allRun(): Promise<void> {
  await eventually(
    async () => {
      const seen = await seenUses(around());
      expect(keysOfAll().filter((key) => !seen.has(key))).toEqual([]);
      return true;
    },
    { within: 200_000 },
  );
}

/** Of any moment. */
async function lookAt(moment: string): Promise<Look> {
  const found = await look(around());
  expect(found.wrong, `KNOWING_SEED=${KNOWING_SEED}, ${moment}`).toEqual([]);
  expect(found.missed).toEqual([]);
  const drivers = [...found.csiVolumes.values()];
  expect(drivers).toEqual(drivers.map(() => 'unknown'));
  tally.add(moment, found.held);
  return found;
}

/** Of a moment at which nothing moves: there is a verdict of each use. */
async function completeLook(moment: string): Promise<Look> {
  await allRun();
  const found = await lookAt(moment);
  expect(found.held.map(({ key }) => key).sort()).toEqual([...keysOfAll()].sort());
  expect(found.csiVolumes.size).toBe(PLANS.filter(({ form }) => form === 'csiVolume').length);
  expect(found.imagePulls.size).toBe(IMAGE_PULLS.length);
  return found;
}

/**
 * Has each kubelet pull, and returns what `stale` said of each such pod before: whatever is said to be current is pulled with the
 * current data.
 */
async function pulls({ imagePulls }: Look, at: number, tag: string): Promise<readonly State[]> {
  const written = sources.of('pull');
  await Promise.all(
    [...imagePulls].map(async ([pod, state]) => {
      const password = await passwordOf(release, pod, tag);
      if (state === 'current') expect([pod, password]).toEqual([pod, written?.value]);
      else expect([pod, state, written && isBeingNoticed(written, at)]).toEqual([pod, 'unknown', true]);
    }),
  );
  return [...imagePulls.values()];
}

function share(held: readonly Held[], state: State): number {
  return held.filter((each) => each.state === state).length / held.length;
}

/** Containers whose process has older data of a source. */
function olderOf(source: SourceName): readonly string[] {
  const present = sources.of(source)?.value;
  return [...witness.running()].flatMap(([name, id]) => {
    const [pod = '', container = ''] = name.split('/');
    const of = plans.get(pod)?.containers.find((each) => each.name === container);
    const uses = (of?.uses ?? []).filter((use) => use.source === source);
    const values = uses.map((use) => witness.seenBy(id, use)).filter((value) => value !== undefined);
    return values.some((value) => value !== present) ? [name] : [];
  });
}

describe('a hundred generated pods', () => {
  it('before any write all is current, but what does not exist', async () => {
    expect(PLANS).toHaveLength(100);
    await pause(2_000);
    await inLanes(EARLY, AT_ONCE, (plan) => create(plan));
    const at = Date.now();
    const found = await completeLook('before');
    expect(found.held.filter(({ state }) => state === 'stale')).toEqual([]);
    expect(share(found.held, 'unknown')).toBeLessThan(0.25);
    expect(await pulls(found, at, 'before')).toEqual(IMAGE_PULLS.map(() => 'current'));
  });

  it('no verdict is wrong while sources are written, pods come and containers start again', async () => {
    const first = performance.now() + 6_500;
    const until = (at: number): Promise<void> => pause(Math.max(0, first + at - performance.now()));
    const acts: (readonly [number, () => Promise<void>])[] = [
      ...LATE.map((plan) => [plan.createdAt ?? 0, () => create(plan)] as const),
      ...KILLS.map(([at, container]) => [at, async () => witness.kill(container)] as const),
      ...WRITES.map(({ source, at }) => [at, () => sources.write(source)] as const),
    ];
    const acting = { isOver: false };
    const all = Promise.all(
      acts.map(async ([at, act]) => {
        await until(at);
        await act();
      }),
    ).finally(() => (acting.isOver = true));
    while (!acting.isOver) await lookAt('writing');
    await all;
    const at = Date.now();
    await pulls(await lookAt('writing'), at, 'writing');
  });

  it('no verdict is wrong after a write that the kubelet has not brought to the files yet', async () => {
    await allRun();
    let held: readonly Held[];
    do {
      await sources.write('db');
      ({ held } = await lookAt('written'));
    } while (
      !held.some(({ use, state, isPresent }) => use.by === 'volume' && state === 'unknown' && !isPresent)
    );
    expect(share(held, 'stale')).toBeGreaterThan(0.2);
    expect(share(held, 'unknown')).toBeLessThan(0.5);
  });

  it('no verdict is wrong once the kubelet has refreshed the files', async () => {
    const last = Math.max(...WRITES.map(({ source }) => sources.of(source)?.endedAt ?? 0));
    await pause(Math.max(0, last + (DELAY_S + 3) * 1_000 - Date.now()));
    const at = Date.now();
    const found = await completeLook('refreshed');
    expect(Math.min(share(found.held, 'current'), share(found.held, 'stale'))).toBeGreaterThan(0.2);
    expect(share(found.held, 'unknown')).toBeLessThan(0.2);
    expect(await pulls(found, at, 'refreshed')).toEqual(IMAGE_PULLS.map(() => 'current'));
  });

  it('no verdict is wrong while a part of the pods is replaced, and wait ends when nobody has older data', async () => {
    await sources.write('settings');
    await sources.write('pull');
    const wait = cli.start('wait', 'configmap/settings', '--converged', '--timeout', '4m', ...DELAY);
    const ended = wait.exited.then((code) => ({ code, older: olderOf('settings') }));
    expect(olderOf('settings')).not.toEqual([]);
    await lookAt('replacing');
    await inLanes(REPLACED, AT_ONCE, async ({ name }) => await release.space.delete(`Pod/${name}`));
    await inLanes(REPLACED, AT_ONCE, async (plan) => await create(plan, `${plan.name}-b`));
    while (wait.isRunning) await lookAt('replacing');
    expect(await ended, wait.logs()).toEqual({ code: 0, older: [] });
    await eventually(async () => {
      const names = (await release.space.list('Pod')).map(({ metadata }) => metadata.name);
      return !REPLACED.some(({ name }) => names.includes(name));
    });
    for (const { name } of REPLACED) plans.delete(name);
    const at = Date.now();
    const found = await completeLook('replaced');
    const ofSettings = found.held.filter(({ use }) => use.source === 'settings');
    expect(ofSettings.filter(({ state }) => state !== 'current')).toEqual([]);
    expect(share(found.held, 'unknown')).toBeLessThan(0.2);
    expect(await pulls(found, at, 'replaced')).toContain('current');
  });

  it('every kind of use was held to be current and to be stale', async ({ annotate }) => {
    await annotate(tally.text());
    for (const use of USES) {
      const { current, stale } = tally.ofKind(use);
      expect(Math.min(current, stale), use).toBeGreaterThan(0);
    }
  });
});
