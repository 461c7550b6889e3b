import { createRegistry } from '@reroll/shared/platform/metrics/registry';
import { workerMetrics } from '@reroll/shared/platform/metrics/worker';
import { expect, it, onTestFinished, vi } from 'vitest';
import { LastFailures } from './last-failures.ts';

const NAME = 'reroll_namespace_last_failed_reload_timestamp_seconds';

it('the 20 namespaces in which reloads failed last have a series, and the others have one together', async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  onTestFinished(() => void vi.useRealTimers());
  const registry = createRegistry();
  const failures = new LastFailures(workerMetrics(registry));
  const failed = (namespace: string, at: number): void => {
    vi.setSystemTime(at * 1_000);
    failures.failed(namespace);
  };
  const series = async (): Promise<[unknown, number][]> => {
    const { values = [] } = (await registry.getSingleMetric(NAME)?.get()) ?? {};
    return values.map(({ labels, value }) => [labels['workload_namespace'], value]);
  };
  expect(await series()).toEqual([]);
  for (let n = 0; n < 20; n += 1) failed(`ns-${n}`, n);
  failed('ns-0', 30);
  failed('other', 31);
  const all = await series();
  expect(all).toHaveLength(21);
  expect(all).toContainEqual(['_other', 1]);
  expect(all).toContainEqual(['ns-0', 30]);
  expect(all).toContainEqual(['other', 31]);
  expect(all.map(([namespace]) => namespace)).not.toContain('ns-1');
  for (let n = 100; n < 1_100; n += 1) failed(`ns-${n}`, n);
  expect(await series()).toHaveLength(21);
  expect(await series()).toContainEqual(['_other', 1_079]);
});
