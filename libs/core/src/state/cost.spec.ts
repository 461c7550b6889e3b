import { array, assert, constantFrom, dictionary, integer, oneof, property, string } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DEFAULT_ANNOTATION_KEYS as KEYS } from '../annotations/annotation-keys.ts';
import { DEFAULT_ANNOTATION_LIMITS } from '../annotations/annotation-limits.ts';
import { AUTO, seenSource, seenWorkload, sourceRow, workloadRow } from '../testing/rows.ts';
import { work, workOf, type Work } from '../work.ts';
import { ClusterState } from './cluster-state.ts';
import { pendingCauseOf } from './pending.ts';
import type { ClusterStateSettings } from './settings.ts';
import { observeWorkload } from './observe.ts';
import { inOneGo } from './slices.ts';
import { INTERVALS_KEPT } from './sources/deleted-sources.ts';
import type { Annotations } from '../model.ts';
import { writeRecord } from '../record/record.ts';
import { sourceNameOf, type ObservedSource, type ObservedWorkload } from './rows.ts';

const SOURCES = { kind: 'ConfigMap', namespace: '' };
const WORKLOADS = { kind: 'Deployment', namespace: '' };
const RELOAD = 'configmap.reloader.stakater.com/reload';
const EXCLUDE = 'configmaps.exclude.reloader.stakater.com/reload';
const SIZES = [100, 200, 400] as const;

function clusterStateOf(
  sources: readonly ObservedSource[],
  workloads: readonly ObservedWorkload[],
  settings: Partial<ClusterStateSettings> = {},
): ClusterState {
  const decision = { keys: KEYS, autoReloadAll: false, ignoredWorkloadTypes: [] };
  const clusterState = new ClusterState({ decision, adoptedAt: 50, ...settings });
  clusterState.sourcesListed({ scope: SOURCES, rv: '100', objects: sources, catalog: new Map() });
  clusterState.workloadListBegins(WORKLOADS);
  clusterState.workloadsListed({ scope: WORKLOADS, rv: '100', objects: workloads, catalog: new Map() });
  return clusterState;
}

function namesOf(count: number, prefix = 'cm'): string[] {
  return Array.from({ length: count }, (_, index) => `${prefix}-${1_000_000 + index}`);
}

function sourcesOf(names: readonly string[]): ObservedSource[] {
  return names.map((name) => seenSource(name, 10, 'A'));
}

/** A list of these names, and how often somebody has read from it. */
function counted(names: readonly string[]): { readonly list: readonly string[]; count(): number } {
  let reads = 0;
  const list = new Proxy(names, {
    get: (target, key, receiver) => {
      reads += 1;
      return Reflect.get(target, key, receiver) as unknown;
    },
  });
  return { list, count: () => reads };
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
      const clusterState = clusterStateOf(sourcesOf(names), [seenWorkload('web', 20, { uses: [] })]);
      return sum(workOf(() => clusterState.workloadWritten(seenWorkload('web', 120, { ...seen, record }))));
    });
    expectLinear(costs);
  });

  it('with a record of other hashes, by a pod template that somebody has made up', () => {
    const costs = SIZES.map((size) => {
      const clusterState = clusterStateOf([], [seenWorkload('web', 20, { record: recordOf(size, 'A') })]);
      const record = recordOf(size, 'B');
      return sum(workOf(() => clusterState.workloadWritten(seenWorkload('web', 120, { record }))));
    });
    expectLinear(costs);

    function recordOf(size: number, hash: string): string {
      const names = namesOf(size).map((name) => [`ConfigMap/${name}`, `1.${hash}`] as const);
      return writeRecord(Object.fromEntries(names), { uid: 'u'.repeat(100 * size), generation: 1 });
    }
  });

  it('with a pattern: what it costs to match each name of the namespace', () => {
    const costs = SIZES.map((size) => {
      const clusterState = clusterStateOf(sourcesOf(namesOf(size)), [seenWorkload('web', 20, { uses: [] })]);
      const annotations = { [RELOAD]: '(a|b)?c.*' };
      return sum(
        workOf(() => clusterState.workloadWritten(seenWorkload('web', 120, { annotations, uses: [] }))),
      );
    });
    expectLinear(costs);
  });
});

