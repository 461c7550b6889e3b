import type { KubeletApi } from './api.ts';
import { NODE_IP } from './network.ts';
import { now } from './pods/pod-status.ts';

/** Label and taint of the nodes of this kubelet. */
const NODE_LABEL = 'reroll.dev/test-kubelet';

/** What the API server needs so that namespaces can send their pods here. */
export const ADMISSION_ARGS = ['--enable-admission-plugins=PodNodeSelector,PodTolerationRestriction'];

/** On a namespace: all of its pods run on this kubelet's nodes. Pods of others never do. */
export const NAMESPACE_ANNOTATIONS: Readonly<Record<string, string>> = {
  'scheduler.alpha.kubernetes.io/node-selector': `${NODE_LABEL}=true`,
  'scheduler.alpha.kubernetes.io/defaultTolerations': JSON.stringify([
    { key: NODE_LABEL, operator: 'Exists', effect: 'NoSchedule' },
  ]),
};

const CAPACITY = { cpu: '64', memory: '64Gi', 'ephemeral-storage': '64Gi', pods: '500' };
const RENEW_MS = 10_000;
const LEASE_S = 40;

/** A Node that says that it is ready for as long as this process lives. */
export class Node {
  readonly name: string;
  readonly #api: KubeletApi;
  #timer: NodeJS.Timeout | undefined;

  constructor(name: string, api: KubeletApi) {
    this.name = name;
    this.#api = api;
  }

  async register(): Promise<void> {
    const labels = {
      'kubernetes.io/hostname': this.name,
      'kubernetes.io/os': 'linux',
      'topology.kubernetes.io/zone': `zone-${this.name}`,
      [NODE_LABEL]: 'true',
    };
    const time = now();
    await this.#api.ensure('/api/v1/nodes', {
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name: this.name, labels },
      spec: { taints: [{ key: NODE_LABEL, value: 'true', effect: 'NoSchedule' }] },
      status: {
        capacity: CAPACITY,
        allocatable: CAPACITY,
        addresses: [
          { type: 'InternalIP', address: NODE_IP },
          { type: 'Hostname', address: this.name },
        ],
        conditions: [
          {
            type: 'Ready',
            status: 'True',
            reason: 'KubeletReady',
            lastHeartbeatTime: time,
            lastTransitionTime: time,
          },
        ],
      },
    });
    await this.#api.ensure('/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases', {
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: { name: this.name },
      spec: { holderIdentity: this.name, leaseDurationSeconds: LEASE_S, renewTime: microNow() },
    });
    // A renewal that fails is made good by the next.
    this.#timer = setInterval(() => void this.#renew().catch(() => undefined), RENEW_MS);
    this.#timer.unref();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  async #renew(): Promise<void> {
    const path = `/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/${this.name}`;
    await this.#api.merge(path, { spec: { renewTime: microNow() } });
  }
}

function microNow(): string {
  return new Date().toISOString().replace('Z', '000Z');
}
