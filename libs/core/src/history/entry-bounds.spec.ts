import type { WorkloadKey } from '../model.ts';
import { assert, array, dictionary, integer, property, record, string, type Arbitrary } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { changed, reloaded, WEB } from '../testing/history.ts';
import type { JudgedWorkload } from './entries.ts';
import { boundedChange, boundedOutcome, ENTRY_BOUNDS } from './entry-bounds.ts';

function workloads(count: number, detail = 'auto is true'): JudgedWorkload[] {
  return Array.from({ length: count }, (_, index) => ({
    workload: `Deployment/shop/w-${index}`,
    reason: 'AutoReload',
    detail,
  }));
}

describe('a change', () => {
  it('of few workloads is kept as it is', () => {
    const entry = changed(1, { woken: workloads(50), leftAlone: workloads(50) });
    expect(boundedChange(entry)).toEqual(entry);
  });

  it('of many has the first 50 of each list, and counts the others', () => {
    const bounded = boundedChange(changed(1, { woken: workloads(51), leftAlone: workloads(10_000) }));
    expect([bounded.woken, bounded.leftAlone]).toEqual([workloads(50), workloads(50)]);
    expect(bounded.more).toEqual({ woken: 1, leftAlone: 9_950 });
  });

  it('that was cut before loses nothing of its counts', () => {
    const entry = changed(1, { woken: workloads(60), leftAlone: workloads(70) });
    expect(boundedChange(boundedChange(entry))).toEqual(boundedChange(entry));
  });

  it('has details of at most 200 characters', () => {
    const [first] = boundedChange(changed(1, { woken: workloads(1, 'x'.repeat(5_000)) })).woken;
    expect(first?.detail).toHaveLength(ENTRY_BOUNDS.text);
    expect(first?.detail.endsWith('x…')).toBe(true);
  });

  it('takes no more than its bytes, whatever names and details it is given, and counts every workload', () => {
    const text = string({ maxLength: 400 });
    const workload = record({ workload: text as Arbitrary<WorkloadKey>, detail: text });
    assert(
      property(array(workload, { maxLength: 200 }), (given) => {
        const woken = given.map((each) => ({ ...each, reason: 'AutoReload' as const }));
        const bounded = boundedChange(changed(1, { woken }));
        const names = bounded.woken.map(({ workload }) => workload);
        expect(JSON.stringify(names).length).toBeLessThanOrEqual(ENTRY_BOUNDS.listBytes + 2);
        expect(bounded.woken.length + (bounded.more?.woken ?? 0)).toBe(woken.length);
      }),
    );
  });
});

describe('an outcome', () => {
  const NAMES = Array.from({ length: 100 }, (_, index) => `ConfigMap/cm-${index}`);
  const ALL = Object.fromEntries(NAMES.map((name) => [name, name.endsWith('7') ? 'Roll' : 'InStep']));

  it('of few sources is kept as it is', () => {
    expect(boundedOutcome(reloaded(1), 'ConfigMap/shop/cm')).toEqual(reloaded(1));
  });

  it('of many has the one whose change it was, and what it was reloaded for, first', () => {
    const bounded = boundedOutcome(
      reloaded(1, { sources: ALL, rolled: ['ConfigMap/cm-7'] }),
      'ConfigMap/shop/cm-99',
    );
    expect(bounded.sources).toMatchObject({ 'ConfigMap/cm-99': 'InStep', 'ConfigMap/cm-97': 'Roll' });
    expect(Object.keys(bounded.sources)).toHaveLength(ENTRY_BOUNDS.sources);
    expect([bounded.rolled, bounded.omitted]).toEqual([['ConfigMap/cm-7'], 80]);
  });

  it('of many has those whose data its pods may lack, before others', () => {
    const sources = { ...ALL, 'ConfigMap/cm-98': 'AdoptStale' };
    expect(boundedOutcome(reloaded(1, { sources })).sources).toHaveProperty(
      ['ConfigMap/cm-98'],
      'AdoptStale',
    );
  });

  it('takes no more than its bytes, whatever it is given', () => {
    const given = record({
      sources: dictionary(string({ maxLength: 300 }), string({ maxLength: 20 }), { maxKeys: 60 }),
      rolled: array(string({ maxLength: 300 }), { maxLength: 60 }),
      error: string({ maxLength: 1_000 }),
      attempt: integer({ min: 1, max: 100 }),
    });
    assert(
      property(given, (more) => {
        const bounded = boundedOutcome(reloaded(1, more));
        const names = JSON.stringify([Object.keys(bounded.sources), bounded.rolled]);
        expect(names.length).toBeLessThanOrEqual(2 * ENTRY_BOUNDS.sourcesBytes + 10);
        expect(bounded.error?.length).toBeLessThanOrEqual(ENTRY_BOUNDS.text);
        expect(bounded.workload).toBe(WEB);
      }),
    );
  });
});
