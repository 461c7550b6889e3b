import { describe, expect, it } from 'vitest';
import type { ContainerUse } from './container-uses.ts';
import { containerUses } from './container-uses.ts';
import type { UsingPod } from './pod.ts';
import { sourceWrites, type SourceWrites } from './source-writes.ts';
import { isCreatedAround, KUBELET_DELAY, verdictOf, type Facts } from './verdict.ts';

const W = 1_800_000_000;
const at = (seconds: number): string => new Date(seconds * 1000).toISOString();

/** Written at W, as resourceVersion 100. */
function source(changed: Partial<SourceWrites> = {}): SourceWrites {
  return { rv: '100', createdAt: W - 9_000, dataAt: W, lastAt: W, mayBeImmutable: false, ...changed };
}

interface PodOf {
  readonly created?: number;
  readonly rv?: string;
  readonly deleted?: boolean;
  readonly ready?: boolean;
  readonly phase?: string;
  /** Its managedFields. Default: the status was written just after it was created. */
  readonly fields?: NonNullable<UsingPod['metadata']['managedFields']>;
  /** Start of the container; null: it does not run. */
  readonly start: number | null;
}

/** A write of the status, or of something else. */
function written(
  time: number,
  part = 'f:status',
): {
  time: string;
  fieldsV1: Record<string, object>;
} {
  return { time: at(time), fieldsV1: { [part]: {} } };
}

function pod({
  created = W - 5_000,
  rv = '200',
  deleted,
  ready = true,
  phase = 'Running',
  fields = [written(created + 1)],
  start,
}: PodOf): UsingPod {
  const state = start === null ? {} : { running: { startedAt: at(start) } };
  return {
    metadata: {
      name: 'web',
      namespace: 'shop',
      uid: 'u',
      resourceVersion: rv,
      creationTimestamp: at(created),
      managedFields: fields,
      ...(deleted === true ? { deletionTimestamp: at(W) } : {}),
    },
    spec: {},
    status: {
      phase,
      conditions: [{ type: 'Ready', status: ready ? 'True' : 'False' }],
      containerStatuses: [{ name: 'app', state }],
      initContainerStatuses: [
        { name: 'init', state: { terminated: { exitCode: 0, startedAt: at(start ?? 0) } } },
        { name: 'failed', state: { terminated: { exitCode: 1, startedAt: at(start ?? 0) } } },
      ],
      ephemeralContainerStatuses: [{ name: 'debug', state }],
    },
  };
}

function use(by: ContainerUse['by'], changed: Partial<ContainerUse> = {}): ContainerUse {
  return {
    source: { kind: 'Secret', name: 'db' },
    by,
    container: by === 'imagePull' ? null : 'app',
    group: 'containers',
    isInit: false,
    ...changed,
  };
}

function judged(by: ContainerUse, of: PodOf, facts: Partial<Facts> = {}): string {
  const now = W + 10_000;
  const found = verdictOf(by, {
    pod: pod(of),
    source: source(),
    now,
    seenAt: now,
    delay: KUBELET_DELAY,
    ...facts,
  });
  return found === null
    ? 'no use'
    : `${found.state}${found.since === null ? '' : ` since ${found.since - W}`}`;
}

describe.each(['env', 'envFrom', 'subPath'] as const)('%s, given once', (by) => {
  it.each([
    ['started long before', { start: W - 100 }, 'stale since 0'],
    ['started in the second before', { start: W - 1 }, 'stale since 0'],
    ['started in that very second', { start: W }, 'unknown'],
    ['started a second after, in an old pod', { start: W + 1 }, 'unknown'],
    ['started again when every kubelet may just not have noticed', { start: W + KUBELET_DELAY }, 'unknown'],
    ['started again after that', { start: W + KUBELET_DELAY + 1 }, 'current'],
    ['a pod that was created in that second', { created: W, start: W + 2 }, 'unknown'],
    ['a pod that was created later', { created: W + 1, start: W + 1 }, 'current'],
    ['by the clock of a node that is behind', { created: W + 1, start: W - 3 }, 'current'],
    ['a pod that is being deleted still runs', { start: W - 100, deleted: true }, 'stale since 0'],
    ['a pod that has ended', { start: W - 100, phase: 'Failed' }, 'no use'],
    ['a pod that has succeeded', { start: W - 100, phase: 'Succeeded' }, 'no use'],
    ['does not run', { start: null }, 'no use'],
  ])('%s', (_, of, expected) => {
    expect(judged(use(by), of)).toBe(expected);
  });

  it.each([
    ['created in the second, but after the write', W, false, {}, 'current'],
    ['created in the second, before the write', W, true, {}, 'unknown'],
    [
      'created later by the clock, but there at the write, which a webhook held up',
      W + 2,
      true,
      {},
      'unknown',
    ],
    ['there at a later write of a label', W + 2, true, { lastAt: W + 3 }, 'unknown'],
    ['not known to have been there', W + 2, undefined, {}, 'current'],
    ['not there at the last write, in an etcd of its own', W - 1, false, {}, 'unknown'],
  ])('a pod that was %s', (_, created, existedAtLastWrite, writes, expected) => {
    const facts = { existedAtLastWrite, source: source(writes) };
    expect(judged(use(by), { created, start: W + 3 }, facts)).toBe(expected);
  });

  it('is not judged by containers that may be starting with what was read before', () => {
    expect(judged(use(by), { start: null }, { now: W + KUBELET_DELAY })).toBe('unknown');
    expect(judged(use(by), { start: null, created: W + 1 }, { now: W + 2 })).toBe('no use');
  });

  it('is unknown after a write that left no time, until the pod is written', () => {
    const hidden = source({ dataAt: W, lastAt: W, rv: '300' });
    for (const of of [{ created: W + 50, start: W + 51 }, { start: W + 1_000 }]) {
      expect(judged(use(by), of, { source: hidden })).toBe('unknown');
      expect(judged(use(by), { ...of, rv: '301' }, { source: hidden })).toBe('current');
      // A label that was written after the container had started explains the resourceVersion.
      expect(judged(use(by), of, { source: { ...hidden, lastAt: W + 2_000 } })).toBe('current');
    }
  });
});

