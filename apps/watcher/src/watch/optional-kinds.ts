import { PENDING_JOB_LABEL } from '@reroll/core/reload/pending-job';
import { KubeError } from '@reroll/kube/client/errors';
import { isServed } from '@reroll/kube/discovery';
import { collectionPath } from '@reroll/kube/objects';
import {
  SECRET_PROVIDER_CLASSES,
  SECRET_PROVIDER_CLASS_POD_STATUSES,
} from '@reroll/kube/sources/secret-provider-class';
import type { WorkloadKindDefinition } from '@reroll/kube/workloads/definition';
import { job } from '@reroll/kube/workloads/job';
import { WORKLOAD_KINDS } from '@reroll/kube/workloads/registry';
import type { KindStreams, StreamsContext, WatchedNamespace } from './kind-streams.ts';
import { OptionalStream } from './optional-stream.ts';
import { PROVIDER_CLASS } from './provider-class-stores.ts';

/** The label's presence. */
const labelSelector = PENDING_JOB_LABEL;

interface Kinds {
  readonly kinds: KindStreams;
  /** Of a namespace that is followed. */
  readonly namespaceOf: (name: string) => WatchedNamespace;
}

/** The streams of kinds that the API server may not have, by kind. */
export function optionalStreams(context: StreamsContext, of: Kinds): Map<string, OptionalStream> {
  const { options } = context;
  const wanted = WORKLOAD_KINDS.filter(({ isWanted }) => isWanted?.(options));
  const streams = new Map(
    wanted.map((definition) => [definition.kind, workloadStream(definition, context, of)]),
  );
  if (options.ignoredWorkloadTypes.some((type) => type === 'jobs'))
    streams.set(job.kind, pendingJobStream(context, of));
  if (options.enableCsiIntegration) streams.set(PROVIDER_CLASS, providerClassStream(context, of));
  return streams;
}

function workloadStream(
  definition: WorkloadKindDefinition,
  { client, options, log }: StreamsContext,
  { kinds, namespaceOf }: Kinds,
): OptionalStream {
  const { kind } = definition;
  return new OptionalStream({
    isServed: (signal) => isServed(client, definition, { signal }),
    open: (name, onMissing) => [kinds.workloads(definition, namespaceOf(name), { onMissing })],
    gone: (name) => kinds.noWorkloads(kind, namespaceOf(name)),
    interval: options.discoveryInterval,
    log: log.child({ kind }),
  });
}

/** While the API server has both classes and statuses. */
function providerClassStream(
  { client, options, log }: StreamsContext,
  { kinds, namespaceOf }: Kinds,
): OptionalStream {
  return new OptionalStream({
    isServed: async (signal) =>
      (await isServed(client, SECRET_PROVIDER_CLASSES, { signal })) &&
      (await isServed(client, SECRET_PROVIDER_CLASS_POD_STATUSES, { signal })),
    open: (name, onMissing) => kinds.providerClasses(namespaceOf(name), onMissing),
    // What was known stays: a removed CRD tells nothing of the versions that pods run with.
    gone: async () => undefined,
    interval: options.discoveryInterval,
    log: log.child({ kind: PROVIDER_CLASS }),
  });
}

/**
 * Pending Jobs where Jobs are ignored: what a former run began is finished all the same, because the pending Job may be all
 * that is left of a Job. Followed while Reroll may list Jobs (the chart takes that right away with
 * `reloader.ignoreJobs`), and nobody waits for it.
 */
function pendingJobStream(context: StreamsContext, { kinds, namespaceOf }: Kinds): OptionalStream {
  const { options, log } = context;
  return new OptionalStream({
    isServed: (signal) => mayBeListed(context, signal),
    open: (name) => [kinds.workloads(job, namespaceOf(name), { labelSelector })],
    gone: (name) => kinds.noWorkloads(job.kind, namespaceOf(name)),
    interval: options.discoveryInterval,
    log: log.child({ kind: job.kind, labels: PENDING_JOB_LABEL }),
  });
}

async function mayBeListed({ client, options }: StreamsContext, signal: AbortSignal): Promise<boolean> {
  const namespaces = options.namespaces.length === 0 ? [undefined] : options.namespaces;
  const query = { labelSelector, limit: 1 };
  try {
    for (const namespace of namespaces) await client.get(collectionPath(job, namespace), { query, signal });
    return true;
  } catch (error) {
    if (error instanceof KubeError && error.status === 403) return false;
    throw error;
  }
}
