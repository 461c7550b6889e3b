import type { WorkloadKey } from '@reroll/core/model';
import type { PodSeen } from '@reroll/core/rollouts/pod-troubles';
import { RolloutTracker, type SeenRollout } from '@reroll/core/rollouts/rollout-tracker';
import type { KubeClient } from '@reroll/kube/client/connection';
import { createLogger } from '@reroll/shared/platform/logging/logging';
import { watcherMetrics } from '@reroll/shared/platform/metrics/watcher';
import { Registry } from 'prom-client';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { StuckPods } from './stuck-pods.ts';

const WEB = 'Deployment/shop/web';
const API = 'Deployment/shop/api';
const POD: PodSeen = {
  metadata: { name: 'web-1' },
  status: { containerStatuses: [{ name: 'app', state: { waiting: { reason: 'ErrImagePull' } } }] },
};

let tracker: RolloutTracker;
let registry: Registry;
let isLeader: boolean;
let asked: {
  path: string;
  query?: unknown;
  timeoutMs?: number | undefined;
  maxBytes?: number | undefined;
}[];
let answer: () => unknown;
let pods: StuckPods;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] });
  tracker = new RolloutTracker();
  registry = new Registry();
  isLeader = true;
  asked = [];
  answer = () => ({ items: [POD] });
  const get = async (path: string, { query, timeoutMs, maxBytes }: Omit<(typeof asked)[0], 'path'> = {}) => {
    asked.push({ path, query, timeoutMs, maxBytes });
    return { status: 200, body: answer(), date: undefined };
  };
  pods = new StuckPods({
    client: { get: get as KubeClient['get'] },
    tracker,
    metrics: watcherMetrics(registry),
    log: createLogger({ format: 'text', level: 'fatal' }),
    isLeader: () => isLeader,
    changed: () => undefined,
  });
});

afterEach(async () => {
  await pods.stop();
  vi.useRealTimers();
});

function sees(state: SeenRollout['state'], workload: WorkloadKey = WEB): void {
  const counts = { updated: 1, ready: 0, desired: 1 };
  const code = state === 'stuck' ? 'ProgressDeadlineExceeded' : 'Updating';
  const seen = { workload, generation: 1, state, code, ...counts, conditions: [] } as const;
  tracker.seen(seen, { begins: true, now: Date.now() });
  if (state === 'stuck') pods.want(workload, 'app=web');
}

async function counted(result: string): Promise<number | undefined> {
  const { values = [] } = (await registry.getSingleMetric('reroll_pod_reads_total')?.get()) ?? {};
  return values.find(({ labels }) => labels.result === result)?.value;
}

/** Resolves when everything that is due now is done. */
async function settled(): Promise<void> {
  await vi.advanceTimersByTimeAsync(0);
  for (let turn = 0; turn < 10; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

test('the pods of a workload are read once it is stuck: one short list by its own selector', async () => {
  sees('stuck');
  await settled();
  expect(asked).toEqual([
    {
      path: '/api/v1/namespaces/shop/pods',
      query: { labelSelector: 'app=web', limit: 50 },
      timeoutMs: 5_000,
      maxBytes: 4_194_304,
    },
  ]);
  expect(tracker.tracked.get(WEB)?.pods).toMatchObject([{ name: 'web-1', reason: 'ErrImagePull' }]);
  expect(await counted('success')).toBe(1);
});

test('they are read again when it is written anew, once a minute however often that is', async () => {
  sees('stuck');
  await settled();
  for (let time = 0; time < 5; time += 1) sees('stuck');
  await settled();
  await vi.advanceTimersByTimeAsync(59_000);
  await settled();
  expect(asked).toHaveLength(1);
  await vi.advanceTimersByTimeAsync(1_000);
  await settled();
  expect(asked).toHaveLength(2);
  await vi.advanceTimersByTimeAsync(600_000);
  await settled();
  expect(asked).toHaveLength(2);
});

test('a minute holds too for one that gets on and is stuck again', async () => {
  sees('stuck');
  await settled();
  sees('progressing');
  sees('stuck', API);
  await settled();
  sees('stuck');
  await settled();
  expect(asked).toHaveLength(2);
});

test('a list that fails is counted and not repeated, and the others are read', async () => {
  answer = () => {
    if (asked.length === 1) throw new Error('forbidden');
    return { items: [POD] };
  };
  sees('stuck');
  sees('stuck', API);
  await settled();
  expect(tracker.tracked.get(WEB)).toMatchObject({ state: 'stuck' });
  expect(tracker.tracked.get(WEB)?.pods).toBeUndefined();
  expect(tracker.tracked.get(API)?.pods).toHaveLength(1);
  expect([await counted('error'), await counted('success')]).toEqual([1, 1]);
  await vi.advanceTimersByTimeAsync(600_000);
  await settled();
  expect(asked).toHaveLength(2);
});

test('namespaces take turns, however many are stuck in one', async () => {
  for (const name of ['a', 'b', 'c']) sees('stuck', `Deployment/many/${name}`);
  sees('stuck');
  await settled();
  const namespaces = asked.map(({ path }) => path.split('/')[4]);
  expect(namespaces).toEqual(['many', 'shop', 'many', 'many']);
});

test('a standby reads none; once it leads it reads those of what is stuck still', async () => {
  isLeader = false;
  sees('stuck');
  sees('stuck', API);
  await settled();
  expect(asked).toEqual([]);
  sees('progressing');
  isLeader = true;
  pods.kick();
  await settled();
  expect(asked).toHaveLength(1);
  expect(tracker.tracked.get(API)?.pods).toHaveLength(1);
});

test('a standby keeps nothing of workloads that no longer exist', async () => {
  isLeader = false;
  sees('stuck');
  sees('stuck', API);
  pods.gone(WEB);
  pods.prune((workload) => workload !== API);
  isLeader = true;
  pods.kick();
  await settled();
  expect(asked).toEqual([]);
});
