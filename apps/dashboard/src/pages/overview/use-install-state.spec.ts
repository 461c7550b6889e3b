import { inBrowser, mount, requests, text } from '../../testing/mounted.ts';
import { h, type VNode } from 'preact';
import { afterEach, expect, it } from 'vitest';
import { parseRoute, route } from '../../router.ts';
import { news, pulse } from '../../state/live.ts';
import { useInstallState } from './use-install-state.ts';

afterEach(() => void (route.value = parseRoute('')));
inBrowser();

function IsUnused(): VNode {
  return h('p', {}, useInstallState().isUnused ? 'unused' : 'used');
}

it.each([
  ['of none', [], null, 'unused'],
  ['of none, with more to come', [], 'more', 'used'],
  ['that no source reloads', [{ sources: 0 }], null, 'unused'],
  ['that no source reloads, with more to come', [{ sources: 0 }], 'more', 'used'],
  ['of which one is reloaded', [{ sources: 0 }, { sources: 1 }], null, 'used'],
])('an installation with a list of workloads %s', async (_, items, next, expected) => {
  await mount(h(IsUnused, {}));
  for (const { path, answer } of requests)
    await answer(path === '/workloads?limit=200' ? { items, next } : { items: [], next: null });
  expect(text()).toBe(expected);
});

it('failed jobs are asked for every ten seconds and not with news: an answer takes many rows, and no event tells of most of them', async () => {
  await mount(h(IsUnused, {}));
  for (const { answer } of requests) await answer({ items: [], next: null });
  requests.length = 0;
  news.value += 1;
  await mount(h(IsUnused, {}));
  expect(requests).toEqual([]);
  pulse.value += 1;
  await mount(h(IsUnused, {}));
  expect(requests.map(({ path }) => path)).toEqual(['/jobs?state=failed&unresolved=true&limit=200']);
});

it('of a chosen namespace, lists are asked for alone, and jobs of others are left out', async () => {
  function Failed(): VNode {
    const { state } = useInstallState();
    return h('p', {}, (state?.attention ?? []).map(({ key }) => key).join(' '));
  }
  route.value = parseRoute('#/?namespace=shop');
  await mount(h(Failed, {}));
  const lists = requests.filter(({ path }) => !path.startsWith('/jobs'));
  expect(lists).toHaveLength(7);
  expect(lists.filter(({ path }) => !path.includes('?namespace=shop&'))).toEqual([]);
  const job = { queue: 'changes', since: null, endedAt: null, attempts: { made: 3, most: 3 }, error: 'no' };
  const failed = [
    { ...job, id: 'changes:1', subject: 'Secret/shop/db' },
    { ...job, id: 'changes:2', subject: 'Secret/bank/db' },
    { ...job, id: 'notifications:3', subject: null },
  ];
  for (const { path, answer } of requests)
    await answer({ items: path.startsWith('/jobs') ? failed : [], next: null });
  expect(text()).toBe('changes:1');
});
