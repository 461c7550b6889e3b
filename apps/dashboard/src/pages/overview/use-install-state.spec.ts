import { inBrowser, mount, requests, text } from '../../testing/mounted.ts';
import { h, type VNode } from 'preact';
import { expect, it } from 'vitest';
import { pulse } from '../../state/live.ts';
import { useInstallState } from './use-install-state.ts';

inBrowser();

function IsEmpty(): VNode {
  return h('p', {}, useInstallState().isEmpty ? 'empty' : 'not empty');
}

it.each([
  [null, 'empty'],
  ['more', 'not empty'],
])('an installation whose first page of workloads is empty, with next %s, is %s', async (next, expected) => {
  await mount(h(IsEmpty, {}));
  for (const { answer } of requests) await answer({ items: [], next });
  expect(text()).toBe(expected);
});

it('failed jobs are asked for without news, too: no event tells of most of them', async () => {
  await mount(h(IsEmpty, {}));
  for (const { answer } of requests) await answer({ items: [], next: null });
  requests.length = 0;
  pulse.value += 1;
  await mount(h(IsEmpty, {}));
  expect(requests.map(({ path }) => path)).toEqual(['/jobs?state=failed&limit=200']);
});
