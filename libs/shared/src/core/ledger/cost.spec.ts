import { describe, expect, it } from 'vitest';
import { DEFAULT_ANNOTATION_KEYS } from '../annotation-keys.ts';
import { seenSource, seenWorkload } from '../testing/rows.ts';
import { workOf, type Work } from '../work.ts';
import { Ledger } from './ledger.ts';
import type { Annotations } from '../model.ts';
import { writeRecord } from '../record/record.ts';
import type { ObservedSource, ObservedWorkload } from './rows.ts';

const SOURCES = { kind: 'ConfigMap', namespace: '' };
const WORKLOADS = { kind: 'Deployment', namespace: '' };
const RELOAD = 'configmap.reloader.stakater.com/reload';
const EXCLUDE = 'configmaps.exclude.reloader.stakater.com/reload';
const SIZES = [100, 200, 400] as const;

function ledgerOf(sources: readonly ObservedSource[], workloads: readonly ObservedWorkload[]): Ledger {
  const decision = { keys: DEFAULT_ANNOTATION_KEYS, autoReloadAll: false, ignoredWorkloadTypes: [] };
  const ledger = new Ledger({ decision, adoptedAt: 50 });
  ledger.sourcesListed({ scope: SOURCES, rv: '100', objects: sources, catalog: new Map() });
  ledger.workloadListBegins(WORKLOADS);
  ledger.workloadsListed({ scope: WORKLOADS, rv: '100', objects: workloads, catalog: new Map() });
  return ledger;
}

function namesOf(count: number, prefix = 'cm'): string[] {
  return Array.from({ length: count }, (_, index) => `${prefix}-${1_000_000 + index}`);
}

function sourcesOf(names: readonly string[]): ObservedSource[] {
  return names.map((name) => seenSource(name, 10, 'A'));
}

/** All of it, in one number. */
function sum(work: Work): number {
  return Object.values(work).reduce((total, each) => total + each, 0);
}

/** Fails if twice the input costs more than twice the work, some fixed work apart. */
function expectLinear(costs: readonly number[]): void {
  const [one = 0, two = 0, four = 0] = costs;
  expect(two - one).toBeLessThanOrEqual(one);
  expect(four - two).toBeLessThanOrEqual(2.1 * (two - one));
}

/** Fails if the work depends on the size of the input. */
function expectConstant(costs: readonly number[]): void {
  expect(Math.max(...costs)).toBe(Math.min(...costs));
}

describe('an edit of a workload costs no more than its own size', () => {
  it.each([
    ['a list of names', (names: string[]): Annotations => ({ [RELOAD]: names.join(',') })],
    [
      'a list of names that are ruled out again',
      (names: string[]): Annotations => ({ [RELOAD]: names.join(','), [EXCLUDE]: names.join(',') }),
    ],
  ])('with %s', (_, annotations) => {
    const costs = SIZES.map((size) => {
      const names = namesOf(size);
      const seen = { annotations: annotations(names), uses: [] };
      const record = writeRecord(Object.fromEntries(names.map((name) => [`ConfigMap/${name}`, '1.A'])));
      const ledger = ledgerOf(sourcesOf(names), [seenWorkload('web', 20, { uses: [] })]);
      return sum(workOf(() => ledger.workloadWritten(seenWorkload('web', 120, { ...seen, record }))));
    });
    expectLinear(costs);
  });

  it('with a pattern: what it costs to match each name of the namespace', () => {
    const costs = SIZES.map((size) => {
      const ledger = ledgerOf(sourcesOf(namesOf(size)), [seenWorkload('web', 20, { uses: [] })]);
      const annotations = { [RELOAD]: '(a|b)?c.*' };
      return sum(workOf(() => ledger.workloadWritten(seenWorkload('web', 120, { annotations, uses: [] }))));
    });
    expectLinear(costs);
  });
});

