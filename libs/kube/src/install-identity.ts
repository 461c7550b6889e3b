import { pause, systemClock } from './client/clock.ts';
import type { KubeClient } from './client/connection.ts';
import { KubeError } from './client/errors.ts';

const KUBE_SYSTEM = '/api/v1/namespaces/kube-system';

/** Whose keys in Redis these are. */
export interface InstallIdentity {
  /** Part of the prefix: `--cluster-name`, or the cluster's uid. */
  readonly cluster: string;
  readonly namespace: string;
  /** What the cluster is recognised by: the uid of kube-system, or its name where that may not be read. */
  readonly uid: string;
}

export interface InstallIdentityOptions {
  readonly client: Pick<KubeClient, 'get'>;
  /** '' for the cluster's uid. */
  readonly clusterName: string;
  readonly namespace: string;
  readonly signal: AbortSignal;
  readonly onRetry: (error: KubeError) => void;
  /** Default 1 s. */
  readonly retryMs?: number | undefined;
}

/**
 * Waits for an API server that cannot be reached, until the signal fires. Rejects with the `KubeError` if it
 * refuses for good, unless all that it refuses is the uid and there is a name to go by.
 */
export async function installIdentity(options: InstallIdentityOptions): Promise<InstallIdentity> {
  const { clusterName, namespace, signal } = options;
  for (;;) {
    try {
      const { body } = await options.client.get<{ metadata: { uid: string } }>(KUBE_SYSTEM);
      const { uid } = body.metadata;
      return { cluster: clusterName === '' ? uid : clusterName, namespace, uid };
    } catch (error) {
      if (!(error instanceof KubeError) || signal.aborted) throw error;
      if (error.status === 403 && clusterName !== '')
        return { cluster: clusterName, namespace, uid: `name ${clusterName}` };
      if (!error.retryable) throw error;
      options.onRetry(error);
    }
    await pause(systemClock, options.retryMs ?? 1_000, signal);
  }
}
