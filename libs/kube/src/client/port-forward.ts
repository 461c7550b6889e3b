import { createServer, type Server, type Socket } from 'node:net';
import { WebSocket, type Dispatcher } from 'undici';
import type { RequestHeaders } from './kubeconfig-files.ts';

/** Kubernetes' protocol: binary messages whose first byte is the channel. */
const PROTOCOL = 'v4.channel.k8s.io';
const DATA = 0;
const ERROR = 1;
/** The first message of each channel holds the port again, in two bytes. */
const PORT_BYTES = 2;
/** The most bytes sent to the server and not yet accepted; further data waits. */
const MOST_BUFFERED = 1024 * 1024;
const DRAIN_MS = 10;

export interface PortForwardOptions {
  readonly dispatcher: Dispatcher;
  /** `https://host:port/base` of the API server. */
  readonly server: string;
  /** Returns the credentials; called before each connection. */
  readonly headers: () => Promise<RequestHeaders>;
  readonly namespace: string;
  readonly pod: string;
  readonly port: number;
}

export interface PortForward {
  /** On 127.0.0.1. */
  readonly localPort: number;
  close(): Promise<void>;
}

/** Listens on a free port of 127.0.0.1 and forwards each connection to a pod's port, through the API server. */
export async function forwardPort(options: PortForwardOptions): Promise<PortForward> {
  const open = new Set<Socket>();
  const server = createServer((socket) => {
    open.add(socket);
    socket.on('close', () => open.delete(socket));
    socket.on('error', () => socket.destroy());
    carry(socket, options).catch(() => socket.destroy());
  });
  const localPort = await listen(server);
  return {
    localPort,
    async close() {
      for (const socket of open) socket.destroy();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('expected a TCP port');
  return address.port;
}

async function carry(socket: Socket, options: PortForwardOptions): Promise<void> {
  socket.pause();
  const { namespace, pod, port, dispatcher } = options;
  const path = `/api/v1/namespaces/${encodeURIComponent(namespace)}/pods/${encodeURIComponent(pod)}/portforward`;
  const url = `${options.server.replace(/^http/, 'ws')}${path}?ports=${port}`;
  // undici's WebSocket sends several texts of a header as one. So of several groups to impersonate, the API server sees one that nobody has.
  const headers = Object.entries(await options.headers()).map(([name, value]): [string, string] => [
    name,
    String(value),
  ]);
  const channel = new WebSocket(url, { protocols: [PROTOCOL], headers, dispatcher });
  channel.binaryType = 'arraybuffer';
  const seen = new Set<number>();
  channel.addEventListener('open', () => socket.resume());
  channel.addEventListener('message', (event) => {
    const message = Buffer.from(event.data as ArrayBuffer);
    const number = message[0] ?? ERROR;
    const isFirst = !seen.has(number);
    seen.add(number);
    const content = message.subarray(isFirst ? 1 + PORT_BYTES : 1);
    if (content.length === 0) return;
    // A message on the error channel means that the connection is useless.
    if (number === DATA) socket.write(content);
    else socket.destroy();
  });
  channel.addEventListener('close', () => socket.end());
  channel.addEventListener('error', () => socket.destroy());
  socket.on('data', (data: Buffer) => {
    channel.send(Buffer.concat([Buffer.from([DATA]), data]));
    if (channel.bufferedAmount > MOST_BUFFERED) holdBack(socket, channel);
  });
  socket.on('close', () => channel.close());
}

function holdBack(socket: Socket, channel: WebSocket): void {
  socket.pause();
  const timer = setInterval(() => {
    if (channel.bufferedAmount > MOST_BUFFERED && !socket.destroyed) return;
    clearInterval(timer);
    socket.resume();
  }, DRAIN_MS);
}