describe('a volume, refreshed in place', () => {
  const later = { now: W + KUBELET_DELAY + 1 };
  it.each([
    ['soon after the write', {}, { now: W + KUBELET_DELAY }, 'unknown'],
    ['later', {}, later, 'current'],
    ['in a pod that was created after the write', { created: W + 1 }, { now: W + 2 }, 'current'],
    ['in a pod that is being deleted', { deleted: true }, later, 'unknown'],
    ['in a pod that is not ready, perhaps because its node is lost', { ready: false }, later, 'unknown'],
    [
      'in a pod whose kubelet was heard of shortly before, and may have only just reconnected',
      { fields: [written(W - 1_000), written(W + 2)] },
      later,
      'unknown',
    ],
    ['in a pod whose kubelet was heard of long before', { fields: [written(W)] }, later, 'current'],
    [
      'in a pod of which only a label was written shortly before',
      { fields: [written(W), written(W + 2, 'f:metadata')] },
      later,
      'current',
    ],
    ['in a pod of which something was written', { fields: [{ time: at(W + 2) }] }, later, 'unknown'],
    ['in a pod whose status tells no time', { fields: [{ fieldsV1: { 'f:status': {} } }] }, later, 'unknown'],
    ['in a pod without managedFields', { fields: [] }, later, 'unknown'],
    [
      'in a new pod whose kubelet was heard of',
      { created: W + 1, fields: [written(W + 2)] },
      { now: W + 2 },
      'current',
    ],
    ['in a new pod that is not ready', { created: W + 1, ready: false }, later, 'current'],
    ['of a source that may be immutable', {}, { source: source({ mayBeImmutable: true }) }, 'stale since 0'],
    [
      'just after a write without a time was seen',
      {},
      { source: source({ rv: '300', lastAt: W - 200 }) },
      'unknown',
    ],
    [
      'well after a write without a time was seen',
      {},
      { source: source({ rv: '300', lastAt: W - 200 }), seenAt: W },
      'current',
    ],
  ])('%s', (_, of, facts, expected) => {
    expect(judged(use('volume'), { start: W - 100, ...of }, facts)).toBe(expected);
  });
});

describe('other containers and uses', () => {
  const init = { group: 'initContainers', container: 'init', isInit: true } as const;
  it.each([
    ['an init container that has ended has read its volume once', use('volume', init), 'stale since 0'],
    ['an init container that has ended', use('env', init), 'stale since 0'],
    ['an init container that failed', use('env', { ...init, container: 'failed' }), 'no use'],
    [
      'an ephemeral container',
      use('env', { group: 'ephemeralContainers', container: 'debug' }),
      'stale since 0',
    ],
    ['a container without a status', use('env', { container: 'other' }), 'no use'],
    ['an image pull', use('imagePull'), 'current'],
    ['a driver', use('csiVolume'), 'unknown'],
  ])('%s', (_, by, expected) => {
    expect(judged(by, { start: W - 100 })).toBe(expected);
  });

  it('a pull may soon after the write be with older data', () => {
    expect(judged(use('imagePull'), { start: W - 100 }, { now: W + 5 })).toBe('unknown');
  });
});

describe('sources that tell little', () => {
  it.each([['absent' as const], ['unreadable' as const]])('%s', (given) => {
    expect(judged(use('env'), { start: W + 5_000 }, { source: given })).toBe('unknown');
  });

  it('without times: stale since it was created again, else unknown', () => {
    const undated = source({ dataAt: undefined, createdAt: W, lastAt: W });
    expect(judged(use('env'), { start: W - 1 }, { source: undated })).toBe('stale since 0');
    expect(judged(use('env'), { start: W + 9_000 }, { source: undated })).toBe('unknown');
  });
});

