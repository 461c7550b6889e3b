import { array, assert, boolean, constantFrom, option, property, record } from 'fast-check';
import { describe, expect, it } from 'vitest';

import type { PodSpec, SourceKind } from '../model.ts';
import { SOURCE_KINDS } from '../model.ts';
import { containerUsing, referencedSources } from './references.ts';
import {
  configMapKey,
  mounting,
  podSpec,
  secretKey,
  withContainer,
  withEnv,
  withEnvFrom,
  withField,
  withInitContainer,
  withVolume,
} from '../testing/pods.ts';

const CONFIG_MAP = { kind: 'ConfigMap', name: 'cm' } as const;
const SECRET = { kind: 'Secret', name: 'db' } as const;
const PROVIDER_CLASS = { kind: 'SecretProviderClass', name: 'vault' } as const;

const OPTIONAL_SECRET = { name: 'db', optional: true };

type Found = readonly [PodSpec, { readonly kind: SourceKind; readonly name: string }, number | null];

const ofConfigMap = { configMap: { name: 'cm' } };
const ofSecret = { secret: { secretName: 'db' } };
const ofProviderClass = { csi: { volumeAttributes: { secretProviderClass: 'vault' } } };
const projecting = { projected: { sources: [{ configMap: { name: 'cm' } }, { secret: { name: 'db' } }] } };

function finds(cases: Readonly<Record<string, Found>>): void {
  it.each(Object.entries(cases))('%s', (_, [spec, source, container]) => {
    expect(containerUsing(spec, source, true)).toBe(container);
    const isReferenced = referencedSources(spec).some(
      ({ kind, name }) => kind === source.kind && name === source.name,
    );
    expect(isReferenced).toBe(container !== null);
  });
}

describe('1. and 2. volumes', () => {
  const mountedBySecond = (volume: object): PodSpec =>
    podSpec(withVolume('v', volume), withContainer('a'), withContainer('b', mounting('v')));
  finds({
    'a ConfigMap volume: the container that mounts it': [mountedBySecond(ofConfigMap), CONFIG_MAP, 1],
    'a Secret volume: the container that mounts it': [mountedBySecond(ofSecret), SECRET, 1],
    'a CSI volume: the container that mounts it, whatever the driver': [
      mountedBySecond(ofProviderClass),
      PROVIDER_CLASS,
      1,
    ],
    'a ConfigMap in a projected volume': [mountedBySecond(projecting), CONFIG_MAP, 1],
    'a Secret in a projected volume': [mountedBySecond(projecting), SECRET, 1],
    'a ConfigMap of that name is not the Secret of that name': [
      mountedBySecond(ofConfigMap),
      { kind: 'Secret', name: 'cm' },
      null,
    ],
    'a source of another name': [mountedBySecond(ofConfigMap), { kind: 'ConfigMap', name: 'x' }, null],
    'the first of several containers that mount it': [
      podSpec(
        withVolume('v', ofConfigMap),
        withContainer('a', mounting('v')),
        withContainer('b', mounting('v')),
      ),
      CONFIG_MAP,
      0,
    ],
    'only an init container mounts it: the first container': [
      podSpec(
        withVolume('v', ofConfigMap),
        withInitContainer('i', mounting('v')),
        withContainer('a'),
        withContainer('b'),
      ),
      CONFIG_MAP,
      0,
    ],
    'a container comes before an init container': [
      podSpec(
        withVolume('v', ofConfigMap),
        withInitContainer('i', mounting('v')),
        withContainer('a'),
        withContainer('b', mounting('v')),
      ),
      CONFIG_MAP,
      1,
    ],
    'mounted by an init container, read by the second: still the first': [
      podSpec(
        withVolume('v', ofConfigMap),
        withInitContainer('i', mounting('v')),
        withContainer('a'),
        withContainer('b', withEnv(configMapKey('cm'))),
      ),
      CONFIG_MAP,
      0,
    ],
    'mounted by the second, read by the first: the one that mounts it': [
      podSpec(
        withVolume('v', ofConfigMap),
        withContainer('a', withEnv(configMapKey('cm'))),
        withContainer('b', mounting('v')),
      ),
      CONFIG_MAP,
      1,
    ],
    'a volume that nothing mounts is no use': [
      podSpec(withVolume('v', ofConfigMap), withContainer('a')),
      CONFIG_MAP,
      null,
    ],
    'a volume that nothing mounts, and a variable: the container that reads it': [
      podSpec(
        withVolume('v', ofConfigMap),
        withContainer('a'),
        withContainer('b', withEnv(configMapKey('cm'))),
      ),
      CONFIG_MAP,
      1,
    ],
    'a second volume of the source is not looked at, if nothing mounts the first': [
      podSpec(withVolume('v', ofConfigMap), withVolume('w', ofConfigMap), withContainer('a', mounting('w'))),
      CONFIG_MAP,
      null,
    ],
    'of a plain and a projected volume the first in the list counts': [
      podSpec(withVolume('v', projecting), withVolume('w', ofConfigMap), withContainer('a', mounting('w'))),
      CONFIG_MAP,
      null,
    ],
    'optional makes no difference': [
      mountedBySecond({ configMap: { name: 'cm', optional: true } }),
      CONFIG_MAP,
      1,
    ],
    'one volume may project many sources': [
      podSpec(withVolume('v', projecting), withContainer('a', mounting('v'))),
      SECRET,
      0,
    ],
  });
});

