import { expect, it } from 'vitest';
import type { PodSpec } from '../model.ts';
import { referencedSources } from './references.ts';
import { sourceUses } from './source-uses.ts';

const spec: PodSpec = {
  containers: [
    {
      name: 'app',
      env: [
        { name: 'ONE', valueFrom: { configMapKeyRef: { name: 'cm', key: 'a' } } },
        { name: 'OTHER', valueFrom: { secretKeyRef: { name: 'cm', key: 'a' } } },
      ],
      envFrom: [{ configMapRef: { name: 'cm' } }, { secretRef: { name: 'db' } }],
    },
    { name: 'side', volumeMounts: [{ name: 'plain' }, { name: 'all' }] },
  ],
  initContainers: [{ name: 'init', volumeMounts: [{ name: 'class' }] }],
  volumes: [
    { name: 'plain', configMap: { name: 'cm' } },
    { name: 'all', projected: { sources: [{ secret: { name: 'db' } }, { configMap: { name: 'cm' } }] } },
    { name: 'class', csi: { volumeAttributes: { secretProviderClass: 'vault' } } },
    { name: 'idle', secret: { secretName: 'tls' } },
  ],
};

it('every place that refers to a source is told, by container, and what nothing mounts last', () => {
  expect(sourceUses(spec, { kind: 'ConfigMap', name: 'cm' })).toEqual([
    { by: 'env', container: 'app', init: false, name: 'ONE' },
    { by: 'envFrom', container: 'app', init: false },
    { by: 'volume', container: 'side', init: false, name: 'plain' },
    { by: 'projectedVolume', container: 'side', init: false, name: 'all' },
  ]);
  expect(sourceUses(spec, { kind: 'Secret', name: 'db' })).toEqual([
    { by: 'envFrom', container: 'app', init: false },
    { by: 'projectedVolume', container: 'side', init: false, name: 'all' },
  ]);
  expect(sourceUses(spec, { kind: 'SecretProviderClass', name: 'vault' })).toEqual([
    { by: 'csiVolume', container: 'init', init: true, name: 'class' },
  ]);
  expect(sourceUses(spec, { kind: 'Secret', name: 'tls' })).toEqual([
    { by: 'volume', container: undefined, init: false, name: 'idle' },
  ]);
  expect(sourceUses(spec, { kind: 'Secret', name: 'nowhere' })).toEqual([]);
});

it('whatever counts as used has a place with a container', () => {
  const places = referencedSources(spec).map((source) => sourceUses(spec, source));
  expect(places).toHaveLength(4);
  for (const uses of places) expect(uses.some(({ container }) => container !== undefined)).toBe(true);
});
