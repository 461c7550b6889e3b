import type { WorkloadRow } from '@reroll/core/state/rows';
import type { SourceKey, WorkloadKey } from '@reroll/core/model';
import { EXPLAIN_SETTINGS } from '@reroll/core/testing/explaining';
import { sourceRow, workloadRow } from '@reroll/core/testing/rows';
import type { Request } from 'express';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { anonymousReader } from '../auth/static-tokens.ts';
import type { Consumers } from '../consumers/consumers.ts';
import type { LiveStates } from '../history/live-states.ts';
import type { ReadModel } from '../history/read-model.ts';
import type { ReloadJobs } from '../history/reload-jobs.ts';
import type { ProblemError } from '../http/problem-error.ts';
import { begin } from '../http/request-context.ts';
import type { Cursors } from '../http/cursors.ts';
import type { ObjectFacts } from '../objects/object-facts.ts';
import type { WavePlans } from '../objects/wave-plans.ts';
import type { ShownHashes } from '../shown-hashes.ts';
import { LongAnswers } from '../why/long-answers.ts';
import { SourcesController } from './sources.controller.ts';
import { WorkloadsController } from './workloads.controller.ts';

const MANY = 60;
const NUMBERS = Array.from({ length: MANY }, (_, n) => n);
const WEB: WorkloadKey = 'Deployment/shop/web';
const DB: SourceKey = 'ConfigMap/shop/db';

/** Counts units of work: all, and the most in one turn of the event loop. */
class Work {
  all = 0;
  most = 0;
  #now = 0;

  add(): void {
    this.all += 1;
    this.#now += 1;
    this.most = Math.max(this.most, this.#now);
  }

  turn(): void {
    this.#now = 0;
  }
}

/** Of hashes, of which each explained pair shows one at least. */
let shows: Work;
/** Of the dependencies of a row. */
let reads: Work;
let looking: NodeJS.Immediate;

function look(): void {
  shows.turn();
  reads.turn();
  looking = setImmediate(look);
}

beforeEach(() => {
  [shows, reads] = [new Work(), new Work()];
  look();
  let time = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => (time += 5));
});
afterEach(() => {
  clearImmediate(looking);
  vi.restoreAllMocks();
});

function countedRow(): WorkloadRow {
  const get = (): string[] => {
    reads.add();
    return ['ConfigMap/s1', 'ConfigMap/other'];
  };
  return Object.defineProperty(workloadRow(), 'dependencies', { get });
}

function controllers(users: ReadonlyMap<WorkloadKey, WorkloadRow>) {
  const names = NUMBERS.map((n) => `ConfigMap/c${n}` as const);
  const row = workloadRow({ uses: names, dependencies: names });
  const asked: string[] = [];
  const sources = NUMBERS.map((n) => ({ key: `ConfigMap/shop/s${n}`, row: sourceRow(5, 'a'), users }));
  const facts = {
    settings: async () => EXPLAIN_SETTINGS,
    workloadFacts: async (key: WorkloadKey) => {
      asked.push(key);
      return { key: WEB, row, due: null, rollout: undefined };
    },
    sourceFacts: async ([key]: SourceKey[]) =>
      key === DB ? [{ key: DB, row: sourceRow(5, 'a'), users }] : sources,
    sourceRows: async (keys: SourceKey[]) => new Map(keys.map((key) => [key, sourceRow(5, 'a')])),
    sources: { snapshot: async () => ({ places: sources.map(({ key }) => key), marks: new Map() }) },
  } as unknown as ObjectFacts;
  const outcomesFrom = (namespace: string): number => (namespace === 'shop' ? 2_000 : 9_000);
  const outcomes = [{ id: '1000-0' }];
  const join = { changesOf: () => [], workload: () => undefined, outcomes, outcomesFrom };
  const model = { contents: { join } } as unknown as ReadModel;
  const shown = (): string => {
    shows.add();
    return 'shown';
  };
  const hashes = { shown } as unknown as ShownHashes;
  const cursors = { read: () => undefined, next: () => null } as unknown as Cursors;
  const jobs = { of: async () => new Map() } as unknown as ReloadJobs;
  const live = { look: async () => undefined } as unknown as LiveStates;
  const [consumers, plans] = [{} as Consumers, {} as WavePlans];
  const long = new LongAnswers(60_000);
  return {
    asked,
    workloads: new WorkloadsController(cursors, model, facts, jobs, live, hashes, long),
    sources: new SourcesController(cursors, model, facts, live, hashes, consumers, plans, long),
  };
}