describe('3. variables', () => {
  finds({
    'a key of a ConfigMap in env': [
      podSpec(withContainer('a'), withContainer('b', withEnv(configMapKey('cm')))),
      CONFIG_MAP,
      1,
    ],
    'a key of a Secret in env': [
      podSpec(withContainer('a'), withContainer('b', withEnv({ name: 'X', value: '1' }, secretKey('db')))),
      SECRET,
      1,
    ],
    'a whole ConfigMap in envFrom': [
      podSpec(withContainer('a'), withContainer('b', withEnvFrom({ configMapRef: { name: 'cm' } }))),
      CONFIG_MAP,
      1,
    ],
    'a whole Secret in envFrom': [
      podSpec(withContainer('a'), withContainer('b', withEnvFrom({ secretRef: { name: 'db' } }))),
      SECRET,
      1,
    ],
    'the first container, by envFrom, before the second, by env': [
      podSpec(
        withContainer('a', withEnvFrom({ configMapRef: { name: 'cm' } })),
        withContainer('b', withEnv(configMapKey('cm'))),
      ),
      CONFIG_MAP,
      0,
    ],
    'only an init container reads a key: the first container': [
      podSpec(withInitContainer('i', withEnv(secretKey('db'))), withContainer('a'), withContainer('b')),
      SECRET,
      0,
    ],
    'only an init container reads it whole: the first container': [
      podSpec(
        withInitContainer('i', withEnvFrom({ secretRef: { name: 'db' } })),
        withContainer('a'),
        withContainer('b'),
      ),
      SECRET,
      0,
    ],
    'a container comes before an init container': [
      podSpec(
        withInitContainer('i', withEnv(secretKey('db'))),
        withContainer('a'),
        withContainer('b', withEnv(secretKey('db'))),
      ),
      SECRET,
      1,
    ],
    'a Secret of that name is not the ConfigMap of that name': [
      podSpec(withContainer('a', withEnv(secretKey('cm')), withEnvFrom({ secretRef: { name: 'cm' } }))),
      CONFIG_MAP,
      null,
    ],
    'optional makes no difference': [
      podSpec(withContainer('a', withEnvFrom({ secretRef: OPTIONAL_SECRET }))),
      SECRET,
      0,
    ],
  });
});

describe('4. no use found', () => {
  const unused = podSpec(withContainer('a'), withContainer('b'));

  it('a source that the workload names: the first container all the same', () => {
    expect(containerUsing(unused, CONFIG_MAP, false)).toBe(0);
  });

  it('a source that it does not name: none', () => {
    expect(containerUsing(unused, CONFIG_MAP, true)).toBeNull();
  });

  it('a source that the workload names and uses: the container that uses it', () => {
    const used = podSpec(withContainer('a'), withContainer('b', withEnv(configMapKey('cm'))));
    expect(containerUsing(used, CONFIG_MAP, false)).toBe(1);
  });

  it.each([{}, { containers: null }, { containers: [] }])(
    'no containers, as in %j: none, named or not',
    (spec) => {
      expect(containerUsing(spec, CONFIG_MAP, false)).toBeNull();
      expect(containerUsing(spec, CONFIG_MAP, true)).toBeNull();
    },
  );

  it('an init container without a container: none', () => {
    const spec = podSpec(withInitContainer('i', withEnv(configMapKey('cm'))));
    expect(containerUsing(spec, CONFIG_MAP, false)).toBeNull();
    expect(containerUsing(spec, CONFIG_MAP, true)).toBeNull();
  });
});

