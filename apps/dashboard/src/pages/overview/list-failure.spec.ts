import { describe, expect, it } from 'vitest';
import type { CallError } from '../../api/client.ts';
import { failureOf, isTold, type AskedList } from './list-failure.ts';

const refused = { status: 403 } as CallError;
const noon = new Date('2026-11-21T12:00:00Z');
const later = new Date('2026-11-21T12:30:00Z');
const known: AskedList = { what: 'stuck workloads', data: {}, knownAt: later, error: undefined };
const loading: AskedList = {
  what: 'pending workloads',
  data: undefined,
  knownAt: undefined,
  error: undefined,
};
const failed: AskedList = { what: 'failed jobs', data: undefined, knownAt: undefined, error: refused };
const old: AskedList = { what: 'halted changes', data: {}, knownAt: noon, error: refused };

describe('lists of which some fail', () => {
  it('are told as soon as each has answered or failed, unless none has answered', () => {
    expect([[known], [known, failed], [known, loading], [failed], [failed, loading]].map(isTold)).toEqual([
      true,
      true,
      false,
      false,
      false,
    ]);
  });

  it('are named, and it is told since when the oldest of them is known', () => {
    expect(failureOf([known, loading])).toBeUndefined();
    expect(failureOf([known, failed, old])).toEqual({
      error: refused,
      what: 'failed jobs, halted changes',
      knownAt: undefined,
    });
    expect(failureOf([known, old])).toMatchObject({ what: 'halted changes', knownAt: noon });
    expect(failureOf([{ ...old, knownAt: later }, old])).toMatchObject({ knownAt: noon });
    expect(failureOf([failed])).toMatchObject({ what: 'the state of the cluster' });
  });
});
