import { LEASES } from '@reroll/kube/lease/lease-record';
import type { KubeClient } from '@reroll/kube/client/connection';
import { objectPath } from '@reroll/kube/objects';

/** On the Lease: when this install adopted the cluster, RFC 3339, by the API server's clock. */
export const ADOPTED_AT = 'reroll.dev/adopted-at';

/**
 * When this install adopted the cluster, Unix seconds; undefined until its first leader has written it.
 * Rejects with a `KubeError` if the Lease cannot be read.
 */
export async function readAdoptedAt(
  client: Pick<KubeClient, 'get'>,
  lease: { namespace: string; name: string },
): Promise<number | undefined> {
  const { body } = await client.get<{ metadata: { annotations?: Record<string, string> } }>(
    objectPath(LEASES, lease),
  );
  const text = body.metadata.annotations?.[ADOPTED_AT];
  const time = text === undefined ? Number.NaN : Date.parse(text);
  return Number.isNaN(time) ? undefined : Math.floor(time / 1000);
}