describe('what is not detected', () => {
  const secretRef = { secretRef: { name: 'db' } };
  const mounted = (volume: object): PodSpec =>
    podSpec(withVolume('v', volume), withContainer('a', mounting('v')));
  const devices = { volumeDevices: [{ name: 'v' }] };
  finds({
    imagePullSecrets: [
      podSpec(withContainer('a'), withField('imagePullSecrets', [{ name: 'db' }])),
      SECRET,
      null,
    ],
    volumeDevices: [
      podSpec(
        withVolume('v', ofSecret),
        withContainer('a', (each) => ({ ...each, ...devices })),
      ),
      SECRET,
      null,
    ],
    'ephemeral containers': [
      podSpec(
        withContainer('a'),
        withField('ephemeralContainers', [{ name: 'e', envFrom: [{ secretRef: { name: 'db' } }] }]),
      ),
      SECRET,
      null,
    ],
    'nodePublishSecretRef of a CSI volume': [
      mounted({ csi: { nodePublishSecretRef: { name: 'db' } } }),
      SECRET,
      null,
    ],
    'secretRef of a CephFS volume': [mounted({ cephfs: secretRef }), SECRET, null],
    'secretRef of an RBD volume': [mounted({ rbd: secretRef }), SECRET, null],
    'secretRef of an iSCSI volume': [mounted({ iscsi: secretRef }), SECRET, null],
    'secretRef of a flex volume': [mounted({ flexVolume: secretRef }), SECRET, null],
    'secretName of an Azure file': [mounted({ azureFile: { secretName: 'db' } }), SECRET, null],
    'secretRef of a StorageOS volume': [mounted({ storageos: secretRef }), SECRET, null],
    'secretRef of a ScaleIO volume': [mounted({ scaleIO: secretRef }), SECRET, null],
    'the Secrets of a ServiceAccount': [
      podSpec(withContainer('a'), withField('serviceAccountName', 'db')),
      SECRET,
      null,
    ],
    'what workloadRef refers to': [
      withField('workloadRef', { kind: 'Deployment', name: 'x' })({}),
      SECRET,
      null,
    ],
  });
});

describe('the sources that a pod spec uses', () => {
  it('are given each once, by kind and then name', () => {
    const spec = podSpec(
      withVolume('v', projecting),
      withVolume('w', ofProviderClass),
      withContainer(
        'a',
        mounting('v'),
        mounting('w'),
        withEnv(configMapKey('b'), configMapKey('a'), secretKey('db')),
      ),
      withInitContainer('i', withEnvFrom({ configMapRef: { name: 'cm' } }, { secretRef: { name: 'a' } })),
    );
    expect(referencedSources(spec)).toEqual([
      { kind: 'ConfigMap', name: 'a' },
      { kind: 'ConfigMap', name: 'b' },
      CONFIG_MAP,
      { kind: 'Secret', name: 'a' },
      SECRET,
      PROVIDER_CLASS,
    ]);
  });

  it('are none in a pod spec without anything', () => {
    expect(referencedSources({})).toEqual([]);
  });

  it('may be refs without a name, or lists that are null: none', () => {
    const odd = {
      containers: [{ name: 'a', env: null, envFrom: [{ configMapRef: {} }], volumeMounts: null }],
      initContainers: null,
      volumes: [
        { name: 'v', configMap: {} },
        { name: 'w', projected: { sources: null } },
      ],
    } as unknown as PodSpec;
    expect(referencedSources(odd)).toEqual([]);
  });

  it('are none with a name that no object can have', () => {
    const envFrom = [253, 254].map((length) => ({ configMapRef: { name: 'a'.repeat(length) } }));
    const refs = referencedSources({ containers: [{ name: 'a', envFrom }] });
    expect(refs).toEqual([{ kind: 'ConfigMap', name: 'a'.repeat(253) }]);
  });

  const name = constantFrom('x', 'y');
  const ref = option(record({ name }), { nil: undefined });
  const container = record({
    name: constantFrom('a', 'b'),
    env: array(
      record({ name: constantFrom('E'), valueFrom: record({ configMapKeyRef: ref, secretKeyRef: ref }) }),
      { maxLength: 2 },
    ),
    envFrom: array(record({ configMapRef: ref, secretRef: ref }), { maxLength: 2 }),
    volumeMounts: array(record({ name: constantFrom('v', 'w') }), { maxLength: 2 }),
  });
  const volume = record({
    name: constantFrom('v', 'w'),
    configMap: ref,
    secret: option(record({ secretName: name }), { nil: undefined }),
    projected: option(record({ sources: array(record({ configMap: ref, secret: ref }), { maxLength: 2 }) }), {
      nil: undefined,
    }),
    csi: option(record({ volumeAttributes: record({ secretProviderClass: name }) }), { nil: undefined }),
  });
  const spec = record({
    containers: array(container, { maxLength: 2 }),
    initContainers: array(container, { maxLength: 2 }),
    volumes: array(volume, { maxLength: 3 }),
  });

  it('are exactly those for which a container is found', () => {
    const all = SOURCE_KINDS.flatMap((kind) => ['x', 'y'].map((each) => ({ kind, name: each })));
    assert(
      property(spec, (any) => {
        const found = all.filter((source) => containerUsing(any, source, true) !== null);
        expect(referencedSources(any)).toEqual(found);
      }),
      { numRuns: 1_000 },
    );
  });

  it('have the same container whether they are named or not', () => {
    assert(
      property(spec, boolean(), (any, auto) => {
        for (const source of referencedSources(any)) {
          expect(containerUsing(any, source, auto)).toBe(containerUsing(any, source, true));
        }
      }),
    );
  });
});
