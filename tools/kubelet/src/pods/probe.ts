import { request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import type { Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { dial } from '../dial.ts';
import type { Container, Hook, HttpGet } from '../types.ts';

/** What probes and hooks need of a container that runs. */
export interface ProbeTarget {
  /** Of the kubelet. */
  readonly folder: string;
  readonly ip: string;
  readonly container: Container;
  /** Runs a command in the container; gives its exit code. */
  readonly exec: (command: readonly string[], timeoutMs: number) => Promise<number>;
}

/** Does what a probe or a hook says. Rejects with what is wrong. */
export async function perform(hook: Hook, target: ProbeTarget, timeoutMs: number): Promise<void> {
  if (hook.httpGet) return await httpGet(hook.httpGet, target, timeoutMs);
  if (hook.tcpSocket) {
    const socket = await dial(target.folder, address(hook.tcpSocket.port, target));
    socket.destroy();
    return;
  }
  if (hook.exec) {
    const code = await target.exec(hook.exec.command ?? [], timeoutMs);
    if (code !== 0) throw new Error(`${(hook.exec.command ?? []).join(' ')} ended with code ${code}`);
    return;
  }
  throw new Error(`expected httpGet, tcpSocket or exec, given ${Object.keys(hook).join(', ')}`);
}

function address(port: number | string, { ip, container }: ProbeTarget): { ip: string; port: number } {
  if (typeof port === 'number') return { ip, port };
  const named = container.ports?.find(({ name }) => name === port);
  if (!named) throw new Error(`expected a port named ${port} in container ${container.name}`);
  return { ip, port: named.containerPort };
}

async function httpGet(get: HttpGet, target: ProbeTarget, timeoutMs: number): Promise<void> {
  const at = address(get.port, target);
  const socket = await dial(target.folder, at);
  try {
    const status = await answered(get, { socket, at, timeoutMs });
    if (status < 200 || status >= 400) throw new Error(`${get.path ?? '/'} answered ${status}`);
  } finally {
    socket.destroy();
  }
}

function answered(
  get: HttpGet,
  { socket, at, timeoutMs }: { socket: Socket; at: { ip: string; port: number }; timeoutMs: number },
): Promise<number> {
  const secure = get.scheme === 'HTTPS';
  const headers = Object.fromEntries((get.httpHeaders ?? []).map(({ name, value }) => [name, value]));
  return new Promise((resolve, reject) => {
    const sent = (secure ? requestHttps : requestHttp)({
      path: get.path ?? '/',
      headers: {
        host: `${at.ip}:${at.port}`,
        'user-agent': 'kube-probe/1.36',
        connection: 'close',
        ...headers,
      },
      createConnection: () => (secure ? connectTls({ socket, rejectUnauthorized: false }) : socket),
      signal: AbortSignal.timeout(timeoutMs),
    });
    sent.on('response', (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    sent.on('error', reject);
    sent.end();
  });
}
