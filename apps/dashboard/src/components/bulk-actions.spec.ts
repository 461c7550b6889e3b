import { find, findAll, inBrowser, mount as mountAlone, requests, text } from '../testing/mounted.ts';
import { Fragment, h, type ComponentChild } from 'preact';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { BulkItem } from '@reroll/shared/api/bulk';
import type { Status } from '@reroll/shared/api/status';
import type { Query } from '../router.ts';
import { deeds } from '../state/live.ts';
import { status } from '../state/status.ts';
import { OpenAction } from './action.tsx';
import { BulkActions, BulkRetry } from './bulk-actions.tsx';

inBrowser();

const MAY = { mayHold: true, mayReload: true };
const SELECTOR = { namespace: 'shop', due: 'owed' };
const PLAN = '0c6f2a4be1d94f37a5c8e2b1907d3f64';

beforeEach(() => void (status.value = { caller: MAY } as Status));
afterEach(() => void (status.value = undefined));

async function mount(selector: Query = SELECTOR): Promise<void> {
  await show(h(BulkActions, { selector }));
}

/** As the page and the frame around it. */
async function show(shown: ComponentChild): Promise<void> {
  await mountAlone(h(Fragment, {}, shown, h(OpenAction, {})));
}

const labels = (): string[] => findAll('button').map(({ textContent }) => textContent);
const lines = (): string[] => findAll('li').map(({ textContent }) => textContent);

function item(at: number, more: Partial<BulkItem> = {}): BulkItem {
  const target = `Deployment/shop/web-${at}`;
  return { target, id: null, result: 'planned', accepted: null, problem: null, ...more };
}

const many = (count: number, more: Partial<BulkItem> = {}): BulkItem[] =>
  Array.from({ length: count }, (_, at) => item(at, more));

async function answer(items: readonly BulkItem[], plan = PLAN): Promise<void> {
  await requests.at(-1)?.answer({ plan, dryRun: true, items });
}

/** Opens the dialog, and its dry run is answered. */
async function plan(label: string, items: readonly BulkItem[]): Promise<void> {
  await find('button', label).fire('click');
  await answer(items);
}

async function because(reason: string): Promise<void> {
  await find('input', '', find('label', 'Reason').attributes.get('for')).fire('input', reason);
  await find('form').fire('submit');
}

const REFUSED = {
  result: 'refused',
  problem: { code: 'Forbidden', detail: 'expected the right to patch Deployment/shop/web-9' },
} as const;

it('a dry run is looked at, with what would be refused and why; exactly that is done, and each result told', async () => {
  await mount();
  const before = deeds.value;
  await find('button', 'Reload all').fire('click');
  expect(find('p', 'Dry run').textContent).toBe('Dry run: checking which workloads match…');
  await because('new CA');
  expect(requests.map(({ path, body }) => [path, body])).toEqual([
    ['/bulk/reload', { reason: 'dry run', dryRun: true, selector: SELECTOR, limit: 100 }],
  ]);
  await answer([...many(9), item(9, REFUSED)]);
  const told = find('p', 'Dry run');
  expect([told.attributes.get('role'), told.textContent]).toEqual([
    'status',
    'Dry run: 10 workloads match, 1 refused.',
  ]);
  expect(lines()).toHaveLength(8);
  expect(lines()[0]).toContain('Deployment/shop/web-9You need the right to patch Deployment/shop/web-9.');
  expect(labels()).toContain('Show 2 more of 10 workloads');
  expect(text()).toContain('At most 100 at once: if more match, nothing is done.');

  await because('new CA');
  expect(requests).toHaveLength(2);
  expect(requests[1]).toMatchObject({
    path: '/bulk/reload',
    body: { reason: 'new CA', selector: SELECTOR, limit: 100, plan: PLAN },
    key: expect.stringMatching(/^[0-9a-f]{32}$/) as string,
  });
  const lost = { code: 'Unavailable', detail: 'redis did not answer' } as const;
  const rest = [item(7, { result: 'notStarted' }), item(8, { result: 'failed', problem: lost })];
  await answer([...many(7, { result: 'done' }), ...rest, item(9, REFUSED)]);
  const summary = find('p', '10 workloads: 1 failed, 1 refused, 1 not started, 7 done.');
  expect(document.activeElement).toBe(summary);
  expect(lines()[0]).toContain('Deployment/shop/web-8Redis did not answer.');
  expect(deeds.value).toBe(before + 1);

  await find('button', 'Do the rest').fire('click');
  expect(requests[2]).toMatchObject({ body: requests[1]?.body, key: requests[1]?.key });
  await answer(many(10, { result: 'done' }));
  expect(text()).toContain('10 workloads: 10 done.');
  expect(labels()).not.toContain('Do the rest');
  await find('button', 'Close').fire('click');
  expect(findAll('dialog')).toEqual([]);
});

