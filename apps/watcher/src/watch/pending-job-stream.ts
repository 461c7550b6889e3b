import { PENDING_JOB_LABEL } from '@reroll/core/reload/pending-job';
import { KubeError } from '@reroll/kube/client/errors';
import { collectionPath } from '@reroll/kube/objects';
import { job } from '@reroll/kube/workloads/job';
import { noWorkloads, workloadStream, type Into, type StreamsContext } from './kind-streams.ts';
import { OptionalStream } from './optional-stream.ts';

/** The label's presence. */
const labelSelector = PENDING_JOB_LABEL;

/**
 * Pending Jobs where Jobs are ignored: what a former run began is finished all the same, because the pending Job may be all
 * that is left of a Job. Followed while Reroll may list Jobs (the chart takes that right away with
 * `reloader.ignoreJobs`), and nobody waits for it.
 */
export function pendingJobStream(
  context: StreamsContext,
  intoOf: (namespace: string) => Into,
): OptionalStream {
  const { options, log } = context;
  const told = log.child({ kind: job.kind, labels: PENDING_JOB_LABEL });
  return new OptionalStream({
    isServed: (signal) => mayBeListed(context, signal),
    open: (namespace) => [workloadStream(intoOf(namespace), job, labelSelector)],
    gone: (namespace) => noWorkloads(intoOf(namespace), job.kind),
    interval: options.discoveryInterval,
    log: told,
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
