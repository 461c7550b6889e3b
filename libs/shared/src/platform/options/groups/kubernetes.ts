/** How to reach the API server, and the process's identity there. */
import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { ALL, options, STANDALONE, WATCHER, WORKER } from '../parsing/option.ts';
import { anyText, matching, optionalHost, optionalPath, text } from '../parsing/values.ts';

/** Mounted into every pod that has a service account. */
const NAMESPACE_FILE = '/var/run/secrets/kubernetes.io/serviceaccount/namespace';

function namespaceOfPod(): string {
  try {
    return readFileSync(NAMESPACE_FILE, 'utf8').trim() || 'default';
  } catch {
    return 'default'; // not in a pod
  }
}

export const kubernetesOptions = options('Kubernetes', {
  kubeconfig: {
    flag: '--kubeconfig',
    env: 'KUBECONFIG',
    default: '',
    apps: ALL,
    description:
      "Path of a kubeconfig. Default: the pod's service account, or ~/.kube/config outside a cluster.",
    ...optionalPath('the path of a kubeconfig file'),
  },
  podName: {
    flag: '--pod-name',
    env: 'POD_NAME',
    default: { text: 'the host name', find: hostname },
    apps: ALL,
    description: 'Identity of this process in the Lease and in Kubernetes Events.',
    ...text('the name of this pod'),
  },
  podIp: {
    flag: '--pod-ip',
    env: 'POD_IP',
    default: '',
    apps: STANDALONE,
    description:
      'Address at which other standalone processes reach this one. A standby forwards API requests to the leader; if this is unset, it answers 503. No effect if all share a Redis.',
    ...optionalHost(),
  },
  podNamespace: {
    flag: '--pod-namespace',
    env: 'POD_NAMESPACE',
    default: { text: 'the namespace of the pod, else default', find: namespaceOfPod },
    apps: ALL,
    description:
      'Namespace of the Lease. It is part of the Redis keys, so installations in different namespaces can share a Redis.',
    ...matching('the name of a namespace', /^[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?$/u),
  },
  reloaderNamespace: {
    flag: '--reloader-namespace',
    env: 'RELOADER_NAMESPACE',
    default: '',
    apps: WATCHER,
    description: 'Namespace of the ConfigMap reloader-meta-info. Unset: it is not written.',
    ...matching('the name of a namespace', /^(?:[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?)?$/u),
  },
  reloaderDeploymentName: {
    flag: '--reloader-deployment-name',
    env: 'RELOADER_DEPLOYMENT_NAME',
    default: '',
    apps: WATCHER,
    description: "Name of Reroll's Deployment in reloader-meta-info.",
    ...anyText('any text'),
  },
  fieldManager: {
    flag: '--field-manager',
    default: 'Reloader',
    apps: WORKER,
    description:
      'Field manager of every patch. The default is that of stakater/Reloader, which GitOps tools are configured for.',
    ...matching('1 to 128 printable characters', /^[\x20-\x7e]{1,128}$/u),
  },
});
