/** etcd and kube-apiserver, which run. */
export interface TestCluster {
  readonly dir: string;
  /** Path of a file that is complete in itself; its user is an admin. */
  readonly kubeconfig: string;
  readonly ports: { readonly etcd?: number };
  /** Resolves when it answers again. */
  restart(component: 'apiserver'): Promise<void>;
  /** Ends everything and removes what was written. */
  stop(): Promise<void>;
}

export interface TestClusterOptions {
  /** `A=true,B=false`. */
  readonly featureGates?: string;
}

/** Starts a cluster that writes everything below `dir`. */
export type StartCluster = (options: TestClusterOptions & { readonly dir: string }) => Promise<TestCluster>;

export let startCluster: StartCluster = () =>
  Promise.reject(new Error('expected a setup file that calls startClustersWith'));

/** Sets how a cluster is started, since libs know no tool that does (`tools/test/servers.ts`). */
export function startClustersWith(start: StartCluster): void {
  startCluster = start;
}
