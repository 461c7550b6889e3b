import { describe, expect, it } from 'vitest';
import { DEFAULT_ANNOTATION_KEYS } from '../../annotations/annotation-keys.ts';
import {
  DEFAULT_ANNOTATION_LIMITS,
  excessText,
  type AnnotationLimits,
} from '../../annotations/annotation-limits.ts';
import type { Annotations } from '../../model.ts';
import { decideReload } from '../../rules/decision.ts';
import { AUTO, seenSource, seenWorkload } from '../../testing/rows.ts';
import { workOf } from '../../work.ts';
import { ClusterState } from '../cluster-state.ts';
import { observeSource, observeWorkload } from '../observe.ts';
import type { ObservedWorkload } from '../rows.ts';
import { withinLimits, type Sized } from './within-limits.ts';

const KEYS = DEFAULT_ANNOTATION_KEYS;
const { configMapReload: RELOAD, secretReload, configMapExclude: EXCLUDE } = KEYS;
const LIMITS: AnnotationLimits = {
  listWords: 5,
  listBytes: 100,
  patternCost: 20,
  sources: 6,
  namespaceSources: 100,
};

function limited(facts: Partial<Sized>, limits: AnnotationLimits = LIMITS): ObservedWorkload {
  return withinLimits(seenWorkload('web', 20, { annotations: {}, uses: [], ...facts }), { ...KEYS, limits });
}

function problemOf(facts: Partial<Sized>): string | undefined {
  const { excess } = limited(facts);
  return excess && excessText(excess);
}

function namesOf(count: number): string[] {
  return Array.from({ length: count }, (_, index) => `n${index}`);
}

function usesOf(count: number): string[] {
  return namesOf(count).map((name) => `ConfigMap/${name}`);
}

describe('a workload is left alone that has', () => {
  it.each<[string, Partial<Sized>, string]>([
    [
      'one entry too many in a list',
      { annotations: { [RELOAD]: 'a,b,c,d,e,f' } },
      `${RELOAD}: expected a list of at most 5 entries, given 6`,
    ],
    [
      'one byte too many in a list',
      { annotations: { [EXCLUDE]: 'é'.repeat(50).concat('x') } },
      `${EXCLUDE}: expected a list of at most 100 bytes, given 101`,
    ],
    [
      'too long a list in its pod template',
      { podAnnotations: { [secretReload]: 'a,b,c,d,e,f' } },
      `${secretReload}: expected a list of at most 5 entries, given 6`,
    ],
    [
      'patterns that cost too much together',
      {
        annotations: { [RELOAD]: '(a|b)c', [secretReload]: '(ab?c){2}' },
        podAnnotations: { [RELOAD]: 'a{3}' },
      },
      'the pod template and the reload annotations: expected patterns that cost at most 20 together, given 28',
    ],
    [
      'a pattern that nobody could compile',
      { annotations: { [RELOAD]: 'a{99999999999999999999}' } },
      'the pod template and the reload annotations: expected patterns that cost at most 20 together, given 9007199254740991',
    ],
    [
      'a pod template that refers to one source too many',
      { uses: usesOf(5), mentions: ['Secret/a', 'Secret/b'] },
      'the pod template: expected at most 6 sources, given 7',
    ],
    [
      'a pod template with one marker too many',
      { marks: namesOf(7) },
      'the pod template: expected at most 6 sources, given 7',
    ],
    [
      'one source too many that it uses or names',
      { uses: usesOf(4), annotations: { [RELOAD]: 'n3,x,y', [secretReload]: 'n3' } },
      'the pod template and the reload annotations: expected at most 6 sources, given 7',
    ],
  ])('%s', (_, facts, problem) => {
    expect(problemOf(facts)).toBe(problem);
  });

  it.each<[string, Partial<Sized>]>([
    ['as many entries as it may', { annotations: { [RELOAD]: 'a,b,c,d,e' } }],
    ['as many bytes as it may', { annotations: { [EXCLUDE]: 'é'.repeat(50) } }],
    ['patterns that cost as much as they may', { annotations: { [RELOAD]: 'a{9}b' } }],
    ['as many sources as it may', { uses: usesOf(6), annotations: { [RELOAD]: 'n1,n2' } }],
  ])('but not one that has %s', (_, facts) => {
    expect(problemOf(facts)).toBeUndefined();
  });
});

describe('what is kept of a workload that exceeds a limit', () => {
  const long = 'x,'.repeat(200);

  it('is none of its lists, and by how much', () => {
    const annotations = { ...AUTO, [RELOAD]: long, [EXCLUDE]: 'a' };
    const kept = limited({ annotations, podAnnotations: { [RELOAD]: 'b' } });
    expect(kept).toMatchObject({
      annotations: AUTO,
      podAnnotations: {},
      excess: { limit: 'listBytes', key: RELOAD, most: 100, given: 400 },
    });
  });

  it('is none of the sources of its pod template', () => {
    const kept = limited({ uses: usesOf(50), mentions: ['Secret/a'], marks: namesOf(50) });
    expect(kept).toMatchObject({
      uses: [],
      mentions: [],
      marks: [],
      excess: { inTemplate: true, given: 51 },
    });
  });

  it('decides by a rule that says what was expected and what was given', () => {
    const { kind, annotations, podAnnotations, excess } = limited({
      annotations: { ...AUTO, [RELOAD]: long },
    });
    const decision = decideReload({
      source: { kind: 'ConfigMap', name: 'x', annotations: {} },
      workload: { kind, annotations, podAnnotations, excess },
      settings: { keys: KEYS, autoReloadAll: true, ignoredWorkloadTypes: [] },
    });
    expect(decision).toMatchObject({
      reload: false,
      reason: 'InvalidAnnotation',
      detail: `${RELOAD}: expected a list of at most 100 bytes, given 400`,
    });
  });
});

