import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { cleanUp } from '../cleanup.ts';

/**
 * Serves another server below a path, as an ingress does or the API server's service proxy, which takes `Authorization`
 * away. Gives the URL, with a slash at its end.
 */
export async function behindPath(path: string, target: string): Promise<string> {
  const server = createServer((incoming, outgoing) => {
    const below = incoming.url?.startsWith(path) === true ? incoming.url.slice(path.length - 1) : undefined;
    if (below === undefined) {
      outgoing.writeHead(404).end();
      return;
    }
    const { authorization: _taken, ...headers } = incoming.headers;
    const onward = request(target + below, { method: incoming.method, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(outgoing);
    });
    onward.on('error', () => outgoing.destroy());
    outgoing.on('close', () => onward.destroy());
    incoming.pipe(onward);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  cleanUp(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`;
}
