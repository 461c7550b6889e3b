import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export const CLUSTER_UID = '00000000-0000-4000-8000-000000000000';

/**
 * All that an admin with static tokens asks of an API server: which cluster this is. A real one would only take part of the
 * machine. Resolves with what ends it; its kubeconfig is written to the file.
 */
export async function startClusterStub(kubeconfig: string): Promise<() => Promise<void>> {
  const server = createServer((_request, response) => {
    response.setHeader('Content-Type', 'application/json');
    response.end(
      JSON.stringify({
        apiVersion: 'v1',
        kind: 'Namespace',
        metadata: { name: 'kube-system', uid: CLUSTER_UID },
      }),
    );
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  writeFileSync(
    kubeconfig,
    JSON.stringify({
      apiVersion: 'v1',
      kind: 'Config',
      'current-context': 'bench',
      contexts: [{ name: 'bench', context: { cluster: 'bench', user: 'bench' } }],
      clusters: [
        { name: 'bench', cluster: { server: `http://127.0.0.1:${port}`, 'insecure-skip-tls-verify': true } },
      ],
      users: [{ name: 'bench', user: { token: 'none' } }],
    }),
  );
  return async () => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  };
}
