import { KubeClient, type KubeRequest } from '@reroll/kube/client/connection';
import { expect } from 'vitest';
import { RecreateJob } from '../../../apps/worker/src/reload/send/recreate-job.ts';
import type { Reload } from '../../../apps/worker/src/reload/send/reload-way.ts';
import { DEFAULT_ANNOTATION_KEYS as KEYS } from '@reroll/core/annotations/annotation-keys';
import { PENDING_JOB_ANNOTATION } from '@reroll/core/reload/pending-job';
import { observed } from '@reroll/kube/workloads/observe';
import { workloadKind } from '@reroll/kube/workloads/registry';
import { auto, job, variable } from './builders.ts';
import { cleanUp } from '../cleanup.ts';
import { sharedCluster } from '../cluster.ts';
import type { KubeObject, Manifest, Space } from '../kube.ts';
import { eventually } from '../wait.ts';

/** The calls of a recreation that write, in their order. */
export const STEPS = ['dry run', 'twin', 'deletion', 'creation', 'end of the pending Job'] as const;
export type Step = (typeof STEPS)[number];

/** What the new Job carries. */
export const RECORD = '{"v":1,"s":{}}';

/** Calls `before` ahead of each such call, which is not made if that rejects. */
class SteppingClient extends KubeClient {
  readonly #before: (step: Step) => Promise<unknown> | undefined;

  constructor(before: (step: Step) => Promise<unknown> | undefined) {
    super({ kubeconfig: sharedCluster().kubeconfig, userAgent: 'e2e' });
    this.#before = before;
    cleanUp(() => this.close());
  }

  override async request<T>(request: KubeRequest): Promise<never> {
    const step = stepOf(request);
    if (step) await this.#before(step);
    return (await super.request<T>(request)) as never;
  }
}

function stepOf({ method, query, body, path }: KubeRequest): Step | undefined {
  // The name of a pending Job ends with ten hexadecimal digits.
  if (method === 'DELETE') return /-[0-9a-f]{10}$/u.test(path) ? 'end of the pending Job' : 'deletion';
  if (method !== 'POST') return undefined;
  if (query?.['dryRun'] === 'All') return 'dry run';
  const { metadata } = body as Partial<KubeObject>;
  return metadata?.annotations?.[PENDING_JOB_ANNOTATION] === undefined ? 'creation' : 'twin';
}

/** A worker's way of recreating, with what happens before each step. */
export function recreation(
  before: (step: Step) => Promise<unknown> | undefined = () => undefined,
  recreateFinishedJobs = false,
): RecreateJob {
  return new RecreateJob({
    client: new SteppingClient(before),
    strategy: 'env-vars',
    fieldManager: 'e2e',
    markerAnnotation: 'x',
    recreateFinishedJobs,
    patch: { send: () => Promise.reject(new Error('nothing but a record to be written')) },
  });
}

/** Leaves a Job as a worker does that dies before the call of this step. */
export async function diesBefore(space: Space, name: string, last: Step): Promise<KubeObject> {
  const before = await waitingJob(space, name);
  const dying = recreation((step) => (step === last ? Promise.reject(new Error('died')) : undefined));
  await expect(dying.send(reloadOf(before))).rejects.toThrow('died');
  return before;
}

/** A Job whose pod waits, and of which nothing is written any more. */
export async function waitingJob(space: Space, name: string): Promise<KubeObject> {
  const manifest = { ...job(name, auto(), variable('OWN', 'kept')) } as Manifest & { spec: object };
  await space.apply({ ...manifest, spec: { ...manifest.spec, backoffLimit: 3 } } as Manifest);
  return await eventually(async () => {
    const object = await space.get(`Job/${name}`);
    return object.status?.['active'] === 1 ? object : null;
  });
}

/** Fails it, which finishes it: its time is up. */
export async function finish(space: Space, name: string): Promise<void> {
  await space.patch(`Job/${name}`, { spec: { activeDeadlineSeconds: 1 } });
  await finished(space, name, 'Failed');
}

/** Resolves with it when its pods have run to their end. */
export async function completed(space: Space, name: string): Promise<KubeObject> {
  return await finished(space, name, 'Complete');
}

async function finished(space: Space, name: string, how: 'Complete' | 'Failed'): Promise<KubeObject> {
  return await eventually(async () => {
    const object = await space.get(`Job/${name}`);
    const conditions = (object.status?.['conditions'] ?? []) as { type: string; status: string }[];
    return conditions.some(({ type, status }) => type === how && status === 'True') ? object : null;
  });
}

/** What a reload of this Job is, for a ConfigMap of the hash `h`. */
export function reloadOf(object: KubeObject): Reload {
  const definition = workloadKind('Job');
  if (!definition) throw new Error('expected Job to be a kind');
  const { namespace, name } = object.metadata;
  const read = object as never;
  return {
    workload: {
      key: `Job/${namespace}/${name}`,
      definition,
      object: read,
      written: { definition, object: read },
      template: object.spec.template,
      observed: observed(definition, read, KEYS),
      facts: { workload: undefined, sources: new Map(), readings: new Map() },
      dependencies: [],
    },
    rolled: [{ kind: 'ConfigMap', namespace, name: 'cm', auto: false, markerHash: 'h' }],
    record: RECORD,
  };
}

/** Names of the pending Jobs that are there. */
export async function pendingJobs(space: Space): Promise<string[]> {
  const jobs = await space.list('Job');
  const found = jobs.filter(({ metadata }) => metadata.annotations?.[PENDING_JOB_ANNOTATION] !== undefined);
  return found.map(({ metadata }) => metadata.name);
}