const USERS = new Map(NUMBERS.map((n) => [`Deployment/shop/w${n}` as const, workloadRow()] as const));

function input<Input>(asked: object, from: { gone?: AbortSignal; address?: string } = {}): Input {
  const { gone = new AbortController().signal, address = '10.0.0.1' } = from;
  const caller = { ...anonymousReader(), seesAll: async () => true };
  const request = {} as Request;
  begin(request, { id: '1', startedAt: 0, address, caller });
  return { params: {}, query: {}, caller, request, gone, ...asked } as Input;
}

const GET_WEB = { params: { kind: 'Deployment', namespace: 'shop', name: 'web' } } as const;
const GET_DB = { params: { kind: 'ConfigMap', namespace: 'shop', name: 'db' } } as const;

it('the sources of a workload are explained in turns with other requests', async () => {
  const { sourcesInDetail } = await controllers(USERS).workloads.get(input(GET_WEB));
  expect(sourcesInDetail).toHaveLength(MANY);
  expect(shows.all).toBeGreaterThanOrEqual(MANY);
  expect(shows.most).toBeLessThanOrEqual(4);
});

it('so are the workloads of a source', async () => {
  const { workloadsInDetail } = await controllers(USERS).sources.get(input(GET_DB));
  expect(workloadsInDetail).toHaveLength(MANY);
  expect(shows.all).toBeGreaterThanOrEqual(MANY);
  expect(shows.most).toBeLessThanOrEqual(4);
});

it('the dependencies of each user are read once for all sources of a page, and in turns', async () => {
  const users = new Map([...USERS.keys()].map((key) => [key, countedRow()] as const));
  const { items } = await controllers(users).sources.list(input({ query: { limit: MANY } }));
  expect(items.map(({ workloads }) => workloads)).toEqual(NUMBERS.map((n) => (n === 1 ? MANY : 0)));
  expect(reads).toMatchObject({ all: MANY });
  expect(reads.most).toBeLessThanOrEqual(2);
});

it('a second request of a caller begins when the first is over', async () => {
  const { workloads, asked } = controllers(USERS);
  const first = workloads.get(input(GET_WEB));
  const second = workloads.get(input(GET_WEB));
  await Promise.race([first, new Promise((resolve) => setImmediate(resolve))]);
  expect(asked).toEqual([WEB]);
  await Promise.all([first, second]);
  expect(asked).toEqual([WEB, WEB]);
});

it('callers without a token do not wait for those at other addresses', async () => {
  const { workloads, asked } = controllers(USERS);
  const first = workloads.get(input(GET_WEB));
  const other = workloads.get(input(GET_WEB, { address: '10.0.0.2' }));
  await new Promise((resolve) => setImmediate(resolve));
  expect(asked).toEqual([WEB, WEB]);
  await Promise.all([first, other]);
});

it('more requests of a caller than may wait are refused, and later ones are answered', async () => {
  const { workloads } = controllers(USERS);
  const ask = async (): Promise<string> =>
    await workloads.get(input(GET_WEB)).then(
      () => 'answered',
      (error: ProblemError) => error.code,
    );
  const answers = await Promise.all(Array.from({ length: 53 }, ask));
  expect(answers).toEqual([...Array(51).fill('answered'), 'TooManyRequests', 'TooManyRequests']);
  expect(await ask()).toBe('answered');
});

it('work for a client that has gone ends at the next turn', async () => {
  const gone = new AbortController();
  const asked = controllers(USERS).workloads.get(input(GET_WEB, { gone: gone.signal }));
  setImmediate(() => gone.abort());
  await expect(asked).rejects.toMatchObject({ code: 'Unavailable' });
  expect(shows.all).toBeLessThan(MANY);
});

it('a workload tells when the history of its namespace begins, to callers who see all of it', async () => {
  const ask = async (seesAll: boolean): Promise<string | undefined> => {
    const caller = { ...anonymousReader(), seesAll: async () => seesAll, sees: async () => true };
    return (await controllers(USERS).workloads.get(input({ ...GET_WEB, caller }))).historyFrom;
  };
  expect([await ask(true), await ask(false)]).toEqual(['1970-01-01T00:00:02.000Z', undefined]);
});
