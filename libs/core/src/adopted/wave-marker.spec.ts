import { createHash } from 'node:crypto';
import { describe, expect, it, vi } from 'vitest';
import type { Annotations, PodSpec, SourceData } from '../model.ts';
import { iterated } from '../testing/iterated.ts';
import { provenByWave, waveChildren, WaveMark, type WaveChildren } from './wave-marker.ts';

function childrenOf(spec: PodSpec, annotations: Annotations = {}): WaveChildren | undefined {
  const metadata = { name: 'web', namespace: 'shop', uid: 'u', resourceVersion: '1', annotations };
  return waveChildren({ metadata, template: { spec } });
}

function isMarked(
  marked: string,
  children: Readonly<Record<string, 'all' | string[]>>,
  data: Readonly<Record<string, SourceData | null>>,
): boolean {
  const keys = Object.entries(children).map(
    ([name, all]) => [name, all === 'all' ? all : new Set(all)] as const,
  );
  const mark = new WaveMark(new Map(keys));
  for (const name of mark.names) if (data[name]) mark.add(name, data[name]);
  return mark.is(marked);
}

describe('a pod template with many variables', () => {
  const ref = (name: string, key: string) => ({
    name: key,
    valueFrom: { configMapKeyRef: { name, key } },
  });

  it('is read in time for their number, if they are keys of one source', () => {
    const env = Array.from({ length: 1_000 }, (_, index) => ref('cm', `k${index}`));
    let children: WaveChildren | undefined;
    const work = iterated(() => (children = childrenOf({ containers: [{ name: 'a', env }] })));
    expect(children?.get('ConfigMap/cm')).toEqual(new Set(env.map(({ name }) => name)));
    expect(work).toBeLessThan(20_000);
  });

  it('is also in init containers looked through once', () => {
    const env = Array.from({ length: 1_000 }, (_, index) => ref(`cm-${index}`, 'k'));
    const spec = { containers: [{ name: 'a', env }], initContainers: [{ name: 'i', env: env.slice(1) }] };
    const children = childrenOf(spec) ?? new Map();
    const includes = vi.spyOn(Array.prototype, 'includes');
    expect([...provenByWave(children, { spec })]).toEqual(['ConfigMap/cm-0']);
    const searches = includes.mock.calls.length;
    includes.mockRestore();
    expect(searches).toBe(0);
  });
});

const VECTOR = '7ef4fe9b1023a04e8b260426709b07d822a7e55294e75b43172a1cf94e0f23d9';
const BOTH = { 'Secret/s': 'all', 'ConfigMap/cm': 'all' } as const;
const SECRET = { data: { a: 'MQ==' } };

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

