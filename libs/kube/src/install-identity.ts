import { pause, systemClock } from './client/clock.ts';
import type { KubeClient } from './client/connection.ts';
import { KubeError } from './client/errors.ts';
import { namespacePath } from './objects.ts';

const KUBE_SYSTEM = namespacePath('kube-system');

/** The identity of an install, from which its keys in Redis are named. */
export interface InstallIdentity {
  /** Part of the prefix: `--cluster-name`, or the cluster's uid. */
  readonly cluster: string;
  readonly namespace: string;
  /** Identifies the cluster: the uid of kube-system; undefined if that may not be read, as in a scoped install. */
  readonly uid: string | undefined;
}

export interface InstallIdentityOptions {
  readonly client: Pick<KubeClient, 'get'>;
  /** '' means the cluster's uid. */
  readonly clusterName: string;
  readonly namespace: string;
  readonly signal: AbortSignal;
  readonly onRetry: (error: KubeError) => void;
  /** Default 1 s. */
  readonly retryMs?: number | undefined;
}

/**
 * Waits for an unreachable API server until the signal fires. Rejects with the `KubeError` if the server refuses for good, unless
 * it only refuses the uid and there is a name.
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
        return { cluster: clusterName, namespace, uid: undefined };
      if (!error.retryable) throw error;
      options.onRetry(error);
    }
    await pause(systemClock, options.retryMs ?? 1_000, signal);
  }
}