it('the unverified entries of a workload are gone through once, however many dependencies it has', () => {
  const costs = SIZES.map((size) => {
    const dependencies = namesOf(size).map((name) => `ConfigMap/${name}`);
    const record = writeRecord(Object.fromEntries(dependencies.map((name) => [name, '1.A'])));
    const unverified = counted(namesOf(size, 'other'));
    const row = workloadRow({ dependencies, record, unverified: unverified.list, templateRv: '5' });
    expect(pendingCauseOf(row, () => sourceRow(10, 'A'))).toBeNull();
    return unverified.count();
  });
  expectLinear(costs);
});

describe('a write of a workload that changes nothing that decides', () => {
  const annotations = { [RELOAD]: `(a|b)?x.*,${namesOf(50, 'other').join(',')}`, [EXCLUDE]: 'x,y' };
  const seen = { annotations, uses: ['ConfigMap/cm-1000000'] };

  it.each([
    ['of its status', {}],
    ['of its size', { generation: 2 }],
    ['of its pod template, which uses the same', { generation: 2, template: 't2' }],
  ])('%s evaluates nothing', (_, more) => {
    const clusterState = clusterStateOf(sourcesOf(namesOf(100)), [seenWorkload('web', 20, seen)]);
    clusterState.workloadWritten(seenWorkload('web', 110, seen));
    const spent = workOf(() => clusterState.workloadWritten(seenWorkload('web', 120, { ...seen, ...more })));
    expect(spent).toMatchObject({ decisions: 0, matchSteps: 0, listCharacters: 0, compiledCost: 0 });
  });

  it('evaluates nothing after an edit that did', () => {
    const clusterState = clusterStateOf(sourcesOf(namesOf(100)), [seenWorkload('web', 20, seen)]);
    const edited = { ...seen, annotations: { ...annotations, [EXCLUDE]: 'z' } };
    const edit = workOf(() => clusterState.workloadWritten(seenWorkload('web', 110, edited)));
    expect(edit.decisions).toBeGreaterThan(0);
    const spent = workOf(() => clusterState.workloadWritten(seenWorkload('web', 120, edited)));
    expect(spent).toMatchObject({ decisions: 0, matchSteps: 0, listCharacters: 0 });
  });
});

describe('a write of a source', () => {
  const nasty = '([ab]*a){20}c';
  const edited = { annotations: { 'reloader.stakater.com/match': 'true' } };

  function costOfEdit(others: number, workloads: readonly ObservedWorkload[]): Work {
    const clusterState = clusterStateOf(sourcesOf(['cm', ...namesOf(others)]), workloads);
    clusterState.sourceWritten(seenSource('cm', 110, 'A'), SOURCES);
    return workOf(() => clusterState.sourceWritten(seenSource('cm', 120, 'A', edited), SOURCES));
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
    const clusterState = clusterStateOf(sourcesOf(['cm']), [seenWorkload('web', 20, pattern)]);
    const spent = workOf(() => {
      clusterState.sourceWritten(seenSource('cm', 110, 'B'), SOURCES);
      clusterState.sourceWritten(seenSource('cm', 120, 'B'), SOURCES);
    });
    expect(spent).toMatchObject({ decisions: 0, matchSteps: 0, listCharacters: 0 });
  });

  it('compiles no pattern again, however many workloads and sources there are', () => {
    const texts = Array.from({ length: 20 }, (_, index) => `([ab]*a){${index + 2}}c`);
    const workloads = texts.map((text, index) =>
      seenWorkload(`web-${index}`, 20, { annotations: { [RELOAD]: text }, uses: [] }),
    );
    const clusterState = clusterStateOf(sourcesOf(['cm']), workloads);
    const spent = workOf(() => {
      for (const [index, name] of namesOf(50).entries())
        clusterState.sourceWritten(seenSource(name, 200 + index, 'A'), SOURCES);
    });
    expect(spent.compiledCost).toBe(0);
    expect(spent.decisions).toBe(50 * texts.length);
  });
});

