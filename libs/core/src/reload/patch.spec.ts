import { describe, expect, it } from 'vitest';
import { DELETED_MARKER_HASH } from '../marker/marker-hash.ts';
import type { PodTemplate } from '../model.ts';
import { pointer } from './json-patch.ts';
import { reloadPatch, type PatchInput, type RolledSource } from './patch.ts';

const MARKER = 'reloader.stakater.com/last-reloaded-from';
const RECORD_PATH = '/metadata/annotations/reroll.dev~1applied';

function rolled(name: string, markerHash: string, more: Partial<RolledSource> = {}): RolledSource {
  return { kind: 'ConfigMap', namespace: 'ns', name, auto: true, markerHash, ...more };
}

function template(more: object = {}): PodTemplate {
  return {
    metadata: {},
    spec: { containers: [{ name: 'app', envFrom: [{ configMapRef: { name: 'cm' } }], ...more }] },
  };
}

function input(more: Partial<PatchInput> = {}): PatchInput {
  return {
    metadata: { uid: 'u', generation: 3, annotations: { 'reroll.dev/applied': 'old' } },
    template: template(),
    templatePath: '/spec/template',
    strategy: 'env-vars',
    rolled: [rolled('cm', 'h1')],
    record: 'new',
    markerAnnotation: MARKER,
    now: 1_795_219_190,
    ...more,
  };
}

const markers = (of: PatchInput) => reloadPatch(of).filter(({ path }) => path.startsWith('/spec'));

describe('a restart without another template', () => {
  const NOW = 1_795_219_190;
  const restarted = (last: number) =>
    markers(input({ restart: { path: '/spec/restartAt', last, now: NOW }, now: NOW - 100 }));

  it('sets the next second, because pods of this one may have the old data, and touches no template', () => {
    expect(restarted(0)).toEqual([{ op: 'add', path: '/spec/restartAt', value: '2026-11-20T23:59:51Z' }]);
  });

  it('sets another second than the one that is there', () => {
    expect(restarted(1_795_219_191)).toMatchObject([{ value: '2026-11-20T23:59:52Z' }]);
  });

  it('sets the next second also where a later restart was planned: the data is needed now', () => {
    expect(restarted(1_795_300_000)).toMatchObject([{ value: '2026-11-20T23:59:51Z' }]);
  });

  it('sets nothing if nothing is rolled', () => {
    expect(markers(input({ rolled: [], restart: { path: '/spec/restartAt', last: 0, now: NOW } }))).toEqual(
      [],
    );
  });
});

describe('the preconditions of a patch', () => {
  it('are uid, generation and the previous record', () => {
    expect(reloadPatch(input()).slice(0, 4)).toEqual([
      { op: 'test', path: '/metadata/uid', value: 'u' },
      { op: 'test', path: '/metadata/generation', value: 3 },
      { op: 'test', path: RECORD_PATH, value: 'old' },
      { op: 'add', path: RECORD_PATH, value: 'new' },
    ]);
  });

  it('test that there is no record where none was read', () => {
    const operations = reloadPatch(
      input({ metadata: { uid: 'u', generation: 3, annotations: { other: 'x' } } }),
    );
    expect(operations[2]).toEqual({ op: 'test', path: RECORD_PATH, value: null });
  });

  it('test that there are no annotations before adding the first', () => {
    const operations = reloadPatch(input({ metadata: { uid: 'u', generation: 3 } }));
    expect(operations.slice(2, 4)).toEqual([
      { op: 'test', path: '/metadata/annotations', value: null },
      { op: 'add', path: '/metadata/annotations', value: { 'reroll.dev/applied': 'new' } },
    ]);
  });
});

describe('with nothing to roll', () => {
  it('only the record is written', () => {
    expect(markers(input({ rolled: [] }))).toEqual([]);
  });
});

