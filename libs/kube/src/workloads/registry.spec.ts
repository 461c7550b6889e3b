import { describe, expect, test } from 'vitest';
import type { KubeObject } from '../objects.ts';
import { DEFAULT_ANNOTATION_KEYS } from '@reroll/core/annotations/annotation-keys';
import type { ObservedWorkload } from '@reroll/core/state/rows';
import { hasRollouts } from '@reroll/core/rollouts/rollout';
import { argoRollout } from './argo-rollout.ts';
import { observed } from './observe.ts';
import { WORKLOAD_DEFINITIONS, workloadKind } from './registry.ts';

interface Parts {
  readonly generation?: number;
  readonly spec?: object;
  readonly status?: object;
}

/** Generation 3, observed, three replicas wanted: the parts say what is otherwise. */
function objectWith({ generation = 3, spec = {}, status = {} }: Parts): KubeObject {
  const metadata = { name: 'web', namespace: 'shop', uid: 'u', resourceVersion: '1', generation };
  const object = { metadata, spec: { replicas: 3, ...spec }, status: { observedGeneration: 3, ...status } };
  return object;
}

function statusOf(kind: string, parts: Parts): [state: string, code: string] {
  const status = workloadKind(kind)?.rolloutStatus(objectWith(parts));
  return [status?.state ?? '', status?.code ?? ''];
}

const available = { replicas: 3, updatedReplicas: 3, readyReplicas: 3, availableReplicas: 3 };
const exceeded = [{ type: 'Progressing', status: 'False', reason: 'ProgressDeadlineExceeded' }];
const revisions = { currentRevision: 'web-1', updateRevision: 'web-2' };
const onDelete = { updateStrategy: { type: 'OnDelete' } };
const scheduled = {
  desiredNumberScheduled: 3,
  updatedNumberScheduled: 3,
  numberReady: 3,
  numberAvailable: 3,
};

describe('the rollout of a Deployment', () => {
  test.each<[string, Parts, string, string]>([
    ['is complete when all pods are updated and available', { status: available }, 'complete', 'Complete'],
    [
      'goes on while the generation is not observed',
      { generation: 4, status: available },
      'progressing',
      'NotObserved',
    ],
    [
      'goes on while pods are missing',
      { status: { ...available, updatedReplicas: 1 } },
      'progressing',
      'Updating',
    ],
    [
      'goes on while old pods are left',
      { status: { ...available, replicas: 4 } },
      'progressing',
      'OldPodsPending',
    ],
    [
      'goes on until pods are available',
      { status: { ...available, availableReplicas: 2 } },
      'progressing',
      'Unavailable',
    ],
    [
      'is stuck past its progress deadline',
      { status: { updatedReplicas: 1, conditions: exceeded } },
      'stuck',
      'ProgressDeadlineExceeded',
    ],
    [
      'waits while paused midway',
      { spec: { paused: true }, status: { ...available, updatedReplicas: 1 } },
      'progressing',
      'Paused',
    ],
    [
      'is complete when paused with nothing to do',
      { spec: { paused: true }, status: available },
      'complete',
      'Complete',
    ],
    ['is complete with no replicas wanted', { spec: { replicas: 0 } }, 'complete', 'Complete'],
  ])('%s', (_name, parts, state, code) => {
    expect(statusOf('Deployment', parts)).toEqual([state, code]);
  });
});

