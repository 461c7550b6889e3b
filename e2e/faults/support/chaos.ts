import { setTimeout as pause } from 'node:timers/promises';
import type { ComponentStatus } from '../../../tools/cluster/src/cluster.ts';
import { Random } from '../../../tools/simulation/src/random.ts';
import type { App } from '../../support/processes.ts';
import { isWatch, isWrite, PASSED, type Fate } from './api-proxy.ts';
import type { Place } from './place.ts';

/** Does its worst, and has put it right when it resolves. */
type Fault = (place: Place, random: Random) => Promise<unknown>;
/** With weights. */
type Faults = Readonly<Record<string, readonly [weight: number, fault: Fault]>>;

function running({ reroll }: Place): [App, ...App[]] {
  const [first, ...others] = reroll.apps.filter(({ isRunning }) => isRunning);
  if (!first) throw new Error('expected a process that runs');
  return [first, ...others];
}

async function seconds(random: Random, least: number, most: number): Promise<void> {
  await pause(least * 1_000 + random.next() * (most - least) * 1_000);
}

const killOne: Fault = async (place, random) => await random.pick(running(place)).kill();
const stopOne: Fault = async (place, random) => await random.pick(running(place)).stop();

const OF_PROCESSES: Faults = {
  'a process is killed': [4, killOne],
  'a process is told to end': [2, stopOne],
  'a process is frozen': [
    3,
    async (place, random) => {
      const app = random.pick(running(place));
      await app.kill('SIGSTOP');
      await seconds(random, 1, 12);
      await app.kill('SIGCONT');
    },
  ],
  'all processes are killed': [
    1,
    async (place) => await Promise.all(running(place).map((app) => app.kill())),
  ],
};

function killed(component: ComponentStatus['name']): Fault {
  return async ({ cluster }, random) => {
    await cluster.kill(component, 'SIGKILL');
    await seconds(random, 0, 3);
    await cluster.restart(component);
  };
}

function frozen(component: ComponentStatus['name']): Fault {
  return async ({ cluster }, random) => {
    await cluster.kill(component, 'SIGSTOP');
    await seconds(random, 1, 8);
    await cluster.kill(component, 'SIGCONT');
  };
}

function late(link: 'apiLink' | 'redisLink', delayMs: number): Fault {
  return async (place, random) => {
    place[link].delayMs = delayMs;
    await seconds(random, 2, 8);
    place[link].delayMs = 0;
  };
}

const OF_REDIS: Faults = {
  'Redis is killed': [2, killed('redis')],
  'Redis is frozen': [2, frozen('redis')],
  'Redis is emptied': [1, async ({ reroll }) => await reroll.redis.flushall()],
  'Redis is 100 ms away': [2, late('redisLink', 100)],
  'connections to Redis are cut': [2, async ({ redisLink }) => redisLink.cut()],
};

/** So many of the requests meet this fate. */
function disturbed(share: number, fate: Fate, isMeant: typeof isWatch = () => true): Fault {
  return async ({ apiProxy }, random) => {
    // The number of requests is not the seed's.
    const luck = new Random(random.between(1, 1_000_000));
    apiProxy.fateOf = (request) => (isMeant(request) && luck.chance(share) ? fate : PASSED);
    await seconds(random, 2, 8);
    apiProxy.fateOf = () => PASSED;
  };
}

const OF_API_SERVER: Faults = {
  'the API server is killed': [1, killed('apiserver')],
  'the API server is frozen': [2, frozen('apiserver')],
  'the API server is 300 ms away': [2, late('apiLink', 300)],
  'connections to the API server are cut': [2, async ({ apiProxy }) => apiProxy.cut()],
  'requests are lost': [2, disturbed(0.05, { arrives: false, answer: 'reset' })],
  'answers to writes are lost': [2, disturbed(0.3, { answer: 'reset' }, isWrite)],
  'writes are done and take too long': [2, disturbed(0.3, { answer: { status: 504 } }, isWrite)],
  'the API server throttles': [1, disturbed(0.5, { arrives: false, answer: { status: 429, retryAfter: 1 } })],
  'the API server is unavailable': [1, disturbed(1, { arrives: false, answer: { status: 503 } })],
};

/** One list after the other is drawn from, beside those of other lists. */
export const EVERYTHING: readonly Faults[] = [OF_PROCESSES, OF_REDIS, OF_API_SERVER];

/** The first watcher and the first worker are never ended, so that what they leak is seen. */
export const RESTARTS: readonly Faults[] = [
  { 'a process of the second pair is killed': [1, (place, random) => killSecond(place, random)] },
  { 'Redis is killed': [1, killed('redis')] },
  { 'the API server is killed': [1, killed('apiserver')] },
];

async function killSecond({ reroll }: Place, random: Random): Promise<void> {
  const others = [reroll.watchers, reroll.workers].map((apps) =>
    apps.slice(1).findLast(({ isRunning }) => isRunning),
  );
  const [first, ...rest] = others.filter((app) => app !== undefined);
  if (first) await random.pick([first, ...rest]).kill();
}

export interface Turmoil {
  readonly place: Place;
  readonly seed: number;
  readonly forMs: number;
  readonly changesPerSecond: number;
  readonly faults: readonly Faults[];
  /** Seconds between two faults of a list. */
  readonly pauses: readonly [least: number, most: number];
  /** Is told of each fault as it begins. */
  readonly tell: (line: string) => void;
}

/** Changes sources all the time while one fault follows another. All is put right when it resolves. */
export async function turmoil(of: Turmoil): Promise<void> {
  const began = performance.now();
  const isOver = (): boolean => performance.now() - began > of.forMs;
  const disturb = async (faults: Faults, index: number): Promise<void> => {
    const random = new Random(of.seed * 100 + index);
    const bag = Object.entries(faults).flatMap(([name, [weight, fault]]) =>
      Array.from({ length: weight }, () => [name, fault] as const),
    );
    for (;;) {
      await seconds(random, ...of.pauses);
      if (isOver()) return;
      const [name, fault] = bag[random.between(0, bag.length - 1)] ?? [];
      of.tell(`${((performance.now() - began) / 1_000).toFixed(1)} s: ${name}`);
      await fault?.(of.place, random);
    }
  };
  await Promise.all([...of.faults.map(disturb), churn(of, isOver)]);
}

/** A source whose last change is still under way is left alone: nobody could say which was the last. */
async function churn(
  { place: { fleet }, seed, changesPerSecond }: Turmoil,
  isOver: () => boolean,
): Promise<void> {
  const random = new Random(seed);
  const free = [...fleet.members];
  const changes = new Set<Promise<void>>();
  while (!isOver()) {
    const [member] = free.splice(random.between(0, free.length - 1), 1);
    if (member) {
      const change = fleet.change([member]).finally(() => {
        free.push(member);
        changes.delete(change);
      });
      changes.add(change);
    }
    await pause(1_000 / changesPerSecond);
  }
  await Promise.all(changes);
}
