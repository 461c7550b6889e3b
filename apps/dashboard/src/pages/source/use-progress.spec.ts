import { findAll, inBrowser, mount, requests, text } from '../../testing/mounted.ts';
import { h } from 'preact';
import type { Source } from '@reroll/shared/api/workloads';
import { expect, it } from 'vitest';
import { DependentsPanel } from './dependents-panel.tsx';
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

it('a rollout is that of the source only if the workload was last reloaded for it', async () => {
  const at = { at: '', reason: 'Reloaded', change: null };
  const workloads = ['ours', 'theirs', 'own'].map((name) => ({
    kind: 'Deployment',
    namespace: 'shop',
    name,
  }));
  const source = {
    ...SOURCE,
    workloadsInDetail: workloads.map((workload) => ({
      workload,
      how: 'used',
      rolls: true,
      reason: 'AutoReload',
      detail: '',
      recorded: 'a',
      current: 'a',
      exists: true,
      due: null,
      stale: false,
    })),
  } as unknown as Source;
  await mount(h(DependentsPanel, { source, waves: null }));
  const rolled = [['ConfigMap/db', 'Secret/keys'], ['Secret/keys']];
  const items = workloads.map((workload, index) => ({
    ...workload,
    rollout: 'stuck',
    lastReload: rolled[index] ? { ...at, rolled: rolled[index] } : null,
  }));
  await answer('/workloads?rollout=progressing&namespace=shop&limit=200', { items: [], next: null });
  await answer('/workloads?rollout=stuck&namespace=shop&limit=200', { items, next: null });
  const rows = findAll('tr')
    .slice(1)
    .map(({ textContent }) => textContent);
  expect(rows.map((row) => /ours|theirs|own/.exec(row)?.[0])).toEqual(['ours', 'theirs', 'own']);
  expect(rows.map((row) => /Stuck|Current/.exec(row)?.[0])).toEqual(['Stuck', 'Current', 'Current']);
});
