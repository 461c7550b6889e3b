import { randomBytes } from 'node:crypto';
import { RECORD_ANNOTATION, recordName, writeRecord } from '@reroll/core/record/record';
import { recordHash } from '@reroll/core/record/record-hash';
import type { ObjectId } from './work.ts';

/** The data of every source of the bench: one key. */
export function dataOf(value: string): { readonly value: string } {
  return { value };
}

export function namespaceManifest(name: string): unknown {
  return { apiVersion: 'v1', kind: 'Namespace', metadata: { name } };
}

export function configMapManifest({ namespace, name }: ObjectId, value: string): unknown {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace, name }, data: dataOf(value) };
}

/** Random, so that nothing on its way can be small by compression. */
export function secretManifest({ namespace, name }: ObjectId, bytes: number): unknown {
  const blob = randomBytes(bytes).toString('base64');
  return { apiVersion: 'v1', kind: 'Secret', metadata: { namespace, name }, type: 'Opaque', data: { blob } };
}

/** What Reroll records on a workload that was last rolled with this value of its one source. */
export function recordOf(source: string, value: string): string {
  const hash = recordHash({ data: dataOf(value) }, []);
  return writeRecord({ [recordName({ kind: 'ConfigMap', name: source })]: hash });
}

/**
 * A Deployment without pods whose container takes its environment from the source, which has this value. It carries the
 * record: what is measured is the steady state, not the first minutes of an installation, in which workloads are adopted.
 */
export function workloadManifest(id: ObjectId, source: string, value: string): unknown {
  const annotations = {
    'reloader.stakater.com/auto': 'true',
    [RECORD_ANNOTATION]: recordOf(source, value),
  };
  const labels = { app: id.name };
  const container = {
    name: 'app',
    image: 'registry.k8s.io/pause:3.10',
    envFrom: [{ configMapRef: { name: source } }],
  };
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { ...id, annotations, labels },
    spec: {
      replicas: 0,
      selector: { matchLabels: labels },
      // Repeated runs must not begin to delete what the first ones made.
      revisionHistoryLimit: 1000,
      template: {
        metadata: { labels },
        spec: { containers: [container], terminationGracePeriodSeconds: 0 },
      },
    },
  };
}

/** What the deployment controller reports of such a Deployment. Without it, each rollout would count as one that is under way. */
export function completeStatus(): unknown {
  const conditions = [
    { type: 'Available', status: 'True', reason: 'MinimumReplicasAvailable' },
    { type: 'Progressing', status: 'True', reason: 'NewReplicaSetAvailable' },
  ];
  return { status: { observedGeneration: 1, conditions } };
}