describe('a write of a workload that changes nothing that decides', () => {
  const annotations = { [RELOAD]: `(a|b)?x.*,${namesOf(50, 'other').join(',')}`, [EXCLUDE]: 'x,y' };
  const seen = { annotations, uses: ['ConfigMap/cm-1000000'] };

  it.each([
    ['of its status', {}],
    ['of its size', { generation: 2 }],
    ['of its pod template, which uses the same', { generation: 2, template: 't2' }],
  ])('%s evaluates nothing', (_, more) => {
    const ledger = ledgerOf(sourcesOf(namesOf(100)), [seenWorkload('web', 20, seen)]);
    ledger.workloadWritten(seenWorkload('web', 110, seen));
    const spent = workOf(() => ledger.workloadWritten(seenWorkload('web', 120, { ...seen, ...more })));
    expect(spent).toMatchObject({ decisions: 0, matchSteps: 0, listCharacters: 0, compiledCost: 0 });
  });

  it('evaluates nothing after an edit that did', () => {
    const ledger = ledgerOf(sourcesOf(namesOf(100)), [seenWorkload('web', 20, seen)]);
    const edited = { ...seen, annotations: { ...annotations, [EXCLUDE]: 'z' } };
    const edit = workOf(() => ledger.workloadWritten(seenWorkload('web', 110, edited)));
    expect(edit.decisions).toBeGreaterThan(0);
    const spent = workOf(() => ledger.workloadWritten(seenWorkload('web', 120, edited)));
    expect(spent).toMatchObject({ decisions: 0, matchSteps: 0, listCharacters: 0 });
  });
});

describe('a write of a source', () => {
  const nasty = '([ab]*a){20}c';
  const edited = { annotations: { 'reloader.stakater.com/match': 'true' } };

  function costOfEdit(others: number, workloads: readonly ObservedWorkload[]): Work {
    const ledger = ledgerOf(sourcesOf(['cm', ...namesOf(others)]), workloads);
    ledger.sourceWritten(seenSource('cm', 110, 'A'), SOURCES);
    return workOf(() => ledger.sourceWritten(seenSource('cm', 120, 'A', edited), SOURCES));
  }

  it('asks of its own annotations only about itself, whatever else its namespace has', () => {
    const pattern = { annotations: { [RELOAD]: nasty }, uses: [] };
    const workloads = namesOf(3, 'web').map((name) => seenWorkload(name, 20, pattern));
    expectConstant(SIZES.map((size) => sum(costOfEdit(size, workloads))));
    expect(costOfEdit(10, workloads).decisions).toBe(3);
  });

  it('asks only about itself, whatever else its users use', () => {
    const costs = SIZES.map((size) => {
      const uses = ['ConfigMap/cm', ...namesOf(size).map((name) => `ConfigMap/${name}`)];
      return costOfEdit(size, [seenWorkload('web', 20, { uses })]).decisions;
    });
    expectConstant(costs);
  });

  it('asks nobody if only its data or nothing changed', () => {
    const pattern = { annotations: { [RELOAD]: `${nasty},cm` }, uses: [] };
    const ledger = ledgerOf(sourcesOf(['cm']), [seenWorkload('web', 20, pattern)]);
    const spent = workOf(() => {
      ledger.sourceWritten(seenSource('cm', 110, 'B'), SOURCES);
      ledger.sourceWritten(seenSource('cm', 120, 'B'), SOURCES);
    });
    expect(spent).toMatchObject({ decisions: 0, matchSteps: 0, listCharacters: 0 });
  });

  it('compiles no pattern again, however many workloads and sources there are', () => {
    const texts = Array.from({ length: 20 }, (_, index) => `([ab]*a){${index + 2}}c`);
    const workloads = texts.map((text, index) =>
      seenWorkload(`web-${index}`, 20, { annotations: { [RELOAD]: text }, uses: [] }),
    );
    const ledger = ledgerOf(sourcesOf(['cm']), workloads);
    const spent = workOf(() => {
      for (const [index, name] of namesOf(50).entries())
        ledger.sourceWritten(seenSource(name, 200 + index, 'A'), SOURCES);
    });
    expect(spent.compiledCost).toBe(0);
    expect(spent.decisions).toBe(50 * texts.length);
  });
});
