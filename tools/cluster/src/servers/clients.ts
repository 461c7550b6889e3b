import { certificateFile, certificateKeyFile, serviceAccountKeyFile } from './apiserver.ts';
import { kubeconfigFile } from './kubeconfig.ts';
import type { Launch } from '../state.ts';

export interface ClientOptions {
  readonly dir: string;
  readonly controlplane: string;
  readonly port: number;
  readonly featureGates?: string | undefined;
}

/** kube-controller-manager with all its default controllers. */
export function controllerManagerLaunch(options: ClientOptions): Launch {
  const args = [
    'kube-controller-manager',
    ...componentArgs(options),
    `--service-account-private-key-file=${serviceAccountKeyFile(options.dir)}`,
    // Many workloads are rolled at once in a load test; the defaults (5) are for shared clusters.
    '--concurrent-deployment-syncs=20',
    '--concurrent-replicaset-syncs=20',
    '--concurrent-statefulset-syncs=20',
    '--concurrent-daemonset-syncs=20',
  ];
  return { name: 'controllerManager', command: options.controlplane, args, port: options.port };
}

export function schedulerLaunch(options: ClientOptions): Launch {
  const args = ['kube-scheduler', ...componentArgs(options)];
  return { name: 'scheduler', command: options.controlplane, args, port: options.port };
}

/** kwok in the role of the kubelet of every node. */
export function kwokLaunch(options: {
  dir: string;
  kwok: string;
  stages: readonly string[];
  port: number;
}): Launch {
  const { dir, kwok, stages, port } = options;
  const args = [
    `--kubeconfig=${kubeconfigFile(dir)}`,
    // The other one is real: src/node.
    '--manage-nodes-with-label-selector=type=kwok',
    `--server-address=127.0.0.1:${port}`,
    ...stages.map((file) => `--config=${file}`),
  ];
  return { name: 'kwok', command: kwok, args, port };
}

/** They serve their health with the API server's certificate: no second authority, no key to make. */
function componentArgs({ dir, port, featureGates }: ClientOptions): string[] {
  return [
    `--kubeconfig=${kubeconfigFile(dir)}`,
    '--leader-elect=false',
    '--kube-api-qps=2000',
    '--kube-api-burst=4000',
    '--authentication-skip-lookup',
    '--bind-address=127.0.0.1',
    `--secure-port=${port}`,
    `--tls-cert-file=${certificateFile(dir)}`,
    `--tls-private-key-file=${certificateKeyFile(dir)}`,
    ...(featureGates === undefined ? [] : [`--feature-gates=${featureGates}`]),
  ];
}