describe('what the metadata of a source tell of its writes', () => {
  const writes = (
    managedFields: readonly { time?: string; fieldsV1?: Record<string, unknown> }[] | undefined,
    created = W,
  ): SourceWrites =>
    sourceWrites({
      name: 'db',
      namespace: 'shop',
      uid: 'u',
      resourceVersion: '7',
      creationTimestamp: at(created),
      managedFields,
    });
  const data = { 'f:data': { 'f:password': {} } };
  const label = { 'f:metadata': { 'f:labels': {} } };

  it.each([
    [
      'the last of several writers of data',
      [
        { time: at(W + 5), fieldsV1: data },
        { time: at(W + 9), fieldsV1: { 'f:binaryData': {} } },
      ],
      9,
      9,
    ],
    ['stringData that was applied', [{ time: at(W + 5), fieldsV1: { 'f:stringData': {} } }], 5, 5],
    [
      'a label by somebody else',
      [
        { time: at(W + 5), fieldsV1: data },
        { time: at(W + 9), fieldsV1: label },
      ],
      5,
      9,
    ],
    ['only a label: somebody took the others away', [{ time: at(W + 9), fieldsV1: label }], 9, 9],
    ['an entry without fields', [{ time: at(W + 9) }, { time: at(W + 5), fieldsV1: data }], 9, 9],
    ['a source that was created again', [{ time: at(W - 5), fieldsV1: data }], 0, 0],
    ['data without a time', [{ fieldsV1: data }, { time: at(W + 9), fieldsV1: label }], undefined, 9],
    ['no entries', [], undefined, 0],
    ['no managedFields', undefined, undefined, 0],
  ])('%s', (_, managedFields, dataAt, lastAt) => {
    const found = writes(managedFields);
    expect([found.dataAt === undefined ? undefined : found.dataAt - W, found.lastAt - W, found.rv]).toEqual([
      dataAt,
      lastAt,
      '7',
    ]);
  });

  it('whether it may be immutable', () => {
    expect(writes([{ time: at(W), fieldsV1: { ...data, 'f:immutable': {} } }]).mayBeImmutable).toBe(true);
    expect(writes([{ time: at(W), fieldsV1: data }]).mayBeImmutable).toBe(false);
  });
});

it('asks for the order only where seconds may be wrong', () => {
  const around = (created: number): boolean => isCreatedAround(pod({ created, start: W }), source());
  expect([-1, 0, 10, 11].map((after) => around(W + after))).toEqual([false, true, true, false]);
  expect(isCreatedAround(pod({ created: W, start: W }), source({ dataAt: undefined }))).toBe(false);
});

it('finds each use of each source by each container', () => {
  const db = { name: 'db', key: 'k' };
  const mount = (name: string, more: object = {}) => ({ name, mountPath: '/x', ...more });
  const uses = containerUses({
    spec: {
      volumes: [
        { name: 'plain', configMap: { name: 'cm' } },
        { name: 'all', projected: { sources: [{ secret: { name: 'p' } }, { configMap: { name: 'cm' } }] } },
        { name: 'csi', csi: { volumeAttributes: { secretProviderClass: 'vault' } } },
        { name: 'idle', secret: { secretName: 'idle' } },
      ],
      containers: [
        {
          name: 'app',
          env: [
            { name: 'A', valueFrom: { secretKeyRef: db } },
            { name: 'B', valueFrom: { secretKeyRef: db } },
          ],
          envFrom: [{ configMapRef: { name: 'cm' } }, { secretRef: { name: 'db' } }],
          volumeMounts: [
            mount('plain'),
            mount('plain', { subPath: 'a' }),
            mount('all', { subPathExpr: '$(A)' }),
            mount('csi'),
          ],
        },
      ],
      initContainers: [
        { name: 'first', volumeMounts: [mount('plain')] },
        { name: 'beside', restartPolicy: 'Always', envFrom: [{ secretRef: { name: 'db' } }] },
      ],
      ephemeralContainers: [{ name: 'debug', env: [{ name: 'A', valueFrom: { configMapKeyRef: db } }] }],
      imagePullSecrets: [{ name: 'registry' }, {}],
    },
  });
  expect(
    uses.map(
      (each) =>
        `${each.container} ${each.by} ${each.source.kind}/${each.source.name}${each.isInit ? ' init' : ''}`,
    ),
  ).toEqual([
    'app env Secret/db',
    'app envFrom ConfigMap/cm',
    'app envFrom Secret/db',
    'app volume ConfigMap/cm',
    'app subPath ConfigMap/cm',
    'app subPath Secret/p',
    'app csiVolume SecretProviderClass/vault',
    'first volume ConfigMap/cm init',
    'beside envFrom Secret/db',
    'debug env ConfigMap/db',
    'null imagePull Secret/registry',
  ]);
});
