import { LEASES } from '@reroll/kube/lease/lease-record';
import type { KubeClient } from '@reroll/kube/client/connection';
import type { EventRecorder } from '@reroll/kube/kube-events';
import { objectPath } from '@reroll/kube/objects';

export interface LeaseEventContext {
  readonly client: Pick<KubeClient, 'get'>;
  readonly events: Pick<EventRecorder, 'record'>;
  readonly lease: { readonly namespace: string; readonly name: string };
}

/** Records a Kubernetes Event on the Lease, which exists in every install. Rejects with a `KubeError`. */
export async function recordOnLease(
  { client, events, lease }: LeaseEventContext,
  event: { readonly reason: string; readonly note: string },
): Promise<void> {
  const { body } = await client.get<{ metadata: { uid: string; resourceVersion: string } }>(
    objectPath(LEASES, lease),
  );
  const { uid, resourceVersion } = body.metadata;
  const workload = { kind: 'Lease', apiVersion: 'coordination.k8s.io/v1', ...lease, uid, resourceVersion };
  events.record({ workload, ...event });
}