it('the rest that cannot be done either is told, beside what is done', async () => {
  await mount();
  await plan('Reload all', many(2));
  await because('new CA');
  await answer([item(0, { result: 'done' }), item(1, { result: 'notStarted' })]);
  await find('button', 'Do the rest').fire('click');
  await requests.at(-1)?.answer({ title: 'Redis cannot be reached' }, 503);
  expect(text()).toContain('2 workloads: 1 not started, 1 done.');
  expect(text()).toContain('Redis cannot be reached.');
  await find('button', 'Do the rest').fire('click');
  await requests.at(-1)?.fail();
  expect(text()).toContain('You can safely press the button again: it is not done twice.');
  await find('button', 'Do the rest').fire('click');
  await requests.at(-1)?.answer({ title: 'Forbidden', detail: 'expected a right.' }, 403);
  expect(text()).toContain('You may not do this.');
  expect(labels()).toContain('Do the rest');
});

describe('nothing can be sent', () => {
  it.each([
    ['if nothing matches', [], 'Dry run: no workload matches.'],
    ['if all would be refused', [item(9, REFUSED)], 'Dry run: 1 workload matches, 1 refused.'],
  ])('%s', async (_why, items, told) => {
    await mount();
    await plan('Reload all', items);
    expect(text()).toContain(told);
    await because('new CA');
    expect(requests).toHaveLength(1);
  });

  it('if more match than the API does at once, until a dry run is repeated', async () => {
    await mount();
    await find('button', 'Reload all').fire('click');
    const detail = 'more than 100 match, which is the limit of this request; nothing was done';
    await requests[0]?.answer({ title: 'The current state does not allow it', detail }, 409);
    expect(text()).toContain('More than 100 match, which is the limit of this request; nothing was done.');
    await because('new CA');
    expect(requests).toHaveLength(1);
    await find('button', 'Repeat the dry run').fire('click');
    await answer(many(1));
    await because('new CA');
    expect(requests.at(-1)?.body).toMatchObject({ plan: PLAN });
  });
});

it('what is done is what the person looks at, although the filters have changed meanwhile', async () => {
  await mount();
  await plan('Reload all', many(1));
  await mount({ namespace: 'bank' });
  await because('new CA');
  expect(requests.at(-1)?.body).toMatchObject({ selector: SELECTOR, plan: PLAN });
});

describe('what was sent for the last filters and is not answered yet', () => {
  async function sendAndFilter(): Promise<void> {
    await mount();
    await plan('Reload all', many(1));
    await because('new CA');
    await find('button', 'Cancel').fire('click');
    await mount({ namespace: 'bank' });
    await plan('Reload all', many(1));
  }

  it('does not take the place of what the person looks at', async () => {
    await sendAndFilter();
    await requests[1]?.answer({ plan: PLAN, dryRun: false, items: many(1, { result: 'done' }) });
    expect(find('dialog').textContent).toContain('Dry run: 1 workload matches.');
  });

  it('has another key, although the plan is the same', async () => {
    await sendAndFilter();
    await requests[1]?.fail();
    await because('new CA');
    expect(requests[3]?.body).toMatchObject({ selector: { namespace: 'bank' }, plan: PLAN });
    expect(requests[3]?.key).not.toBe(requests[1]?.key);
  });
});