describe('the env-vars strategy', () => {
  it('adds the list where the container has none', () => {
    expect(markers(input())).toEqual([
      {
        op: 'add',
        path: '/spec/template/spec/containers/0/env',
        value: [{ name: 'STAKATER_CM_CONFIGMAP', value: 'h1' }],
      },
    ]);
  });

  it('appends to the list that is there', () => {
    expect(markers(input({ template: template({ env: [{ name: 'A', value: '1' }] }) }))).toEqual([
      {
        op: 'add',
        path: '/spec/template/spec/containers/0/env/-',
        value: { name: 'STAKATER_CM_CONFIGMAP', value: 'h1' },
      },
    ]);
  });

  it('replaces the variable that is there', () => {
    const env = [
      { name: 'A', value: '1' },
      { name: 'STAKATER_CM_CONFIGMAP', value: 'h0' },
    ];
    expect(markers(input({ template: template({ env }) }))).toEqual([
      {
        op: 'replace',
        path: '/spec/template/spec/containers/0/env/1',
        value: { name: 'STAKATER_CM_CONFIGMAP', value: 'h1' },
      },
    ]);
  });

  it('writes one list for two sources of one container', () => {
    const both = [rolled('cm', 'h1'), rolled('named', 'h2', { auto: false })];
    expect(markers(input({ rolled: both }))).toEqual([
      {
        op: 'add',
        path: '/spec/template/spec/containers/0/env',
        value: [
          { name: 'STAKATER_CM_CONFIGMAP', value: 'h1' },
          { name: 'STAKATER_NAMED_CONFIGMAP', value: 'h2' },
        ],
      },
    ]);
  });

  it('writes a variable that two sources share once, for the later one', () => {
    const both = [rolled('a.b', 'h1', { auto: false }), rolled('a-b', 'h2', { auto: false })];
    expect(markers(input({ rolled: both }))).toEqual([
      {
        op: 'add',
        path: '/spec/template/spec/containers/0/env',
        value: [{ name: 'STAKATER_A_B_CONFIGMAP', value: 'h2' }],
      },
    ]);
  });

  it('marks the template by the annotation where the variable already has the value', () => {
    const env = [{ name: 'STAKATER_CM_CONFIGMAP', value: 'h1' }];
    const [operation, ...others] = markers(input({ template: template({ env }) }));
    expect(others).toEqual([]);
    expect(operation?.path).toBe('/spec/template/metadata/annotations');
  });
});

describe('the annotations strategy', () => {
  const value =
    '{"type":"CONFIGMAP","name":"cm","namespace":"ns","hash":"h1","containerRefs":["app"],"observedAt":1795219190}';
  const path = '/spec/template/metadata/annotations/reloader.stakater.com~1last-reloaded-from';

  it.each<[string, PodTemplate, unknown]>([
    [
      'no metadata',
      { spec: template().spec },
      { op: 'add', path: '/spec/template/metadata', value: { annotations: { [MARKER]: value } } },
    ],
    [
      'no annotations',
      template(),
      { op: 'add', path: '/spec/template/metadata/annotations', value: { [MARKER]: value } },
    ],
    [
      'other annotations',
      { ...template(), metadata: { annotations: { a: 'b' } } },
      { op: 'add', path, value },
    ],
  ])('writes the annotation where the template has %s', (_, of, expected) => {
    expect(markers(input({ strategy: 'annotations', template: of }))).toEqual([expected]);
  });

  it('moves the time by a second where the same text is there already, so that the template changes', () => {
    const of = { ...template(), metadata: { annotations: { [MARKER]: value } } };
    const later = value.replace('1795219190', '1795219191');
    expect(markers(input({ strategy: 'annotations', template: of }))).toEqual([
      { op: 'add', path, value: later },
    ]);
  });

  it('names the last of several sources', () => {
    const both = [rolled('other', 'h0', { auto: false }), rolled('cm', 'h1')];
    expect(markers(input({ strategy: 'annotations', rolled: both }))).toEqual([
      { op: 'add', path: '/spec/template/metadata/annotations', value: { [MARKER]: value } },
    ]);
  });
});