describe('the rollout of a StatefulSet', () => {
  test.each<[string, Parts, string, string]>([
    [
      'is complete when the update revision is the current one',
      { status: { readyReplicas: 3, currentRevision: 'web-2', updateRevision: 'web-2' } },
      'complete',
      'Complete',
    ],
    [
      'is complete when all are updated and not yet promoted',
      { status: { ...revisions, updatedReplicas: 3, readyReplicas: 3 } },
      'complete',
      'Complete',
    ],
    ['goes on while the generation is not observed', { generation: 4 }, 'progressing', 'NotObserved'],
    [
      'goes on until pods are ready',
      { status: { ...revisions, updatedReplicas: 2, readyReplicas: 2 } },
      'progressing',
      'Unavailable',
    ],
    [
      'goes on while pods are missing',
      { status: { ...revisions, updatedReplicas: 1, readyReplicas: 3 } },
      'progressing',
      'Updating',
    ],
    [
      'is complete up to its partition',
      {
        spec: { updateStrategy: { rollingUpdate: { partition: 2 } } },
        status: { ...revisions, updatedReplicas: 1, readyReplicas: 3 },
      },
      'complete',
      'PartitionComplete',
    ],
    [
      'waits for somebody to delete pods',
      { spec: onDelete, status: { ...revisions, readyReplicas: 3 } },
      'progressing',
      'AwaitingDeletion',
    ],
  ])('%s', (_name, parts, state, code) => {
    expect(statusOf('StatefulSet', parts)).toEqual([state, code]);
  });
});

describe('the rollout of a DaemonSet', () => {
  test.each<[string, Parts, string, string]>([
    [
      'is complete when all nodes have an updated, available pod',
      { status: scheduled },
      'complete',
      'Complete',
    ],
    [
      'goes on while the generation is not observed',
      { generation: 4, status: scheduled },
      'progressing',
      'NotObserved',
    ],
    [
      'goes on while nodes are missing',
      { status: { ...scheduled, updatedNumberScheduled: 1 } },
      'progressing',
      'Updating',
    ],
    [
      'goes on until pods are available',
      { status: { ...scheduled, numberAvailable: 2 } },
      'progressing',
      'Unavailable',
    ],
    [
      'waits for somebody to delete pods',
      { spec: onDelete, status: { ...scheduled, updatedNumberScheduled: 1 } },
      'progressing',
      'AwaitingDeletion',
    ],
    ['is complete without nodes', {}, 'complete', 'Complete'],
  ])('%s', (_name, parts, state, code) => {
    expect(statusOf('DaemonSet', parts)).toEqual([state, code]);
  });
});

describe('the rollout of an Argo Rollout', () => {
  test.each<[string, Parts, string, string]>([
    [
      'is complete when its controller calls it healthy',
      { status: { observedGeneration: '3', phase: 'Healthy' } },
      'complete',
      'Complete',
    ],
    [
      'goes on while the generation is not observed',
      { generation: 4, status: { observedGeneration: '3', phase: 'Healthy' } },
      'progressing',
      'NotObserved',
    ],
    [
      'goes on while its controller has said nothing',
      { status: { observedGeneration: undefined } },
      'progressing',
      'NotObserved',
    ],
    [
      'goes on while it progresses',
      { status: { observedGeneration: '3', phase: 'Progressing' } },
      'progressing',
      'Updating',
    ],
    [
      'waits while it is paused',
      { status: { observedGeneration: '3', phase: 'Paused' } },
      'progressing',
      'Paused',
    ],
    [
      'is stuck when it is degraded',
      { status: { observedGeneration: '3', phase: 'Degraded' } },
      'stuck',
      'Degraded',
    ],
    [
      'goes on while pods are to be restarted',
      { spec: { restartAt: '2026-11-21T06:00:01Z' }, status: { observedGeneration: '3', phase: 'Healthy' } },
      'progressing',
      'Updating',
    ],
    [
      'is complete when they are',
      {
        spec: { restartAt: '2026-11-21T08:00:01.500+02:00' },
        status: { observedGeneration: '3', phase: 'Healthy', restartedAt: '2026-11-21T06:00:01Z' },
      },
      'complete',
      'Complete',
    ],
  ])('%s', (_name, parts, state, code) => {
    expect(statusOf('Rollout', parts)).toEqual([state, code]);
  });
});

describe('the rollout of a DeploymentConfig', () => {
  test.each<[string, Parts, string, string]>([
    ['is complete when all pods are updated and available', { status: available }, 'complete', 'Complete'],
    [
      'goes on while the generation is not observed',
      { generation: 4, status: available },
      'progressing',
      'NotObserved',
    ],
    [
      'goes on while old pods are left',
      { status: { ...available, replicas: 4 } },
      'progressing',
      'OldPodsPending',
    ],
    [
      'is stuck past its deadline',
      { status: { updatedReplicas: 1, conditions: exceeded } },
      'stuck',
      'ProgressDeadlineExceeded',
    ],
  ])('%s', (_name, parts, state, code) => {
    expect(statusOf('DeploymentConfig', parts)).toEqual([state, code]);
  });
});