it('an earlier dry run that is answered late is not what the person looks at', async () => {
  await mount();
  await find('button', 'Reload all').fire('click');
  await find('button', 'Cancel').fire('click');
  await plan('Reload all', many(2));
  await requests[0]?.answer({ plan: 'late', dryRun: true, items: many(3) });
  expect(text()).toContain('Dry run: 2 workloads match.');
});

it('an approval is of what is shown', async () => {
  await mount();
  await plan('Approve all', [item(0, { id: '3f9a0c77d1' })]);
  expect(lines()[0]).toContain('3f9a0c77d1 Deployment/shop/web-0');
  await because('looked at it');
  expect(requests.at(-1)).toMatchObject({ path: '/bulk/approve', body: { plan: PLAN } });
});

describe('a freeze with an end', () => {
  const END = { until: new Date('2099-12-31T00:00').toISOString() };

  async function freeze(until = '2099-12-31T00:00'): Promise<void> {
    await mount();
    await plan('Freeze all', many(2));
    const field = findAll('input').find(({ attributes }) => attributes.get('type') === 'datetime-local');
    await field?.fire('input', until);
    await because('year-end');
  }

  it('has the plan of the same workloads with this end', async () => {
    await freeze();
    expect(requests.at(-1)?.body).toMatchObject({ ...END, dryRun: true, selector: SELECTOR });
    await answer(many(2), 'of the end');
    expect(requests.at(-1)?.body).toMatchObject({ ...END, plan: 'of the end', reason: 'year-end' });
    await requests.at(-1)?.fail();
    await find('form').fire('submit');
    expect(requests.at(-1)).toMatchObject({ body: requests.at(-2)?.body, key: requests.at(-2)?.key });
  });

  it('of a year that has a digit too many does not end the dialog', async () => {
    await freeze('20261-12-31T00:00');
    expect(requests).toHaveLength(1);
    expect(labels()).not.toContain('Sending…');
  });

  it('is not made if others match by now', async () => {
    await freeze();
    await answer(many(3), 'of the end');
    expect(requests).toHaveLength(2);
    expect(text()).toContain('Something else matches now.');
    await find('button', 'Repeat the dry run').fire('click');
    await answer(many(3), 'of others');
    expect(text()).not.toContain('Something else matches now.');
  });
});

it.each([
  ['without a filter, which would be everything', { namespace: '', due: '' }, MAY],
  ['with a filter that the API cannot select by', { ...SELECTOR, source: 'Secret/shop/db' }, MAY],
  ['to whoever may not', SELECTOR, { mayHold: false, mayReload: false }],
])('is not offered %s', async (_why, selector, caller) => {
  status.value = { caller } as Status;
  await mount(selector);
  expect(labels()).toEqual([]);
});

it('whoever may only reload is offered only that', async () => {
  status.value = { caller: { ...MAY, mayHold: false } } as Status;
  await mount();
  expect(labels()).toEqual(['Reload all']);
});

it.each([
  [{ state: 'failed', queue: 'reloads' }, ['Retry all']],
  [{ state: 'failed' }, []],
  [{ queue: 'reloads' }, []],
  [{ state: 'failed', queue: 'reloads', unresolved: 'true' }, []],
])('failed jobs of a queue are retried, where the list shows just these: %o', async (query, expected) => {
  await show(h(BulkRetry, { query }));
  expect(labels()).toEqual(expected);
  if (expected.length === 0) return;
  await plan('Retry all', [item(0, { id: 'reloads:7' })]);
  expect(text()).toContain('Dry run: 1 job matches.');
  await because('it is back');
  expect(requests.at(-1)).toMatchObject({
    path: '/bulk/retry',
    body: { selector: { queue: 'reloads' }, plan: PLAN },
  });
});
