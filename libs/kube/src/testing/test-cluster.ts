/** A running etcd and kube-apiserver. */
export interface TestCluster {
  /** Path of a self-contained kubeconfig whose user is an admin. */
  readonly kubeconfig: string;
  readonly ports: { readonly etcd?: number };
  /** Resolves when the component answers again. */
  restart(component: 'apiserver'): Promise<void>;
  /** Stops everything and removes its files; a shared one goes on. */
  stop(): Promise<void>;
}

export interface TestClusterOptions {
  /** `A=true,B=false`. */
  readonly featureGates?: string;
}

/** Starts a cluster that writes everything below `dir`, or gives one that the spec files share. */
export type StartCluster = (options: TestClusterOptions & { readonly dir: string }) => Promise<TestCluster>;

export let startCluster: StartCluster = () =>
  Promise.reject(new Error('expected a setup file that calls startClustersWith'));

/** Sets how clusters are started, because libs do not know the tools (`tools/test/servers.ts`). */
export function startClustersWith(start: StartCluster): void {
  startCluster = start;
}
