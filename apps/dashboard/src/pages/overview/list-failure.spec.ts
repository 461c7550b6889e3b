import { describe, expect, it } from 'vitest';
import type { CallError } from '../../api/client.ts';
import { failureOf, isTold, type AskedList } from './list-failure.ts';

const refused = { status: 403 } as CallError;
const known: AskedList = { what: 'stuck workloads', data: {}, error: undefined };
const loading: AskedList = { what: 'pending workloads', data: undefined, error: undefined };
const failed: AskedList = { what: 'failed jobs', data: undefined, error: refused };
const old: AskedList = { what: 'halted changes', data: {}, error: refused };

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

  it('are named, and what was known of them is old', () => {
    expect(failureOf([known, loading])).toBeUndefined();
    expect(failureOf([known, failed, old])).toEqual({
      error: refused,
      what: 'failed jobs, halted changes',
      isOld: false,
    });
    expect(failureOf([known, old])).toMatchObject({ what: 'halted changes', isOld: true });
    expect(failureOf([failed])).toMatchObject({ what: 'the state of the cluster' });
  });
});
