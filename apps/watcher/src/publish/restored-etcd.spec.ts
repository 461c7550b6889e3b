import { describe, expect, test } from 'vitest';
import type { Clock } from '@reroll/kube/client/clock';
import { beginAnew, type RestoredEtcdContext } from './restored-etcd.ts';

const RESTORED = { seenBefore: '900', seenNow: '500', fence: '500' };

/** A clock whose pauses end at once. */
const AT_ONCE: Clock = {
  now: () => 0,
  after: (_, action) => {
    queueMicrotask(action);
    return () => undefined;
  },
};

/** A context that records the calls in order; the first `failures` resets fail. */
function contextOf(failures: number): { context: RestoredEtcdContext; done: string[] } {
  const done: string[] = [];
  const ending = new AbortController();
  const metadata = { uid: 'u', resourceVersion: '500' };
  const context: RestoredEtcdContext = {
    client: { get: <T>() => Promise.resolve({ status: 200, body: { metadata } as T, date: 0 }) },
    catalog: {
      reset: (fence) => {
        done.push(`reset ${fence}`);
        return done.length > failures ? Promise.resolve() : Promise.reject(new Error('no Redis'));
      },
    },
    events: {
      record: (event) => void done.push('reason' in event ? event.reason : 'another'),
      flush: () => Promise.resolve(),
    },
    options: { podNamespace: 'reroll', leaseName: 'watcher' },
    lifecycle: {
      signal: ending.signal,
      stop: (reason, code) => {
        done.push(`${reason}: ${code}`);
        ending.abort();
        return Promise.resolve(code ?? 0);
      },
    },
    metrics: { etcdRestores: { inc: () => void done.push('counted') } as never },
    log: { warning: () => undefined, failure: () => undefined },
    clock: AT_ONCE,
  };
  return { context, done };
}

describe('a watcher that notices that etcd was restored', () => {
  test('counts it, resets the catalog, records an Event and ends with exit code 1', async () => {
    const { context, done } = contextOf(0);
    await beginAnew(context, RESTORED);
    expect(done).toEqual([
      'counted',
      'reset 500',
      'EtcdRestored',
      'etcd was restored to an earlier state: 1',
    ]);
  });

  test('tries again while Redis is away, and ends in the end: the next start finds what is left', async () => {
    const { context, done } = contextOf(1_000);
    await beginAnew(context, RESTORED);
    const tries = done.filter((each) => each.startsWith('reset')).length;
    expect(tries).toBeGreaterThan(3);
    expect(tries).toBeLessThan(30);
    expect(done.at(-1)).toBe('etcd was restored to an earlier state: 1');
  });
});