describe('patterns that cost more than one turn', () => {
  const nasty = '([ab]*a){60}c';
  const long = 'cm-'.concat('b'.repeat(200));
  const asking = { annotations: { [RELOAD]: `${nasty}|cm-b.*` }, uses: [] };
  const names = namesOf(40, long);
  const last = `ConfigMap/${names.at(-1) ?? ''}`;
  /** A turn, and the pair that ends it. */
  const most = 250_000 + 2_000 * 254 + 100;

  function stepsOf({ matchSteps, decisions }: Work): number {
    return matchSteps + 100 * decisions;
  }

  function turnsOf(clusterState: ClusterState): number {
    let turns = 0;
    while (!clusterState.evaluation.isDone) {
      // Users of sources that changed have a turn, and workloads with too many sources have one.
      expect(stepsOf(workOf(() => clusterState.evaluation.slice()))).toBeLessThanOrEqual(2 * most);
      turns += 1;
    }
    return turns;
  }

  it('are judged in turns, each of a bounded cost, and find what they would have found at once', () => {
    const clusterState = clusterStateOf(sourcesOf(names), [seenWorkload('web', 20, { uses: [] })]);
    const spent = workOf(() => clusterState.workloadWritten(seenWorkload('web', 120, asking)));
    expect(stepsOf(spent)).toBeLessThanOrEqual(most);
    expect(clusterState.evaluation.isDone).toBe(false);
    expect(turnsOf(clusterState)).toBeGreaterThan(2);
    expect(clusterState.evaluation.isDone).toBe(true);
    expect(clusterState.workloads.get('Deployment/ns/web')?.dependencies).toHaveLength(names.length);
    expect(clusterState.workloads.get('Deployment/ns/web')?.baselines[last]).toBe('120');
  });

  it('date a dependency from the write that asked for it, so a change until it is found is pending', () => {
    const clusterState = clusterStateOf(sourcesOf(names), [seenWorkload('web', 20, { uses: [] })]);
    clusterState.workloadWritten(seenWorkload('web', 120, asking));
    clusterState.sourceWritten(seenSource(names.at(-1) ?? '', 130, 'B'), SOURCES);
    clusterState.workloadWritten(
      seenWorkload('web', 140, { ...asking, annotations: { [RELOAD]: `${nasty}|cm.*` } }),
    );
    clusterState.outbox.clear();
    turnsOf(clusterState);
    expect(clusterState.outbox.reloads.get('Deployment/ns/web')).toBe('owed');
  });

  it('that give way to others before they are judged date from the first of the writes', () => {
    const clusterState = clusterStateOf(sourcesOf(names), [seenWorkload('web', 20, { uses: [] })]);
    clusterState.workloadWritten(seenWorkload('web', 120, asking));
    clusterState.sourceWritten(seenSource(names.at(-1) ?? '', 130, 'B'), SOURCES);
    clusterState.workloadWritten(
      seenWorkload('web', 140, { annotations: { [RELOAD]: 'cm-.*' }, uses: [], generation: 2 }),
    );
    expect(clusterState.evaluation.isDone).toBe(true);
    expect(clusterState.workloads.get('Deployment/ns/web')?.baselines[last]).toBe('120');
    expect(clusterState.pending.get('Deployment/ns/web')?.cause).toBe('owed');
  });

  it('reload nothing for a source that is created while they wait', () => {
    const clusterState = clusterStateOf(sourcesOf(names), [seenWorkload('web', 20, { uses: [] })]);
    clusterState.workloadWritten(seenWorkload('web', 120, asking));
    const created = names[0]?.replace('1000000', 'new') ?? '';
    clusterState.sourceWritten(seenSource(created, 150, 'A'), SOURCES);
    turnsOf(clusterState);
    expect(clusterState.workloads.get('Deployment/ns/web')?.baselines[`ConfigMap/${created}`]).toBe('150');
    expect(clusterState.pending.get('Deployment/ns/web')?.cause).not.toBe('owed');
  });

  it('make the row of a workload anew once a turn, however many dependencies they find', () => {
    const many = namesOf(5_000);
    const keys = { ...KEYS, limits: { ...DEFAULT_ANNOTATION_LIMITS, sources: many.length } };
    const decision = { keys, autoReloadAll: false, ignoredWorkloadTypes: [] };
    const clusterState = clusterStateOf(sourcesOf(many), [seenWorkload('web', 20, { uses: [] })], {
      decision,
    });
    const before = work.dependencyNames;
    clusterState.workloadWritten(seenWorkload('web', 120, { annotations: { [RELOAD]: 'cm-.*' }, uses: [] }));
    const turns = turnsOf(clusterState);
    expect(clusterState.workloads.get('Deployment/ns/web')?.dependencies).toHaveLength(many.length);
    // Made anew, and taken out of the index and put into it again.
    expect(work.dependencyNames - before).toBeLessThanOrEqual(4 * (turns + 1) * many.length);
  });

  it('keep an event of a source within one turn, however many workloads have them', () => {
    const workloads = namesOf(100, 'web').map((name) => seenWorkload(name, 20, asking));
    const clusterState = clusterStateOf([], workloads, { evaluatesLater: true });
    const spent = workOf(() => clusterState.sourceWritten(seenSource(long, 120, 'A'), SOURCES));
    expect(stepsOf(spent)).toBe(0);
    expect(turnsOf(clusterState)).toBeGreaterThan(2);
    const dependencies = [...clusterState.workloads.values()].map((row) => row.dependencies.length);
    expect(dependencies).toEqual(workloads.map(() => 1));
  });

  it('are forgotten with their workload, and with their namespace', () => {
    const clusterState = clusterStateOf(sourcesOf(names), [seenWorkload('web', 20, { uses: [] })]);
    clusterState.workloadWritten(seenWorkload('web', 120, asking));
    clusterState.workloadDeleted('Deployment/ns/web');
    expect(clusterState.evaluation.isDone).toBe(true);
    clusterState.workloadWritten(seenWorkload('web', 130, asking));
    inOneGo(clusterState.leave('ns'));
    expect(clusterState.evaluation.isDone).toBe(true);
  });

  it('do not go through what their workload uses for each name', () => {
    const costs = SIZES.map((size) => {
      const clusterState = clusterStateOf(sourcesOf(namesOf(50 * size)), [], { evaluatesLater: true });
      const uses = namesOf(size, 'other').map((name) => `ConfigMap/${name}`);
      const reads = counted(uses);
      const annotations = { [RELOAD]: 'x.*' };
      clusterState.workloadWritten(seenWorkload('web', 120, { annotations, uses: reads.list }));
      expect(clusterState.evaluation.isDone).toBe(false);
      while (!clusterState.evaluation.isDone) clusterState.evaluation.slice();
      return reads.count();
    });
    expectLinear(costs);
  });

  it('of one namespace let those of another have every other turn', () => {
    const other = seenWorkload('web', 120, { ...asking, key: 'Deployment/other/web', namespace: 'other' });
    const theirs = names.map((name) => seenSource(name, 10, 'A', { key: `ConfigMap/other/${name}` }));
    const clusterState = clusterStateOf([...sourcesOf(names), ...theirs], []);
    for (const name of namesOf(10, 'web')) clusterState.workloadWritten(seenWorkload(name, 120, asking));
    clusterState.workloadWritten(other);
    while (clusterState.workloads.get(other.key)?.dependencies.length !== theirs.length)
      expect(clusterState.evaluation.slice()).toBe(true);
    const judged = [...clusterState.workloads.values()].reduce(
      (sum, { dependencies }) => sum + dependencies.length,
      0,
    );
    // All of one, as many of the others, and what the events themselves did.
    expect(judged).toBeLessThan(3 * theirs.length + 11 * 5);
  });
});