describe("Wave's hash", () => {
  it('of {foo:bar} in a ConfigMap and {a:1} in a Secret is its own', () => {
    const data = { 'ConfigMap/cm': { data: { foo: 'bar' } }, 'Secret/s': SECRET };
    expect(isMarked(VECTOR, BOTH, data)).toBe(true);
    expect(isMarked(VECTOR, BOTH, { ...data, 'Secret/s': { data: { a: 'Mg==' } } })).toBe(false);
    expect(isMarked(VECTOR, { 'ConfigMap/cm': 'all' }, data)).toBe(false);
  });

  it('of nothing is its own too, also of a source that does not exist', () => {
    const nothing = '100444e91862dd77d7ebe29f050c1e9a7f357c771e1a7b7650aae27e6a3a031d';
    expect(isMarked(nothing, {}, {})).toBe(true);
    expect(isMarked(nothing, { 'Secret/s': 'all' }, { 'Secret/s': null })).toBe(true);
  });

  it('has sources in the order of their names, whatever the order of their uses', () => {
    const text =
      '{"configMaps":{"a":{"k":"MQ=="},"b":{"k":"Mg=="}},"secrets":{"a":{"a":"MQ=="},"b":{"a":"MQ=="}}}';
    const children = {
      'Secret/b': 'all',
      'ConfigMap/b': 'all',
      'Secret/a': 'all',
      'ConfigMap/a': 'all',
    } as const;
    const data = { 'ConfigMap/a': { data: { k: '1' } }, 'ConfigMap/b': { data: { k: '2' } } };
    expect(isMarked(sha256(text), children, { ...data, 'Secret/a': SECRET, 'Secret/b': SECRET })).toBe(true);
  });

  it('is over the keys that are used only', () => {
    const data = { 'ConfigMap/cm': { data: { foo: 'bar', other: '1' } }, 'Secret/s': SECRET };
    expect(isMarked(VECTOR, { ...BOTH, 'ConfigMap/cm': ['foo', 'missing'] }, data)).toBe(true);
    expect(isMarked(VECTOR, BOTH, data)).toBe(false);
  });

  it('takes binary data for data, and before it', () => {
    const data = {
      'ConfigMap/cm': { data: { foo: 'text' }, binaryData: { foo: 'YmFy' } },
      'Secret/s': SECRET,
    };
    expect(isMarked(VECTOR, BOTH, data)).toBe(true);
  });

  it.each(['{}', 'null'])('of a Secret without data may have %s for it', (empty) => {
    const text = `{"configMaps":{},"secrets":{"s":${empty}}}`;
    expect(isMarked(sha256(text), { 'Secret/s': 'all' }, { 'Secret/s': {} })).toBe(true);
  });

  it('up to 0.6 has the values of ConfigMaps as text, as Go escapes it', () => {
    const text = String.raw`{"configMaps":{"cm":{"a":"\u003cb\u003e \u0026 \"q\" \\b\n\u0008\u2028é"}},"secrets":{"s":{"a":"MQ=="}}}`;
    const value = '<b> & "q" \\b\n\b\u2028é';
    const data = { 'ConfigMap/cm': { data: { a: value } }, 'Secret/s': SECRET };
    expect(isMarked(sha256(text), BOTH, data)).toBe(true);
  });
});

describe('what Wave hashes', () => {
  const spec: PodSpec = {
    volumes: [
      { name: 'v', secret: { secretName: 'mounted' } },
      {
        name: 'p',
        projected: {
          sources: [{ configMap: { name: 'items', items: [{ key: 'k' }] } }, { secret: { name: 'whole' } }],
        },
      },
    ],
    initContainers: [
      { name: 'init', envFrom: [{ configMapRef: { name: 'first' } }, { configMapRef: { name: 'from' } }] },
    ],
    containers: [
      {
        name: 'app',
        envFrom: [{ configMapRef: { name: 'from' } }],
        env: [
          { name: 'A', valueFrom: { secretKeyRef: { name: 'single', key: 'a' } } },
          { name: 'B', valueFrom: { secretKeyRef: { name: 'single', key: 'b' } } },
          { name: 'C', valueFrom: { configMapKeyRef: { name: 'from', key: 'c' } } },
        ],
      },
    ],
  };

  it('is what volumes and containers use, of a single variable and of items the keys, and the extras', () => {
    const extras = {
      'wave.pusher.com/extra-configmaps': 'more, blank',
      'wave.pusher.com/extra-secrets': 'shop/own,single',
    };
    const found = childrenOf(spec, extras);
    expect(Object.fromEntries(found ?? [])).toEqual({
      'Secret/mounted': 'all',
      'ConfigMap/items': new Set(['k']),
      'Secret/whole': 'all',
      'ConfigMap/from': 'all',
      'Secret/single': 'all',
      'ConfigMap/more': 'all',
      'Secret/own': 'all',
    });
    expect(childrenOf(spec)?.get('Secret/single')).toEqual(new Set(['a', 'b']));
  });

  it('proves nothing of what an init container has in its variables', () => {
    const children = childrenOf(spec) ?? new Map();
    const proven = provenByWave(children, { spec });
    expect(proven.has('ConfigMap/from')).toBe(false);
    expect(proven.has('Secret/mounted')).toBe(true);
  });

  it('cannot be told with an extra of another namespace', () => {
    expect(childrenOf(spec, { 'wave.pusher.com/extra-secrets': 'other/s' })).toBeUndefined();
  });
});
