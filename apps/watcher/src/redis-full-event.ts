import type { KubeClient } from '@reroll/shared/kube/connection';
import type { EventRecorder } from '@reroll/shared/kube/kube-events';
import { objectPath } from '@reroll/shared/kube/objects';

const LEASES = { group: 'coordination.k8s.io', version: 'v1', plural: 'leases' };
const NOTE =
  'Redis has no room: the history is dropped and not written until there is. Reloads go on. Give Redis more memory ' +
  '(maxmemory), or find out who else fills it.';

/** A Kubernetes Event on the Lease, which is there in every install. Rejects with a `KubeError`. */
export async function recordRedisFull(
  { client, events }: { client: Pick<KubeClient, 'get'>; events: Pick<EventRecorder, 'record'> },
  lease: { namespace: string; name: string },
): Promise<void> {
  const { body } = await client.get<{ metadata: { uid: string; resourceVersion: string } }>(
    objectPath(LEASES, lease),
  );
  const { uid, resourceVersion } = body.metadata;
  const workload = { kind: 'Lease', apiVersion: 'coordination.k8s.io/v1', ...lease, uid, resourceVersion };
  events.record({ workload, reason: 'RedisFull', note: NOTE });
}
