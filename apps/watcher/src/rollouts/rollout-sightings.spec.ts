import { DEFAULT_ANNOTATION_KEYS as KEYS } from '@reroll/core/annotations/annotation-keys';
import type { RolloutEntry } from '@reroll/core/history/entries';
import { keyOf, type SourceKey, type WorkloadKey } from '@reroll/core/model';
import { RolloutTracker } from '@reroll/core/rollouts/rollout-tracker';
import { StaleRollouts } from '@reroll/core/rollouts/stale-rollouts';
import { ClusterState } from '@reroll/core/state/cluster-state';
import { WorkloadIntake } from '@reroll/core/state/workloads/workload-intake';
import type { KubeObject } from '@reroll/kube/objects';
import { argoRollout } from '@reroll/kube/workloads/argo-rollout';
import type { WorkloadKindDefinition } from '@reroll/kube/workloads/definition';
import { deployment } from '@reroll/kube/workloads/deployment';
import { observed } from '@reroll/kube/workloads/observe';
import { seenRollout } from '@reroll/kube/workloads/seen-rollout';
import { beforeEach, describe, expect, it } from 'vitest';
import { RolloutSightings } from './rollout-sightings.ts';

const decision = { keys: KEYS, autoReloadAll: false, ignoredWorkloadTypes: [] };
const ROLLOUT: WorkloadKey = keyOf({ kind: 'Rollout', namespace: 'shop', name: 'web' });
const CM: SourceKey = 'ConfigMap/shop/cm';
const NO_PODS = { want: () => undefined, gone: () => undefined, prune: () => undefined };

let clusterState: ClusterState;
let intake: WorkloadIntake;
let tracker: RolloutTracker;
let sightings: RolloutSightings;
let rv: number;

beforeEach(() => {
  clusterState = new ClusterState({ decision, adoptedAt: 50 });
  intake = new WorkloadIntake(clusterState, decision);
  tracker = new RolloutTracker();
  const stale = new StaleRollouts(clusterState, tracker.tracked);
  sightings = new RolloutSightings(clusterState, { tracker, stale }, NO_PODS);
  rv = 10;
  const source = { key: CM, rv: '10', hash: '1.A', modifiedAt: 60, annotations: {} };
  clusterState.sourcesListed({
    scope: { kind: 'ConfigMap', namespace: '' },
    rv: '10',
    objects: [source],
    catalog: new Map(),
  });
  deploymentIsAt(1, 'old');
  rolloutIs('Healthy', 1);
});

function sees(definition: WorkloadKindDefinition, object: object): void {
  const seen = object as KubeObject;
  const workload = observed(definition, seen, KEYS);
  const sighting = { key: workload.key, workload, rollout: seenRollout(definition, seen, false) };
  sightings.seen([sighting], () => intake.written(workload));
}

function metadata(uid: string, generation: number, annotations: object = {}): object {
  const creationTimestamp = '2026-01-01T00:00:00Z';
  const resourceVersion = String((rv += 1));
  return { name: 'web', namespace: 'shop', uid, resourceVersion, generation, creationTimestamp, annotations };
}

function deploymentIsAt(generation: number, value: string): void {
  const env = [{ name: 'STAKATER_CM_CONFIGMAP', value }];
  const container = { name: 'app', env, envFrom: [{ configMapRef: { name: 'cm' } }] };
  const spec = { replicas: 0, template: { metadata: {}, spec: { containers: [container] } } };
  sees(deployment, { metadata: metadata('d', generation), spec, status: { observedGeneration: generation } });
}

/** `processed`: the generation of the Deployment that Argo Rollouts has processed. */
function rolloutIs(phase: string, processed: number): void {
  sees(argoRollout, {
    metadata: metadata('r', 1, { [KEYS.auto]: 'true' }),
    spec: { replicas: 1, workloadRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' } },
    status: { observedGeneration: '1', workloadObservedGeneration: String(processed), phase },
  });
}

function tracked(): Pick<RolloutEntry, 'state' | 'code'> | undefined {
  return tracker.tracked.get(ROLLOUT);
}

describe('the rollout of a workload with the pod template of a Deployment', () => {
  it('begins with the template, and is complete once the controller has processed that', () => {
    expect(tracked()).toBeUndefined();
    deploymentIsAt(2, 'new');
    expect(tracked()).toMatchObject({ state: 'progressing', code: 'NotObserved' });
    rolloutIs('Healthy', 1);
    expect(tracked()).toMatchObject({ state: 'progressing', code: 'NotObserved' });
    rolloutIs('Progressing', 2);
    expect(tracked()).toMatchObject({ state: 'progressing', code: 'Updating' });
    rolloutIs('Healthy', 2);
    expect(tracked()).toBeUndefined();
    expect(tracker.completions.has(ROLLOUT)).toBe(true);
  });

  it('is not taken for stuck because an earlier one was', () => {
    rolloutIs('Degraded', 1);
    deploymentIsAt(2, 'new');
    rolloutIs('Degraded', 1);
    expect(tracked()).toMatchObject({ state: 'progressing', code: 'NotObserved' });
    rolloutIs('Degraded', 2);
    expect(tracked()).toMatchObject({ state: 'stuck', code: 'Degraded' });
  });

  it('is under way while it is paused, whatever was seen of it before', () => {
    deploymentIsAt(2, 'new');
    rolloutIs('Paused', 2);
    expect(tracked()).toMatchObject({ state: 'progressing', code: 'Paused' });
  });

  it('is known although the controller was faster than the stream of Deployments', () => {
    rolloutIs('Progressing', 2);
    expect(tracked()).toBeUndefined();
    deploymentIsAt(2, 'new');
    expect(tracked()).toMatchObject({ state: 'progressing', code: 'Updating' });
    rolloutIs('Healthy', 3);
    deploymentIsAt(3, 'newer');
    expect(tracked()).toBeUndefined();
    expect(tracker.completions.has(ROLLOUT)).toBe(true);
  });

  it('does not begin if the Deployment changes in another way, or pods are replaced', () => {
    deploymentIsAt(2, 'old');
    rolloutIs('Healthy', 1);
    rolloutIs('Progressing', 2);
    expect(tracked()).toBeUndefined();
  });

  it('no longer begins once the workload is gone', () => {
    intake.deleted(ROLLOUT);
    sightings.gone(ROLLOUT);
    deploymentIsAt(2, 'new');
    expect(tracked()).toBeUndefined();
  });
});