describe('a template with many variables and sources', () => {
  /** Counts how often the variables of the container are read. */
  function counted(count: number): { template: PodTemplate; reads: () => number } {
    let reads = 0;
    const env = Array.from({ length: count }, (_, index) => ({ name: `V${index}`, value: '' }));
    const container = {
      name: 'app',
      get env() {
        reads += 1;
        return env;
      },
    };
    return { template: { spec: { containers: [container] } }, reads: () => reads };
  }

  it.each(['env-vars', 'annotations'] as const)('is read a few times, not once a source: %s', (strategy) => {
    const readsFor = (sources: number): number => {
      const { template: of, reads } = counted(10);
      const all = Array.from({ length: sources }, (_, index) => rolled(`cm-${index}`, 'h', { auto: false }));
      expect(markers(input({ strategy, template: of, rolled: all })).length).toBeGreaterThan(0);
      return reads();
    };
    expect(readsFor(100)).toBe(readsFor(1));
  });

  it('is read for its markers once more only if there is a request', () => {
    const readsWith = (request: string | undefined): number => {
      const { template: of, reads } = counted(10);
      markers(input({ template: of, rolled: [rolled('cm', 'h', { auto: false })], request }));
      return reads();
    };
    expect(readsWith(undefined)).toBeLessThan(readsWith('r'));
    expect(readsWith(undefined)).toBeLessThanOrEqual(2);
  });
});

describe('a source that no container can carry', () => {
  it('is an error that names it', () => {
    expect(() => reloadPatch(input({ rolled: [rolled('unused', 'h1')] }))).toThrow(
      'marker of ConfigMap unused',
    );
  });
});

describe('a JSON Pointer', () => {
  it('escapes tildes before slashes', () => {
    expect(pointer('/a', 'x~/y', 0)).toBe('/a/x~0~1y/0');
  });
});

describe('a source that was deleted', () => {
  const gone = (name: string): RolledSource => rolled(name, DELETED_MARKER_HASH, { auto: false });
  const ENV = '/spec/template/spec/containers/0/env';
  const variable = (name: string, value: string) => ({ name: `STAKATER_${name}_CONFIGMAP`, value });

  it('has its variables taken away, the last first, each only if it is the one that was read', () => {
    const env = [variable('CM', 'h0'), { name: 'A', value: '1' }, variable('OTHER', 'h1')];
    const operations = markers(input({ template: template({ env }), rolled: [gone('cm'), gone('other')] }));
    expect(operations).toEqual([
      { op: 'test', path: `${ENV}/2`, value: env[2] },
      { op: 'remove', path: `${ENV}/2` },
      { op: 'test', path: `${ENV}/0`, value: env[0] },
      { op: 'remove', path: `${ENV}/0` },
    ]);
  });

  it('goes after what is set in the same patch, so that no index is moved before it is used', () => {
    const env = [variable('GONE', 'h0'), variable('CM', 'h0')];
    const operations = markers(
      input({ template: template({ env }), rolled: [gone('gone'), rolled('cm', 'h1')] }),
    );
    expect(operations).toEqual([
      { op: 'replace', path: `${ENV}/1`, value: variable('CM', 'h1') },
      { op: 'test', path: `${ENV}/0`, value: env[0] },
      { op: 'remove', path: `${ENV}/0` },
    ]);
  });

  it('leaves a variable that it shares with one that is set', () => {
    const env = [variable('A_B', 'h0')];
    const both = [rolled('a-b', 'h1', { auto: false }), gone('a.b')];
    expect(markers(input({ template: template({ env }), rolled: both }))).toEqual([
      { op: 'replace', path: `${ENV}/0`, value: variable('A_B', 'h1') },
    ]);
  });

  it('is told by the annotation under the annotations strategy', () => {
    const [operation] = markers(input({ strategy: 'annotations', rolled: [gone('cm')] }));
    expect(operation?.path).toBe('/spec/template/metadata/annotations');
    expect(JSON.stringify(operation?.value)).toContain(DELETED_MARKER_HASH);
  });
});
