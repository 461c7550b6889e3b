import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';
import { ClusterError } from '../errors.ts';

/**
 * Ports are drawn from below the range that systems give to outgoing connections (32768 and up), so
 * that no connection takes the port of a server while it is down between a kill and a restart.
 */
const FIRST = 20_000;
const LAST = 29_999;
const ATTEMPTS = 200;

/** Given out by this process already: two clusters started side by side must not share a port, nor two suites. */
const given = new Set<number>();

/**
 * A TCP port on 127.0.0.1 that nothing listens on now, and that neither this process nor, on Linux, another one that still runs has
 * been given before.
 * @throws ClusterError when 200 random ports in a row are taken.
 */
export async function freePort(): Promise<number> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const port = randomInt(FIRST, LAST + 1);
    if (given.has(port) || !(await reserve(port))) continue;
    given.add(port);
    if (await isFree(port)) return port;
  }
  throw new ClusterError(`expected a free port in ${FIRST}-${LAST}, found none in ${ATTEMPTS} attempts`);
}

/** By a name that only Linux has, and which the system takes back when this process ends, however that comes about. */
async function reserve(port: number): Promise<boolean> {
  return await new Promise((resolve) => {
    const server = createServer().unref();
    server.once('error', ({ code }: NodeJS.ErrnoException) => resolve(code !== 'EADDRINUSE'));
    server.listen(`\0reroll-port-${port}`, () => resolve(true));
  });
}

async function isFree(port: number): Promise<boolean> {
  return await new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}
