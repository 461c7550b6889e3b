import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import { connect, type Socket } from 'node:net';
import { afterAll, describe, expect, it } from 'vitest';
import { forwardPort } from './port-forward.ts';
import { openPool } from './transport.ts';

/**
 * A fake, because the control plane of the specs has no kubelet: the end of a WebSocket as the API server passes it on
 * (https://kubernetes.io/docs/reference/using-api/api-concepts, subprotocol v4.channel.k8s.io).
 */
class FakePod {
  readonly requests: IncomingMessage[] = [];
  readonly #server = createServer();
  readonly #onData: (data: Buffer, reply: (channel: number, data: Buffer) => void) => void;
  #status = 101;

  constructor(onData: (data: Buffer, reply: (channel: number, data: Buffer) => void) => void) {
    this.#onData = onData;
    this.#server.on('upgrade', (request, socket: Socket) => this.#upgrade(request, socket));
    afterAll(() => void this.#server.close());
  }

  async listen(): Promise<string> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    const address = this.#server.address();
    if (address === null || typeof address === 'string') throw new Error('expected a port');
    return `http://127.0.0.1:${address.port}`;
  }

  refuse(status: number): void {
    this.#status = status;
  }

  #upgrade(request: IncomingMessage, socket: Socket): void {
    this.requests.push(request);
    socket.on('error', () => undefined);
    if (this.#status !== 101)
      return void socket.end(`HTTP/1.1 ${this.#status} No\r\nContent-Length: 0\r\n\r\n`);
    const key = `${request.headers['sec-websocket-key']}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`;
    const head = [
      'HTTP/1.1 101 Switching Protocols',
      'Upgrade: websocket',
      'Connection: Upgrade',
      `Sec-WebSocket-Accept: ${createHash('sha1').update(key).digest('base64')}`,
      'Sec-WebSocket-Protocol: v4.channel.k8s.io',
    ];
    socket.write(`${head.join('\r\n')}\r\n\r\n`);
    const port = Buffer.alloc(2);
    port.writeUInt16LE(8_080);
    for (const channel of [0, 1]) socket.write(frame(channel, port));
    let bytes = Buffer.alloc(0);
    socket.on('data', (chunk: Buffer) => {
      bytes = Buffer.concat([bytes, chunk]);
      for (let read = unframe(bytes); read; read = unframe(bytes)) {
        bytes = bytes.subarray(read.length);
        if (read.opcode === 2)
          this.#onData(read.data.subarray(1), (channel, data) => socket.write(frame(channel, data)));
        else if (read.opcode === 8) socket.end();
      }
    });
  }
}

function frame(channel: number, data: Buffer): Buffer {
  const payload = Buffer.concat([Buffer.from([channel]), data]);
  const head = Buffer.alloc(payload.length < 126 ? 2 : 4);
  head[0] = 0x82;
  head[1] = Math.min(payload.length, 126);
  if (payload.length >= 126) head.writeUInt16BE(payload.length, 2);
  return Buffer.concat([head, payload]);
}

interface Read {
  readonly opcode: number;
  readonly data: Buffer;
  readonly length: number;
}

/** A masked frame of a client, if all of it is there. */
function unframe(bytes: Buffer): Read | undefined {
  if (bytes.length < 8) return undefined;
  const short = (bytes[1] ?? 0) & 0x7f;
  const at = short === 126 ? 4 : 2;
  const size = short === 126 ? bytes.readUInt16BE(2) : short;
  if (bytes.length < at + 4 + size) return undefined;
  const mask = bytes.subarray(at, at + 4);
  const data = Buffer.from(bytes.subarray(at + 4, at + 4 + size)).map(
    (byte, index) => byte ^ (mask[index % 4] ?? 0),
  );
  return { opcode: (bytes[0] ?? 0) & 0x0f, data: Buffer.from(data), length: at + 4 + size };
}

async function forwarded(
  pod: FakePod,
): Promise<{ readonly socket: Socket; readonly received: () => Buffer }> {
  const server = await pod.listen();
  const dispatcher = openPool({ origin: server, tls: {} }, 0);
  const forward = await forwardPort({
    dispatcher,
    server: `${server}/base`,
    headers: () => Promise.resolve({ authorization: 'Bearer mine' }),
    namespace: 'reroll',
    pod: 'reroll-admin-1',
    port: 8_080,
  });
  const socket = connect(forward.localPort, '127.0.0.1');
  socket.on('error', () => undefined);
  const chunks: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => chunks.push(chunk));
  afterAll(async () => {
    socket.destroy();
    await forward.close();
    await dispatcher.destroy();
  });
  return { socket, received: () => Buffer.concat(chunks) };
}

describe('a port-forward', () => {
  it('asks for the pod’s port with the caller’s credentials, and carries bytes both ways, less what names the port', async () => {
    const pod = new FakePod((data, reply) => reply(0, Buffer.from(data.toString().toUpperCase())));
    const { socket, received } = await forwarded(pod);
    const text = `${'hello '.repeat(200)}end`;
    socket.write(text);
    await expect.poll(() => received().toString()).toBe(text.toUpperCase());
    const [request] = pod.requests;
    expect(request?.url).toBe('/base/api/v1/namespaces/reroll/pods/reroll-admin-1/portforward?ports=8080');
    expect(request?.headers).toMatchObject({
      authorization: 'Bearer mine',
      'sec-websocket-protocol': 'v4.channel.k8s.io',
    });
  });

  it('closes the connection when nobody listens in the pod', async () => {
    const pod = new FakePod((_data, reply) => reply(1, Buffer.from('connection refused')));
    const { socket, received } = await forwarded(pod);
    const closed = once(socket, 'close');
    socket.write('hello');
    await closed;
    expect(received()).toHaveLength(0);
  });

  it('closes the connection when the API server refuses', async () => {
    const pod = new FakePod(() => undefined);
    pod.refuse(403);
    const { socket } = await forwarded(pod);
    await once(socket, 'close');
    expect(pod.requests).toHaveLength(1);
  });
});
