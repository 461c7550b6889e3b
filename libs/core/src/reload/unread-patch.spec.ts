import { array, assert, constantFrom, option, property, record } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DEFAULT_ANNOTATION_KEYS } from '../annotations/annotation-keys.ts';
import { DELETED_MARKER_HASH } from '../marker/marker-hash.ts';
import { markerPlaces, readMarkerPlaces } from '../marker/marker-places.ts';
import type { Annotations, Container, PodTemplate } from '../model.ts';
import { hashKey, type HashKeys } from '../record/record-hash.ts';
import { MOST_RECORD_BYTES, RECORD_ANNOTATION } from '../record/record.ts';
import { decidingKeys, observeWorkload } from '../state/observe.ts';
import { AUTO } from '../testing/rows.ts';
import { workOf } from '../work.ts';
import { patched, pointer, type PatchOperation } from './json-patch.ts';
import { reloadPatch, type RolledSource } from './patch.ts';
import { unreadPatch } from './unread-patch.ts';

const KEYS = DEFAULT_ANNOTATION_KEYS;
const HASH_KEYS: HashKeys = [hashKey(Buffer.from('secret'))];
const CM = 'STAKATER_CM_CONFIGMAP';

function rolled(name: string, more: Partial<RolledSource> = {}): RolledSource {
  return { kind: 'ConfigMap', namespace: 'ns', name, auto: true, markerHash: 'h-new', ...more };
}

function workload(
  containers: readonly Container[],
  annotations: Annotations = {},
): {
  metadata: Parameters<typeof observeWorkload>[0]['metadata'];
  spec: { template: PodTemplate };
} {
  const metadata = {
    name: 'web',
    namespace: 'ns',
    uid: 'u',
    generation: 3,
    resourceVersion: '7',
    annotations: { ...AUTO, ...annotations, [RECORD_ANNOTATION]: 'old' },
  };
  return { metadata, spec: { template: { metadata: {}, spec: { containers } } } };
}

interface By {
  readonly rolled?: readonly RolledSource[];
  readonly record?: string;
  readonly workerKeys?: HashKeys;
  readonly annotations?: Annotations;
}

function patchOf(containers: readonly Container[], by: By = {}): PatchOperation[] | undefined {
  const { metadata, spec } = workload(containers, by.annotations);
  const row = observeWorkload({ kind: 'Deployment', metadata, template: spec.template }, KEYS);
  const places = readMarkerPlaces(markerPlaces(spec.template, row, HASH_KEYS), row.uses.length);
  if (!places) return undefined;
  return unreadPatch({
    row,
    places,
    templatePath: '/spec/template',
    rolled: by.rolled ?? [rolled('cm')],
    record: by.record ?? 'new',
    keys: KEYS,
    hashKeys: by.workerKeys ?? HASH_KEYS,
  });
}

const using = (...names: readonly string[]): Container['envFrom'] =>
  names.map((name) => ({ configMapRef: { name } }));

