import { inBrowser, mount, requests, text } from '../../testing/mounted.ts';
import { h } from 'preact';
import type { Source } from '@reroll/shared/api/workloads';
import { expect, it } from 'vitest';
import { useProgress } from './use-progress.ts';

const SOURCE = {
  kind: 'ConfigMap',
  namespace: 'shop',
  name: 'db',
  workloadsInDetail: [{ due: 'owed' }],
  // The latest change has no result yet.
  history: [{ change: '1-0' }],
} as unknown as Source;

function Latest(): string {
  const { data } = useProgress(SOURCE);
  return [...(data?.latest.values() ?? [])].map(({ state }) => state).join();
}

async function answer(path: string, given: unknown): Promise<void> {
  const request = requests.find((each) => decodeURIComponent(each.path) === path);
  expect(request, requests.map((each) => each.path).join(' ')).toBeDefined();
  await request?.answer(given);
}

inBrowser();

it('shows what became of the workloads at the latest change, not at the latest that has a result', async () => {
  await mount(h(Latest, {}));
  for (const rollout of ['progressing', 'stuck'])
    await answer(`/workloads?rollout=${rollout}&namespace=shop&limit=200`, { items: [], next: null });
  await answer('/changes?source=ConfigMap/shop/db&limit=1', { items: [{ id: '2-0' }], next: null });
  const workload = { kind: 'Deployment', namespace: 'shop', name: 'web' };
  await answer('/changes/2-0', { workloads: [{ workload, state: 'held' }] });
  expect(text()).toBe('held');
});
