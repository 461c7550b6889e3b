import { find, findAll, inBrowser, mount, requests, text } from '../../testing/mounted.ts';
import { Fragment, h } from 'preact';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Status } from '@reroll/shared/api/status';
import { OpenAction } from '../../components/action.tsx';
import { RetryAction } from '../../components/retry-action.tsx';
import { status } from '../../state/status.ts';
import { Workload } from './workload.tsx';

inBrowser();

beforeEach(() => void (status.value = { caller: { mayHold: true, mayReload: true } } as Status));
afterEach(() => void (status.value = undefined));

const WORKLOAD = {
  podAnnotations: {},
  history: [],
  sources: 0,
  sourcesInDetail: [],
  hold: null,
  lastReload: null,
  generation: 1,
  job: null,
  due: null,
  stale: false,
  lastAttempt: null,
  rollout: 'complete',
  leftAlone: null,
  contested: false,
  pausedUntil: null,
  rolloutInDetail: { state: 'complete', code: 'Complete', conditions: [] },
};

it.each([
  ['2000-01-01T00:00:00Z; over', 'Freeze'],
  ['2999-12-31T00:00:00Z; year-end', 'Unfreeze'],
  ['; until somebody ends it', 'Unfreeze'],
])('a workload with the freeze %j is offered: %s', async (freeze, offered) => {
  await mount(h(Workload, { of: { kind: 'Deployment', namespace: 'shop', name: 'web' } }));
  await requests[0]?.answer({ ...WORKLOAD, annotations: { 'reroll.dev/freeze': freeze } });
  expect(find('button', offered).textContent, text()).toBe(offered);
});

it.each([
  ['active', 'Running', 0],
  ['waiting', 'Waiting', 0],
  ['delayed', 'Delayed', 1],
])('a job that is %s is told as %s, with %d buttons to retry it', async (state, word, count) => {
  await mount(h(Workload, { of: { kind: 'Deployment', namespace: 'shop', name: 'web' } }));
  await requests[0]?.answer({
    ...WORKLOAD,
    annotations: {},
    job: { id: '7', state, until: null, attempts: 1 },
  });
  expect(text()).toContain(word);
  const retries = findAll('button').filter(
    ({ textContent, attributes }) => textContent === 'Retry' && attributes.get('type') === 'button',
  );
  expect(retries).toHaveLength(count);
});

it('whoever retries a job is told that holds stay', async () => {
  await mount(h(Fragment, {}, h(RetryAction, { id: 'reloads:7', state: 'failed' }), h(OpenAction, {})));
  await find('button', 'Retry').fire('click');
  expect(find('dialog').textContent).toContain('The retry bypasses no holds.');
});