describe('the patch of a workload that was not read', () => {
  const someContainer = record({
    name: constantFrom('a', 'b'),
    envFrom: option(array(constantFrom('cm', 'other', 'third')), { nil: undefined }),
    env: option(
      array(
        record({
          name: constantFrom('PLAIN', CM, 'STAKATER_OTHER_CONFIGMAP', 'STAKATER_GONE_CONFIGMAP'),
          value: constantFrom('h-old', 'h-older'),
        }),
        { minLength: 1 },
      ),
      { nil: undefined },
    ),
  });

  it('does what the patch of one that was read does', () => {
    const containers = array(someContainer, { minLength: 1, maxLength: 3 });
    assert(
      property(containers, array(constantFrom('cm', 'other'), { minLength: 1 }), (given, names) => {
        const made = given.map(({ envFrom = [], ...more }) => ({ ...more, envFrom: using(...envFrom) }));
        const sources = [...new Set(names)].map((name) => rolled(name, { auto: false }));
        const { metadata, spec } = workload(made);
        const read = reloadPatch({
          metadata,
          template: spec.template,
          templatePath: '/spec/template',
          strategy: 'env-vars',
          rolled: sources,
          record: 'new',
          markerAnnotation: KEYS.lastReloadedFrom,
          now: 0,
        });
        const object = { metadata, spec };
        const unread = patchOf(made, { rolled: sources });
        expect(patched(object, unread ?? [])).toEqual(patched(object, read));
      }),
    );
  });

  it('tests uid, generation, record and all annotations that decide', () => {
    const tests = (patchOf([{ name: 'app', envFrom: using('cm') }]) ?? []).filter(({ op }) => op === 'test');
    expect(tests.map(({ path }) => path)).toEqual([
      ...decidingKeys(KEYS).map((key) => pointer('/metadata/annotations', key)),
      '/metadata/uid',
      '/metadata/generation',
      pointer('/metadata/annotations', RECORD_ANNOTATION),
      '/spec/template/spec/containers/0/env',
    ]);
    expect(tests.find(({ path }) => path.endsWith('stakater.com~1auto'))?.value).toBe('true');
    expect(tests.find(({ path }) => path.endsWith('~1search'))?.value).toBeNull();
  });

  it('tests a long list as a whole', () => {
    const list = 'cm,'.repeat(300);
    const patch = patchOf([{ name: 'app', envFrom: using('cm') }], {
      annotations: { [KEYS.configMapReload]: list },
    });
    const path = pointer('/metadata/annotations', KEYS.configMapReload);
    expect(patch?.find((each) => each.path === path)?.value).toBe(list);
  });

  it('tests that the variable that it replaces is the marker', () => {
    const env = [
      { name: 'A', value: '1' },
      { name: CM, value: 'h-old' },
    ];
    const path = '/spec/template/spec/containers/0/env/1';
    expect(patchOf([{ name: 'app', envFrom: using('cm'), env }])?.slice(-2)).toEqual([
      { op: 'test', path: `${path}/name`, value: CM },
      { op: 'replace', path, value: { name: CM, value: 'h-new' } },
    ]);
  });

  const app: Container = { name: 'app', envFrom: using('cm') };
  const marked: Container = { ...app, env: [{ name: CM, value: 'h-new' }] };
  const old: Container = { ...app, env: [{ name: CM, value: 'h-old' }] };

  it.each<[string, readonly Container[], By]>([
    ['the marker has its value already', [marked], {}],
    ['another container has a marker with this value', [app, { name: 'b', env: marked.env }], {}],
    ['one of two containers has a marker with this value', [old, { name: 'b', env: marked.env }], {}],
    ['the marker was hashed under another key', [old], { workerKeys: [hashKey(Buffer.from('other'))] }],
    ['a source was deleted', [app], { rolled: [rolled('cm', { markerHash: DELETED_MARKER_HASH })] }],
    ['a class is mounted', [app], { rolled: [rolled('cm', { kind: 'SecretProviderClass' })] }],
    ['the record is large', [app], { record: 'x'.repeat(MOST_RECORD_BYTES / 2 + 1) }],
    ['an annotation is cut in the row', [app], { annotations: { [KEYS.search]: 'x'.repeat(201) } }],
    ['there are too many containers', Array.from({ length: 300 }, () => app), {}],
  ])('is not made if %s', (_, containers, by) => {
    expect(patchOf(containers, by)).toBeUndefined();
  });
});

describe('places', () => {
  it.each([
    undefined,
    '',
    '{}',
    '[]',
    '[[0]]',
    '[[-1],[null]]',
    '[["a"],[]]',
    '[[0],[[[0,"x","1.a"]]]]',
    '[[1],[null]]',
    '[[0,0],[null]]',
    `[[0],[${'null,'.repeat(300)}null]]`,
  ])('that cannot be read, or do not fit the row (%s), are none', (text) =>
    expect(readMarkerPlaces(text, 1)).toBeUndefined(),
  );

  const uses = Array.from({ length: 20_000 }, (_, index) => `ConfigMap/c-${index}`);
  const env = uses.map((_, index) => ({ name: `STAKATER_C_${index}_CONFIGMAP`, value: 'h' }));
  const marks = env.map(({ name }) => name);

  it.each([
    ['uses', { uses, marks: [] }],
    ['markers', { uses: [], marks }],
  ])('of a workload with very many %s are not looked for', (_, names) => {
    // Whoever looks at the template fails.
    const template: PodTemplate = Object.defineProperty({}, 'spec', {
      get: () => ({
        get containers(): never {
          throw new Error('looked at');
        },
      }),
    });
    expect(markerPlaces(template, names, HASH_KEYS)).toBeUndefined();
  });

  it('take a hash for each marker, and none for other variables or repeated ones', () => {
    const others = Array.from({ length: 20_000 }, (_, index) => ({ name: `OTHER_${index}`, value: 'x' }));
    const own = env.slice(0, 30);
    const containers = [{ name: 'app', env: [...others, ...own, ...own] }];
    const names = { uses: [], marks: own.map(({ name }) => name) };
    const { hashedMarkers } = workOf(() => void markerPlaces({ spec: { containers } }, names, HASH_KEYS));
    expect(hashedMarkers).toBe(30);
  });
});
