import type { Explanation } from '@reroll/shared/api/explain';
import type { WorkloadSummary } from '@reroll/shared/api/workloads';
import { expect, it } from 'vitest';
import { change, DB, status, WEB, workload, workloadSummary } from '../testing/answers.ts';
import { changeFacts, sourceText } from './changes.ts';
import { explanationFacts } from './explanation.ts';
import { statusFacts } from './status.ts';
import { pendingFacts, workloadsView } from './workloads.ts';

it.each([
  [{ mayReload: false, maySteer: false, clusterWide: false }, 'read in your namespaces'],
  [{ mayReload: true, maySteer: false, clusterWide: false }, 'read and request reloads in your namespaces'],
  [
    { mayReload: true, maySteer: true, clusterWide: true },
    'read, request reloads and control queues in all namespaces',
  ],
])('status tells what the caller may do: %j', (rights, text) => {
  const facts = statusFacts(status({ caller: { name: 'alice', mayHold: false, ...rights } }), 0);
  expect(facts).toContainEqual(['You are', `alice, who may ${text}`]);
});

it.each([
  [1, null, '1 change'],
  [2, '1970-01-01T00:00:00.000Z', '2 changes, the oldest 5s ago'],
])('status counts %i changes', (changes, oldest, text) => {
  const facts = statusFacts(status({ history: { changes, oldest } }), 5_000);
  expect(facts).toContainEqual(['History', text]);
});

it.each([
  ['InvalidPattern', false, 'Note'],
  ['Frozen', false, 'Held'],
  ['Contested', true, 'Held'],
] as const)('an explanation tells %s, which stops: %j, as a %s', (reason, stops, label) => {
  const explanation = {
    workload: WEB,
    source: DB,
    reloads: true,
    reason: 'AutoReload',
    record: { recorded: null, current: null, agrees: null },
    due: { detail: 'd' },
    use: { detail: 'd' },
    holds: [{ reason, stops, detail: 'd' }],
  } as unknown as Explanation;
  const facts = explanationFacts(explanation);
  expect(facts.at(-1)).toMatchObject([label, { text: `${reason}: d` }]);
});

it.each([
  [1, '1 workload'],
  [2, '2 workloads'],
])('status counts %i pending', (workloads, text) => {
  const facts = new Map(statusFacts(status({ owed: { workloads, oldest: null } }), 0));
  expect(facts.get('Pending')).toMatchObject({ text });
});

const FAILED = { state: 'failed', reason: 'Invalid', at: '2026-11-21T14:00:00.000Z', error: null } as const;

it.each([
  [{ due: null, stale: false }, 'no'],
  [{ due: null, stale: true }, 'stale'],
  [{ due: 'correct', stale: true }, 'stale'],
  [{ due: 'owed', stale: true }, 'owed'],
  [{ due: 'owed', lastAttempt: FAILED }, 'failed'],
  [{ due: 'correct', lastAttempt: FAILED }, 'failed'],
  [{ due: null, lastAttempt: FAILED }, 'failed'],
] as const)('the list of workloads says what is due: of %j, %s', (given, text) => {
  const column = workloadsView({ now: 0, namespaces: false }).columns.find(({ title }) => title === 'DUE');
  expect(column?.cell(workloadSummary(given))).toMatchObject({ text });
});

it('the list of workloads says why a pending reload failed, and not why the last one was done', () => {
  const column = workloadsView({ now: 0, namespaces: false }).columns.find(({ title }) => title === 'REASON');
  const reason = (given: Partial<WorkloadSummary>) =>
    column?.cell(workloadSummary({ due: 'owed', ...given }));
  expect([reason({}), reason({ lastAttempt: FAILED })]).toEqual(['AutoReload', 'Invalid']);
});

it('a manual reload names who requested it', () => {
  const request = { actor: 'alice', reason: 'rotated' };
  expect(sourceText({ source: null, request })).toBe('(requested by alice)');
  expect(changeFacts(change({ source: null, request }), 0)).toContainEqual([
    'Requested by',
    'alice: rotated',
  ]);
});

it('a workload without a reload in the history may have been reloaded before', () => {
  const column = workloadsView({ now: 0, namespaces: false }).columns.find(
    ({ title }) => title === 'RELOADED',
  );
  expect(column?.cell(workloadSummary({ lastReload: null }))).toBe('<unknown>');
});

it('a list tells that a pending reload is held, and why', () => {
  const columns = new Map(
    workloadsView({ now: 0, namespaces: false }).columns.map(({ title, cell }) => [title, cell] as const),
  );
  const hold = { reason: 'AwaitsApproval', detail: '', id: '1a2b' } as const;
  const told = (due: 'owed' | null): unknown[] =>
    ['DUE', 'REASON'].map((title) => columns.get(title)?.(workloadSummary({ due, hold })));
  expect(told('owed')).toEqual([{ text: 'held', tone: 'waiting' }, 'AwaitsApproval']);
  // The hold ended without a report.
  expect(told(null)).toEqual([{ text: 'no', tone: 'quiet' }, 'AutoReload']);
});

it('a workload that awaits an approval is told with the command that approves it', () => {
  const hold = { reason: 'AwaitsApproval', detail: 'It waits', id: '0123456789' } as const;
  expect(pendingFacts(workload({ due: 'owed', hold }), 0)).toContainEqual([
    'Approve',
    'kubectl reroll approve deployment/web 0123456789 -n shop',
  ]);
});

it.each([
  [FAILED, 'failed 5m ago: Invalid'],
  [{ ...FAILED, state: 'retrying', error: 'KUBE_API 422' }, 'retrying 5m ago: Invalid (KUBE_API 422)'],
] as const)('a workload tells how the last attempt ended: %j', (lastAttempt, text) => {
  const now = Date.parse(FAILED.at) + 300_000;
  const facts = new Map(pendingFacts(workload({ due: 'owed', lastAttempt }), now));
  expect(facts.get('Last attempt')).toMatchObject({ text });
  expect(new Map(pendingFacts(workload({ due: 'owed' }), now)).has('Last attempt')).toBe(false);
});

it('a conflict is told with its cause', () => {
  expect(pendingFacts(workload({ contested: true }), 0)).toContainEqual([
    'Contested',
    'another controller keeps removing its marker',
  ]);
});
