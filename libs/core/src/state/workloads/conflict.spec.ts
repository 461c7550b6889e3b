import { describe, expect, it } from 'vitest';
import { DEFAULT_ANNOTATION_KEYS as KEYS } from '../../annotations/annotation-keys.ts';
import { decidingAnnotations } from '../observe.ts';
import { conflictAfter, isInConflict, type MarkerConflict } from './conflict.ts';

const ANNOTATIONS = { auto: 'true' };

interface State {
  readonly template: string;
  readonly record: string | undefined;
  readonly annotations: Readonly<Record<string, string>>;
  readonly conflict?: MarkerConflict | undefined;
}

const START: State = { template: 'plain', record: 'A', annotations: ANNOTATIONS, conflict: undefined };

function write(state: State, more: Partial<State>, writtenAt = 0): State {
  const { template, record, annotations } = { ...state, ...more };
  const seen = { template, record, annotations, writtenAt };
  const { conflict } = state;
  const known = { template: state.template, record: state.record, annotations: state.annotations };
  return { ...seen, conflict: conflictAfter({ ...known, ...(conflict ? { conflict } : {}) }, seen, true) };
}

/** A reload of ours, and its marker taken away again at this second. */
function fight(state: State, at: number): State {
  const reloaded = write(state, { template: `${state.template} and mark ${at}`, record: `record ${at}` });
  return write(reloaded, { template: state.template }, at);
}

describe('a workload is in conflict', () => {
  it('once its marker was taken away three times in ten minutes', () => {
    const twice = fight(fight(START, 100), 200);
    expect(isInConflict(twice.conflict)).toBe(false);
    expect(isInConflict(fight(twice, 700).conflict)).toBe(true);
  });

  it('and stays so after an upgrade of the API server, which serves the template in another form', () => {
    const contested = fight(fight(fight({ ...START, template: '1.34:plain' }, 1), 2), 3);
    const upgraded = write(contested, { template: '1.35:with a new default' }, 4);
    expect(isInConflict(upgraded.conflict)).toBe(true);
    expect(isInConflict(write(upgraded, { template: '1.35:edited' }, 5).conflict)).toBe(false);
  });

  it('and what an earlier version of Reroll saw of it counts', () => {
    const twice = fight(fight(START, 1), 2);
    const marked = write(twice, { template: '1.35:marked 3', record: 'record 3' });
    expect(isInConflict(write({ ...twice, ...marked }, { template: '1.35:plain' }, 3).conflict)).toBe(true);
  });

  it('also if the record goes each time with the marker', () => {
    let state = START;
    for (const at of [1, 2, 3]) {
      state = write(state, { template: `marked ${at}`, record: `record ${at}` });
      state = write(state, { template: 'plain', record: undefined }, at);
      state = write(state, { record: `record ${at}` });
    }
    expect(isInConflict(state.conflict)).toBe(true);
  });

  it('also if a list shows that the marker is gone, once however often it went meanwhile', () => {
    let state = fight(fight(START, 1), 2);
    state = write(state, { template: 'marked', record: 'record' });
    const gone = { ...state, template: 'plain', writtenAt: 3 };
    expect(isInConflict(conflictAfter(state, gone, false))).toBe(true);
    expect(conflictAfter(state, gone, false)?.strips).toEqual([1, 2, 3]);
  });

  it('also if the annotations that decide were edited while it carried a marker: what is taken away then counts', () => {
    let state = write(START, { template: 'marked', record: 'record' });
    state = write(state, { annotations: { ...ANNOTATIONS, 'reroll.dev/release': '1' } });
    state = write(state, { template: 'plain' }, 1);
    expect(state.conflict?.strips).toEqual([1]);
    expect(isInConflict(fight(fight(state, 2), 3).conflict)).toBe(true);
  });

  it('also if several markers go at once', () => {
    let state = write(START, { template: 'one', record: '1' });
    state = write(state, { template: 'two', record: '2' });
    state = write(state, { template: 'plain' }, 1);
    expect(state.conflict?.strips).toEqual([1]);
  });
});

describe('a workload is not in conflict', () => {
  it('if it took longer', () => {
    expect(isInConflict(fight(fight(fight(START, 100), 200), 701).conflict)).toBe(false);
  });

  it('by our own reloads, however many', () => {
    let state = START;
    for (const at of [1, 2, 3, 4]) state = write(state, { template: `marked ${at}`, record: `${at}` }, at);
    expect(state.conflict?.strips).toEqual([]);
  });

  it('by a reload that a list shows, because an edit may have come with it', () => {
    const twice = fight(fight(START, 1), 2);
    const reloaded = { ...twice, template: 'marked', record: 'record', writtenAt: 3 };
    expect(conflictAfter(twice, reloaded, false)).toBeUndefined();
    expect(conflictAfter(twice, reloaded, true)?.strips).toEqual([1, 2]);
  });

  it('by writes that leave the template alone', () => {
    const twice = fight(fight(START, 1), 2);
    expect(write(twice, { record: 'corrected' }, 3).conflict).toBe(twice.conflict);
  });

  it.each<[string, Partial<State>]>([
    ['its pod template is edited', { template: 'another image' }],
    ['an annotation that decides is edited', { annotations: { auto: 'false' } }],
    ['it is released', { annotations: { ...ANNOTATIONS, 'reroll.dev/release': '1' } }],
  ])('any more once %s', (_, edit) => {
    const contested = fight(fight(fight(START, 1), 2), 3);
    expect(isInConflict(contested.conflict)).toBe(true);
    expect(write(contested, edit, 4).conflict?.strips ?? []).toEqual([]);
  });

  it('once its owner has it reloaded in another way', () => {
    const chosen = (strategy: string) =>
      decidingAnnotations({ [KEYS.auto]: 'true', [KEYS.rolloutStrategy]: strategy }, KEYS);
    const contested = [0, 1, 2].reduce(fight, { ...START, annotations: chosen('rollout') });
    expect(isInConflict(contested.conflict)).toBe(true);
    expect(isInConflict(write(contested, { annotations: chosen('restart') }).conflict)).toBe(false);
  });
});