describe('the registry', () => {
  test.each(WORKLOAD_DEFINITIONS)(
    'says of $kind whether its reloads begin rollouts',
    ({ kind, reloadedBy }) => {
      expect(hasRollouts(`${kind}/shop/web`)).toBe(reloadedBy === 'patch');
    },
  );

  test.each([
    ['Rollouts only when asked to', 'Rollout', [true, false, false]],
    ['DeploymentConfigs unless told not to', 'DeploymentConfig', [true, true, false]],
  ])('wants %s', (_name, kind, expected) => {
    const answers = ([true, 'auto', false] as const).map((isOpenshift) =>
      workloadKind(kind)?.isWanted?.({ isOpenshift, isArgoRollouts: isOpenshift === true }),
    );
    expect(answers).toEqual(expected);
  });

  test('knows each kind by its name, and no other', () => {
    const always = WORKLOAD_DEFINITIONS.filter(({ isWanted }) => isWanted === undefined);
    expect(always.map(({ kind }) => kind)).toEqual([
      'Deployment',
      'StatefulSet',
      'DaemonSet',
      'CronJob',
      'Job',
    ]);
    expect(
      WORKLOAD_DEFINITIONS.map(({ kind }) => kind).filter((kind) => !always.some((one) => one.kind === kind)),
    ).toEqual(['Rollout', 'DeploymentConfig']);
    expect(workloadKind('CronTab')).toBeUndefined();
  });

  test.each(WORKLOAD_DEFINITIONS.map((definition) => [definition.kind, definition] as const))(
    '%s: the template is what its pointer points at',
    (_kind, definition) => {
      const template = { spec: { containers: [] } };
      const [, spec, ...path] = definition.podTemplatePath.split('/');
      expect(spec).toBe('spec');
      const holding = path.reduceRight<object>((inner, part) => ({ [part]: inner }), template);
      expect(definition.template(objectWith({ spec: holding }))).toBe(template);
    },
  );

  test('only StatefulSets and DaemonSets can ask to be restarted by hand', () => {
    const manual = WORKLOAD_DEFINITIONS.filter((kind) =>
      kind.updateStrategyOnDelete(objectWith({ spec: onDelete })),
    );
    expect(manual.map(({ kind }) => kind)).toEqual(['StatefulSet', 'DaemonSet']);
  });

  test('of all kinds only a CronJob has a template whose writes start no pods, so it is not dated by them', () => {
    const undated = WORKLOAD_DEFINITIONS.filter(
      (kind) => observed(kind, objectWith({}), DEFAULT_ANNOTATION_KEYS).template === '',
    );
    expect(undated.map(({ kind }) => kind)).toEqual(['CronJob']);
  });
});

test('a CronJob has no rollout: it is complete, whatever runs of it', () => {
  expect(statusOf('CronJob', { status: { active: [{}] } })).toEqual(['complete', 'Complete']);
});

const done = (type: string, status = 'True'): Parts => ({ status: { conditions: [{ type, status }] } });

describe('the rollout of a Job', () => {
  test.each<[string, Parts, string, string]>([
    ['is complete when it is', done('Complete'), 'complete', 'Complete'],
    ['is stuck when it failed', done('Failed'), 'stuck', 'Failed'],
    ['goes on when a condition does not hold', done('Complete', 'False'), 'progressing', 'Updating'],
    ['goes on before that', { status: { active: 1 } }, 'progressing', 'Updating'],
  ])('%s', (_name, parts, state, code) => {
    expect(statusOf('Job', parts)).toEqual([state, code]);
  });
});