describe('observed at the defaults', () => {
  const metadata = { name: 'web', namespace: 'ns', uid: 'u', resourceVersion: '7' };

  function observe(annotations: Annotations, template = {}): ObservedWorkload {
    return observeWorkload({ kind: 'Deployment', metadata: { ...metadata, annotations }, template }, KEYS);
  }

  it('a list that is too long is not even read', () => {
    const list = 'name,'.repeat(50_000);
    const spent = workOf(() => expect(observe({ [RELOAD]: list }).excess?.given).toBe(250_000));
    expect(spent).toMatchObject({ listCharacters: 0, compiledCost: 0 });
  });

  it('no pattern is compiled that a limit refuses', () => {
    const list = Array.from({ length: 900 }, (_, index) => `(x{30}${index})`).join(',');
    const spent = workOf(() => expect(observe({ [RELOAD]: list }).excess?.limit).toBe('patternCost'));
    expect(spent.compiledCost).toBe(0);
  });

  it('nor is one whose count is beyond all numbers', () => {
    const list = `a{0${'9'.repeat(400)}}{2}|${'(b?){999}'.repeat(50)}`;
    const spent = workOf(() => expect(observe({ [RELOAD]: list }).excess?.limit).toBe('patternCost'));
    expect(spent).toMatchObject({ compiledCost: 0, matchSteps: 0 });
  });

  it('a value that is no list is kept up to a length', () => {
    const { annotations } = observe({ [KEYS.auto]: 'x'.repeat(100_000), [KEYS.search]: 'true' });
    expect(annotations).toEqual({ [KEYS.auto]: `${'x'.repeat(200)}…`, [KEYS.search]: 'true' });
  });

  it('a pod template of very many sources is left alone', () => {
    const { sources } = DEFAULT_ANNOTATION_LIMITS;
    const envFrom = namesOf(sources + 1).map((name) => ({ configMapRef: { name } }));
    const seen = observe(AUTO, { spec: { containers: [{ name: 'c', envFrom }] } });
    expect(seen).toMatchObject({
      uses: [],
      excess: { limit: 'sources', inTemplate: true, given: sources + 1 },
    });
  });

  it.each([
    ['only the truth is kept', { [KEYS.match]: 'true', [KEYS.ignore]: 'True' }, { [KEYS.match]: 'true' }],
    ['and no text of any length', { [KEYS.match]: 'x'.repeat(100_000) }, {}],
  ])('of the annotations of a source %s', (_, annotations, kept) => {
    const source = { kind: 'ConfigMap', metadata: { ...metadata, annotations }, data: {} } as const;
    expect(observeSource(source, KEYS, []).annotations).toEqual(kept);
  });
});

describe('in the cluster state, a workload that exceeds a limit', () => {
  const cm = { key: 'ConfigMap', namespace: '' };
  const over = limited({ annotations: { ...AUTO, [RELOAD]: 'a,b,c,d,e,f' }, uses: ['ConfigMap/cm'] });

  function clusterStateOf(...objects: readonly ObservedWorkload[]): ClusterState {
    const decision = { keys: KEYS, autoReloadAll: true, ignoredWorkloadTypes: [] };
    const clusterState = new ClusterState({ decision, adoptedAt: 50 });
    const found = [seenSource('cm', 10, 'A')];
    clusterState.sourcesListed({
      scope: { ...cm, kind: 'ConfigMap' },
      rv: '100',
      objects: found,
      catalog: new Map(),
    });
    const scope = { kind: 'Deployment', namespace: '' };
    clusterState.workloadListBegins(scope);
    clusterState.workloadsListed({ scope, rv: '100', objects, catalog: new Map() });
    return clusterState;
  }

  it('has no dependencies, and its owner is told', () => {
    const clusterState = clusterStateOf(over);
    expect(clusterState.workloads.get(over.key)?.dependencies).toEqual([]);
    expect([...clusterState.outbox.reloads]).toEqual([[over.key, 'correct']]);
    expect(clusterState.sourcesOf(over.key)).toEqual(['ConfigMap/ns/cm']);
  });

  it('reloads again once it is mended, also for what changed meanwhile and was recorded before', () => {
    const record = '{"v":1,"s":{"ConfigMap/cm":"1.A"}}';
    const clusterState = clusterStateOf({ ...over, record });
    clusterState.sourceWritten(seenSource('cm', 110, 'B'), { kind: 'ConfigMap', namespace: '' });
    clusterState.outbox.clear();
    clusterState.workloadWritten(seenWorkload('web', 120, { record }));
    expect(clusterState.workloads.get(over.key)).toMatchObject({ dependencies: ['ConfigMap/cm'] });
    expect([...clusterState.outbox.reloads]).toEqual([[over.key, 'owed']]);
  });
});
