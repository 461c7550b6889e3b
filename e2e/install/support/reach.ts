import { forwardPort } from '@reroll/kube/client/port-forward';
import { openPool } from '@reroll/kube/client/transport';
import { type Component, installCluster, type Release } from './release.ts';

/** A port of this host that leads to a pod of the component, through API server and kubelet, until `use` is done. */
export async function reach<T>(
  release: Release,
  at: { component: Component; port: number; index?: number },
  use: (port: number) => Promise<T>,
): Promise<T> {
  const pods = await release.readyPods(at.component);
  const pod = pods[at.index ?? 0]?.metadata.name;
  if (pod === undefined) throw new Error(`expected a pod of ${at.component} that is ready`);
  const { server, ca, token } = installCluster().access;
  const dispatcher = openPool({ origin: server, tls: { ca } }, 0);
  const headers = async () => ({ authorization: `Bearer ${token}` });
  const { port } = at;
  const forward = await forwardPort({
    dispatcher,
    server,
    headers,
    namespace: release.space.name,
    pod,
    port,
  });
  try {
    return await use(forward.localPort);
  } finally {
    await forward.close();
    await dispatcher.destroy();
  }
}