describe('workloads with a thousand sources each', () => {
  const TURN = 250_000;
  const secrets = namesOf(1_000).map((name) => seenSource(name, 10, 'A', { key: `Secret/ns/${name}` }));
  const names = secrets.map(({ key }) => sourceNameOf(key));
  const NONE = (): undefined => undefined;
  /** Each is parsed, and most of them again, because they are more than are kept parsed. */
  const own = (workload: string): string =>
    writeRecord(Object.fromEntries(names.map((name) => [name, `1.${workload.padEnd(43, 'A')}`])));
  const list = { scope: WORKLOADS, rv: '300', objects: [], catalog: new Map<string, never>() };
  const ofClasses = { ...list, scope: { ...SOURCES, kind: 'SecretProviderClass' } };

  function stateOf(recordOf: (workload: string) => string | undefined): ClusterState {
    const workloads = namesOf(60, 'web').map((name) =>
      seenWorkload(name, 20, { uses: names, record: recordOf(name) }),
    );
    const clusterState = clusterStateOf(secrets, workloads, { evaluatesLater: true });
    while (clusterState.evaluation.slice()) continue;
    clusterState.evaluation.nextWindow();
    return clusterState;
  }

  function* slicesAfter(clusterState: ClusterState, event: () => void): Generator<void, void, void> {
    event();
    while (clusterState.evaluation.slice()) yield;
  }

  const changed = seenSource('cm', 200, 'B', { key: secrets.at(-1)?.key ?? 'Secret/ns/cm' });
  const resync = (clusterState: ClusterState): Iterable<void> => clusterState.resync();
  const change = (clusterState: ClusterState): Iterable<void> =>
    slicesAfter(clusterState, () => clusterState.sourceWritten(changed, SOURCES));

  function steps(): number {
    const { decisions, dependencyNames, sourceLookups, listCharacters, recordCharacters } = work;
    return (
      100 * decisions + 10 * dependencyNames + 20 * sourceLookups + listCharacters + recordCharacters / 2
    );
  }

  /** The steps of the slice that took most. */
  function mostSteps(slices: Iterable<void>): number {
    let most = 0;
    let before = steps();
    for (const _ of slices) {
      most = Math.max(most, steps() - before);
      before = steps();
    }
    return Math.max(most, steps() - before);
  }

  it.each<[string, typeof NONE | typeof own, (clusterState: ClusterState) => Iterable<void>]>([
    ['a resync', NONE, resync],
    ['a resync, with records', own, resync],
    ['a change of a source of all', NONE, change],
    ['a change of a source of all, with records', own, change],
    ['advice', NONE, (state) => slicesAfter(state, () => state.assertAll())],
    ['leaving the scope', NONE, (state) => state.leave('ns')],
    [
      'a list that shows none of them',
      NONE,
      (state) => state.eachAbsentWorkload(list, (key) => state.workloadDeleted(key)),
    ],
    ['the first list of a kind of sources', NONE, (state) => state.sourceListEnds(ofClasses)],
  ])('take no more than a turn and one of them in a slice of %s', (_, recordOf, slices) => {
    // One of them: its sources are looked up, its names gone through, or its record is read twice.
    expect(mostSteps(slices(stateOf(recordOf)))).toBeLessThanOrEqual(TURN + 100_000);
  });

  it('are dropped from deleted sources, a few rows in a slice', () => {
    const annotations = { ...AUTO, [RELOAD]: 'gone.*' };
    const spaces = namesOf(100, 'ns');
    const clusterState = clusterStateOf(
      spaces.map((namespace) => seenSource('gone', 10, 'A', { key: `ConfigMap/${namespace}/gone` })),
      spaces.map((namespace) =>
        seenWorkload('web', 20, { key: `Deployment/${namespace}/web`, namespace, uses: names, annotations }),
      ),
    );
    for (const namespace of spaces) clusterState.sourceDeleted(`ConfigMap/${namespace}/gone`, '200', SOURCES);
    for (let n = 0; n <= INTERVALS_KEPT; n += 1) {
      inOneGo(clusterState.prune());
      expect(clusterState.sources.size).toBe(spaces.length);
      clusterState.intervalPassed();
    }
    // The rows that are found are then made anew and indexed anew.
    expect(mostSteps(clusterState.prune())).toBeLessThanOrEqual(6 * TURN);
    expect(clusterState.sources.size).toBe(0);
  });
});

