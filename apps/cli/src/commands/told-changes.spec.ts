import type { ChangeSummary } from '@reroll/shared/api/changes';
import { expect, it } from 'vitest';
import type { AdminEvent } from '../api/event-stream.ts';
import { changeSummary, DB, WEB } from '../testing/answers.ts';
import { ToldChanges } from './told-changes.ts';

const MOST = 100_000;

function one(at: number, states: ChangeSummary['states'] = { pending: 1 }): ChangeSummary {
  return changeSummary({ id: `${at}-0`, states });
}

function outcome(at: number, name: string): AdminEvent {
  const of = { source: DB, cause: 'updated', workload: { ...WEB, name }, state: 'reloaded' } as const;
  const told = { reason: 'AutoReload', at: '2026-11-21T14:56:43.000Z', error: null } as const;
  return { event: 'outcome', id: 'p', data: { ...of, ...told, rolled: [], change: `${at}-0` } };
}

it('of more changes and workloads than are held, nothing is new of the oldest', () => {
  const told = new ToldChanges();
  let most = 0;
  for (let at = 1; at <= MOST + 10; at += 1) {
    expect(told.add(one(at))).toBe(true);
    told.notePrinted(`${at}-0`);
    most = Math.max(most, told.held);
  }
  expect([most, told.held]).toEqual([MOST, MOST]);
  expect([told.add(one(10, { failed: 1 })), told.isPrinted('10-0')]).toEqual([false, true]);
  expect([told.add(one(11, { failed: 1 })), told.isPrinted('11-0')]).toEqual([true, true]);
  // Its workloads are held, too, each once.
  for (let at = 0; at < 50; at += 1) told.follow(outcome(MOST, `w-${at % 5}`));
  expect([told.held, told.add(one(15)), told.isPrinted('15-0')]).toEqual([MOST, false, true]);
  expect(told.add(one(16))).toBe(false);
  expect(told.add(one(16, { failed: 1 }))).toBe(true);
});

it('what is told anew of a change takes the place of what was', () => {
  const told = new ToldChanges();
  told.add(one(1, { pending: 2 }));
  told.follow(outcome(1, 'a'));
  told.follow(outcome(1, 'b'));
  expect([told.held, told.add(one(1, { reloaded: 2 }))]).toEqual([3, false]);
  expect([told.add(one(1, { rolledOut: 2 })), told.held, told.isPrinted('1-0')]).toEqual([true, 1, false]);
});
