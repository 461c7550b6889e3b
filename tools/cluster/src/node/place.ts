import { join } from 'node:path';

/** The name of the Node object. */
export const NODE_NAME = 'real-0';

/** On a namespace, by the admission plugins below: all of its pods run on the real node, and those of others do not. */
export const NAMESPACE_ANNOTATIONS: Readonly<Record<string, string>> = {
  'scheduler.alpha.kubernetes.io/node-selector': 'type=real',
  'scheduler.alpha.kubernetes.io/defaultTolerations': JSON.stringify([{ key: 'type', operator: 'Exists' }]),
};

/** Of the API server, for those annotations. */
export const ADMISSION_ARGS = ['--enable-admission-plugins=PodNodeSelector,PodTolerationRestriction'];

/** Of every API server with a real node: this machine does not know the node's name. */
export const API_SERVER_ARGS = ['--kubelet-preferred-address-types=InternalIP'];

/** The image that holds the namespaces of a pod. */
export const PAUSE = 'docker.io/local/pause:1';
export const DNS_IP = '10.96.0.10';
/** Where the node has the API server, at its own address. */
export const API_PORT = 6443;

/** Names and addresses that no other node on this machine has: made of the port of its API server. */
export interface Place {
  /** Below the folder of the cluster. */
  readonly folder: string;
  readonly socket: string;
  /** What containers write, by pod. */
  readonly podLogs: string;
  readonly link: string;
  readonly hostIp: string;
  readonly nodeIp: string;
  readonly cgroup: string;
}

export function placeOf(dir: string, apiServerPort: number): Place {
  const folder = join(dir, 'node');
  const end = `${apiServerPort >> 8}.${apiServerPort & 255}`;
  return {
    folder,
    socket: join(folder, 'containerd.sock'),
    podLogs: join(folder, 'pod-logs'),
    link: `reroll-${apiServerPort}`,
    hostIp: `10.200.${end}`,
    nodeIp: `10.201.${end}`,
    cgroup: `reroll-node-${apiServerPort}`,
  };
}
