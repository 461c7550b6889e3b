import { randomBytes } from 'node:crypto';
import { RECORD_ANNOTATION, recordName, writeRecord } from '@reroll/core/record/record';
import { recordHash } from '@reroll/core/record/record-hash';
import { apiVersionOf } from '@reroll/kube/objects';
import { KINDS, type Kind } from './kinds.ts';
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

export interface WorkloadOptions {
  readonly kind: Kind;
  /** Of each workload. Of a DaemonSet, 0 selects no node. */
  readonly replicas: number;
  /** Name and present value of the source that it uses. */
  readonly source: string;
  readonly value: string;
  /** Whether it carries the applied record. */
  readonly recorded: boolean;
}

/**
 * A workload with one container that takes its environment from the source. If it carries the record, what is
 * measured is the steady state, not the first minutes of an installation, in which every workload is adopted.
 */
export function workloadManifest({ namespace, name }: ObjectId, options: WorkloadOptions): unknown {
  const { kind, source, value, recorded } = options;
  const annotations = {
    'reloader.stakater.com/auto': 'true',
    ...(recorded ? { [RECORD_ANNOTATION]: recordOf(source, value) } : {}),
  };
  const labels = { app: name };
  const metadata = { namespace, name, annotations, labels };
  return { apiVersion: apiVersionOf(KINDS[kind]), kind, metadata, spec: workloadSpec(labels, options) };
}

function workloadSpec(labels: { app: string }, options: WorkloadOptions): unknown {
  const { kind, replicas, source } = options;
  const container = {
    name: 'app',
    image: 'registry.k8s.io/pause:3.10',
    envFrom: [{ configMapRef: { name: source } }],
  };
  const noNode = kind === 'DaemonSet' && replicas === 0 ? { nodeSelector: { bench: 'none' } } : {};
  return {
    selector: { matchLabels: labels },
    // Repeated runs must not begin to delete what the first ones made.
    revisionHistoryLimit: 1000,
    template: {
      metadata: { labels },
      spec: { containers: [container], terminationGracePeriodSeconds: 0, ...noNode },
    },
    ...(kind === 'DaemonSet' ? {} : { replicas }),
  };
}
