import { describe, expect, it } from 'vitest';
import { workloadLook } from '../../workload-look.ts';
import { verdictOf } from './verdict-words.ts';
import type { AttentionItem } from './attention-items.ts';

function item(problem: AttentionItem['problem'], key: string): AttentionItem {
  return { key, problem, since: null, why: 'why' };
}

const NOTHING_PENDING = {
  due: null,
  hold: null,
  contested: false,
  lastAttempt: null,
  rollout: 'complete',
  leftAlone: null,
  sources: 1,
} as const;
const calm = { attention: [], rollingOut: 0, pending: 0, stale: 0, isStaleCut: false };

describe('the sentence of the overview', () => {
  it('is green only if nothing is open', () => {
    expect(verdictOf(calm, false)).toEqual({
      tone: 'good',
      sign: 'check',
      attention: '',
      problems: [],
      progress: '',
      steps: [],
      older: '',
      stale: [],
      isWhole: true,
    });
    expect(verdictOf({ ...calm, pending: 1 }, false).tone).toBe('busy');
    expect(verdictOf({ ...calm, attention: [item('held', 'a')] }, false).tone).toBe('warn');
    expect(verdictOf({ ...calm, attention: [item('held', 'a'), item('stuck', 'b')] }, false).tone).toBe(
      'bad',
    );
  });

  it.each([
    ['lists were cut', verdictOf(calm, true)],
    ['the last check failed', verdictOf(calm, false, true)],
  ])('is not green, and does not say that all is well, if %s', (_why, verdict) => {
    expect(verdict).toMatchObject({ tone: 'quiet', sign: 'ring', isWhole: false });
  });

  it('does not say that nothing needs attention, or how much does, if lists were cut', () => {
    expect(verdictOf({ ...calm, pending: 2 }, true)).toMatchObject({
      tone: 'busy',
      progress: '2 or more in progress',
      isWhole: false,
    });
    const attention = [item('stuck', 'a')];
    expect(verdictOf({ ...calm, attention }, true).attention).toBe('1 or more needs attention');
  });

  it.each([
    [1, false, '1 workload may have older data'],
    [1_200, true, '1,200 or more workloads may have older data'],
  ])(
    'counts what is stale since adoption, %i, which is neither green nor an error, as on the page of the workload',
    (stale, isStaleCut, older) => {
      expect(verdictOf({ ...calm, stale, isStaleCut }, false)).toMatchObject({
        tone: 'quiet',
        attention: '',
        older,
        stale: [{ word: 'stale since adoption', href: '#/workloads?due=stale' }],
        isWhole: true,
      });
      expect(workloadLook({ ...NOTHING_PENDING, stale: true }).tone).toBe('quiet');
      expect(verdictOf({ ...calm, stale, isStaleCut, pending: 1 }, false)).toMatchObject({
        tone: 'busy',
        progress: '1 in progress',
      });
    },
  );

  it('has a number for each problem, with a link to the list of it', () => {
    const attention = [
      item('stuck', 'a'),
      item('stuck', 'b'),
      item('failed', 'c'),
      item('conflict', 'd'),
      item('halted', 'e'),
      item('held', 'f'),
      item('warning', 'g'),
    ];
    const told = verdictOf({ ...calm, attention, rollingOut: 1_200, pending: 3 }, false);
    expect([told.attention, told.progress]).toEqual(['7 need attention', '1,203 in progress']);
    expect(
      [...told.problems, ...told.steps].map(({ count, word, href }) => `${count} ${word} ${href}`),
    ).toEqual([
      '1 warning #/?problem=warning',
      '2 stuck #/?problem=stuck',
      '1 failed #/?problem=failed',
      '1 in conflict #/?problem=conflict',
      '1 halted #/?problem=halted',
      '1 held #/?problem=held',
      '1200 rolling out #/workloads?rollout=progressing',
      '3 pending #/workloads?due=owed',
    ]);
  });
});