describe('the pod template of a Rollout', () => {
  const ref = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' };
  const restart = { 'reloader.stakater.com/rollout-strategy': 'restart' };
  const seen = (workloadRef: object | undefined, annotations = {}): ObservedWorkload => {
    const object = objectWith({ spec: { workloadRef } });
    return observed(
      argoRollout,
      { ...object, metadata: { ...object.metadata, annotations } },
      DEFAULT_ANNOTATION_KEYS,
    );
  };
  const owner = `Deployment/${objectWith({}).metadata.namespace}/web` as const;

  test.each<[string, ObservedWorkload, ObservedWorkload['templateFrom'], string | undefined]>([
    ['is its own', seen(undefined), undefined, undefined],
    [
      'is that of the Deployment in workloadRef, and gets the marker',
      seen(ref),
      { owner, isMarkedThere: true },
      undefined,
    ],
    [
      'is that of the Deployment, and gets none if the Rollout is to be restarted',
      seen(ref, restart),
      { owner, isMarkedThere: false },
      undefined,
    ],
    ...['ReplicaSet', 'PodTemplate'].map((kind): [string, ObservedWorkload, undefined, string] => [
      `is not followed to a ${kind}`,
      seen({ ...ref, kind }),
      undefined,
      'WorkloadRefUnsupported',
    ]),
    [
      'is not followed to another API',
      seen({ ...ref, apiVersion: 'x/v1' }),
      undefined,
      'WorkloadRefUnsupported',
    ],
    ['is not followed without a name', seen({ ...ref, name: '' }), undefined, 'WorkloadRefUnsupported'],
  ])('%s', (_sentence, { templateFrom, leftAlone }, from, reason) => {
    expect({ templateFrom, leftAlone }).toEqual({ templateFrom: from, leftAlone: reason });
  });
});

describe('of all workloads', () => {
  const leftAlone = (kind: string, metadata: object, parts: Parts = {}): unknown => {
    const object = objectWith(parts);
    return workloadKind(kind)?.leftAlone?.({ ...object, metadata: { ...object.metadata, ...metadata } });
  };
  const owner = { ownerReferences: [{ kind: 'CronJob', controller: true }] };
  const pendingJob = { annotations: { 'reroll.dev/twin-of': '{}' } };

  test.each<[string, unknown, string | undefined]>([
    ['a Job that runs is reloaded', leftAlone('Job', {}, { status: { active: 1 } }), undefined],
    [
      'a Job of another owner is reloaded',
      leftAlone('Job', { ownerReferences: [{ kind: 'Flow' }] }),
      undefined,
    ],
    ['a Job that is complete is left alone', leftAlone('Job', {}, done('Complete')), 'JobFinished'],
    ['a Job that failed is left alone', leftAlone('Job', {}, done('Failed')), 'JobFinished'],
    [
      'a Job that is being deleted is left alone',
      leftAlone('Job', { deletionTimestamp: '2026-01-01T00:00:00Z' }, done('Complete')),
      'WorkloadGone',
    ],
    [
      'a pending Job that is being deleted is one',
      leftAlone('Job', { ...pendingJob, deletionTimestamp: '2026-01-01T00:00:00Z' }),
      'JobTwin',
    ],
    ['a Job of a CronJob is left alone', leftAlone('Job', owner, done('Complete')), 'JobOfCronJob'],
    ['a pending Job is left alone', leftAlone('Job', pendingJob, done('Complete')), 'JobTwin'],
    ['a Deployment is reloaded', leftAlone('Deployment', owner, done('Complete')), undefined],
  ])('%s', (_sentence, found, expected) => {
    expect(found).toBe(expected);
  });
});

test.each([
  ['CronJob', true, true],
  ['CronJob', false, undefined],
  ['Job', true, undefined],
])('a %s with suspend: %s is observed as suspended: %s', (kind, suspend, isSuspended) => {
  const definition = workloadKind(kind) as NonNullable<ReturnType<typeof workloadKind>>;
  const seen = observed(definition, objectWith({ spec: { suspend } }), DEFAULT_ANNOTATION_KEYS);
  expect(seen.isSuspended).toBe(isSuspended);
});