describe('whatever a tenant writes', () => {
  const word = oneof(
    constantFrom(
      'cm',
      'cm-1',
      'kube-root-ca.crt',
      'app-.*',
      '.*',
      '',
      '(',
      '[',
      'a{1000}',
      '([ab]*a){40}c',
      '(.*a){9}',
    ),
    string({
      unit: constantFrom('a', '(', ')', '|', '*', '+', '{', '9', '}', '.', '[', ']', '\\', 'é'),
      maxLength: 30,
    }),
  );
  const list = array(word, { maxLength: 60 }).map((words) => words.join(','));
  const annotations = dictionary(
    constantFrom(RELOAD, EXCLUDE, KEYS.secretReload, KEYS.auto, KEYS.search),
    list,
  );
  const count = integer({ min: 0, max: 1_500 });
  const limits = {
    listWords: 50,
    listBytes: 1_000,
    patternCost: 500,
    sources: 100,
    namespaceSources: 100,
  };
  const keys = { ...KEYS, limits };
  const LENGTH = 60;

  it('an event takes no more than the documented bound, and the turns after it end', () => {
    const clusterState = new ClusterState({
      decision: { keys, autoReloadAll: true, ignoredWorkloadTypes: [] },
      adoptedAt: 50,
    });
    const names = [...namesOf(150), 'b'.repeat(LENGTH), 'ab'.repeat(LENGTH / 2)];
    clusterState.sourcesListed({ scope: SOURCES, rv: '100', objects: sourcesOf(names), catalog: new Map() });
    let rv = 1_000;
    // A turn; the pair that ends it; the lists and patterns of one version, read and compiled once.
    const most = 250_000 + limits.patternCost * (LENGTH + 1) + 100;
    const read = 9 * (limits.listBytes + 1);
    assert(
      property(annotations, annotations, count, (own, ofPods, refs) => {
        const envFrom = namesOf(refs).map((name) => ({ configMapRef: { name } }));
        const template = {
          metadata: { annotations: ofPods },
          spec: { containers: [{ name: 'c', envFrom }] },
        };
        rv += 1;
        const metadata = {
          name: 'web',
          namespace: 'ns',
          uid: 'u',
          resourceVersion: String(rv),
          annotations: own,
        };
        const spent = workOf(() =>
          clusterState.workloadWritten(observeWorkload({ kind: 'Deployment', metadata, template }, keys)),
        );
        expect(spent.matchSteps + 100 * spent.decisions).toBeLessThanOrEqual(most);
        expect(spent.listCharacters).toBeLessThanOrEqual(read);
        expect(spent.compiledCost).toBeLessThanOrEqual(limits.patternCost);
        let turns = 0;
        while (!clusterState.evaluation.isDone) {
          clusterState.evaluation.slice();
          turns += 1;
          expect(turns).toBeLessThanOrEqual(1 + (names.length * limits.patternCost * (LENGTH + 1)) / 250_000);
        }
        expect(clusterState.workloads.get('Deployment/ns/web')?.dependencies.length).toBeLessThanOrEqual(
          limits.sources,
        );
      }),
      { numRuns: 200 },
    );
  }, 120_000);
});
