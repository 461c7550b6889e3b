import { describe, expect, it, test } from 'vitest';
import type { WorkloadKey } from '../model.ts';
import { writeRecord } from '../record/record.ts';
import { grantSlots, lastReloadOf, readMostRollouts, usesSlot, type SlotRequests } from './rollout-slots.ts';

const key = (text: string): WorkloadKey => `Deployment/${text}` as WorkloadKey;

/** `a/1 a/2:3`: the workloads that wait, with the limit of their namespace. */
function waitingFor(text: string): SlotRequests {
  const waiting = new Map<string, Map<WorkloadKey, { most?: number }>>();
  for (const word of text.split(' ').filter((each) => each !== '')) {
    const [workload = '', most] = word.split(':');
    const [namespace = ''] = workload.split('/');
    const line = waiting.get(namespace) ?? new Map<WorkloadKey, { most?: number }>();
    waiting.set(namespace, line.set(key(workload), most === undefined ? {} : { most: Number(most) }));
  }
  return waiting;
}

function granted(
  waiting: string,
  used: string,
  total: number,
  given: { count?: number; isShared?: boolean } = {},
): string {
  const keys = used.split(' ').filter((each) => each !== '');
  const of = { used: new Set(keys.map(key)), total, count: 100, isShared: true, ...given };
  return grantSlots(waitingFor(waiting), of)
    .map((workload) => workload.replace('Deployment/', ''))
    .join(' ');
}

describe('slots', () => {
  test.each([
    ['are as many as allowed, the oldest first', 'a/1 a/2 b/1', '', 2, 'a/1 b/1'],
    ['are left if others have them', 'a/1 a/2 a/3', 'b/1 b/2', 3, 'a/1'],
    ['are none if all are used', 'a/1', 'b/1 c/1', 2, ''],
    ['are none if more are used than allowed', 'a/1', 'b/1 b/2', 1, ''],
    ['go to the namespaces in turn', 'a/1 a/2 a/3 b/1 c/1', '', 4, 'a/1 b/1 c/1 a/2'],
    ['go to the namespace that has the fewest', 'a/1 a/2 b/1 b/2', 'a/8 a/9', 5, 'b/1 b/2 a/1'],
    ['are not more than a namespace allows', 'a/1:1 a/2:1 b/1', '', 9, 'a/1 b/1'],
    ['count what a namespace has', 'a/1:2 a/2:2', 'a/9', 9, 'a/1'],
    ['of a namespace have no limit without its own', 'a/1 a/2', 'a/9', Infinity, 'a/1 a/2'],
    ['are kept by who has one, whatever is used', 'a/1 a/2', 'a/1 b/1', 2, 'a/1'],
    ['are not kept while other namespaces wait', 'a/1 a/2 b/1', 'a/1 c/1', 3, 'b/1'],
    ['are kept by who is not the first', 'a/1:1 a/2:1 a/3:1', 'a/2', 9, 'a/2'],
    ['are all but one of a namespace, so that another finds one', 'a/1 a/2 a/3', '', 3, 'a/1 a/2'],
    ['count for no more than all but one of a namespace', 'a/1 b/1 c/1', 'a/6 a/7 a/8 a/9', 3, 'b/1'],
    ['are no more than all but one, whatever the namespace allows', 'a/1:9 a/2:9', 'a/9', 2, ''],
    ['are not kept free for others if there is only one', 'a/1 a/2', '', 1, 'a/1'],
  ])('%s', (_, waiting, used, total, expected) => {
    expect(granted(waiting, used, total)).toBe(expected);
  });

  it('are granted in portions', () => {
    expect(granted('a/1 a/2 a/3', '', Infinity, { count: 2 })).toBe('a/1 a/2');
  });

  it('are all of the namespace in an installation for one', () => {
    expect(granted('a/1 a/2 a/3', 'a/9', 3, { isShared: false })).toBe('a/1 a/2');
  });
});

test.each([
  ['1', 1],
  [' 20 ', 20],
  ['100000', 100_000],
  ['100001', undefined],
  ['0', undefined],
  ['-1', undefined],
  ['1.5', undefined],
  ['many', undefined],
  ['', undefined],
])('%j allows %s rollouts', (text, most) => {
  expect(readMostRollouts(text)).toBe(most);
});

describe('a rollout', () => {
  const reloadedAt = (...times: number[]): string => writeRecord({}, undefined, { times, level: 0 });

  it.each([
    ['uses a slot while it is under way', 'progressing', reloadedAt(100, 1_000), true],
    ['uses none once it is complete', 'complete', reloadedAt(1_000), false],
    ['uses none once it is stuck', 'stuck', reloadedAt(1_000), false],
    ['uses none after ten minutes', 'progressing', reloadedAt(401), false],
    ['uses one for ten minutes', 'progressing', reloadedAt(402), true],
    ['uses one if the clock of the API server is ahead', 'progressing', reloadedAt(1_060), true],
    ['uses none if its record was set to a later time', 'progressing', reloadedAt(1_070), false],
    ['uses none if no reload is recorded', 'progressing', writeRecord({}), false],
    ['uses none without a record', 'progressing', undefined, false],
  ] as const)('%s', (_, state, record, expected) => {
    expect(usesSlot(state, lastReloadOf(record), 1_001_000)).toBe(expected);
  });

  it('is of the last reload', () => {
    expect([lastReloadOf(reloadedAt(100, 1_000)), lastReloadOf(undefined)]).toEqual([1_000, 0]);
  });
});
