import { once } from 'node:events';
import { createServer, connect, type AddressInfo, type Socket } from 'node:net';

/** A TCP proxy that holds back everything that the server sends by the same time, in order: a server that is further away. */
export class DelayProxy {
  readonly #server = createServer((client) => this.#forward(client));
  readonly #sockets = new Set<Socket>();
  readonly #to: number;
  readonly #delayMs: number;

  private constructor(to: number, delayMs: number) {
    this.#to = to;
    this.#delayMs = delayMs;
  }

  /** In front of a loopback port. */
  static async start(to: number, delayMs: number): Promise<DelayProxy> {
    const proxy = new DelayProxy(to, delayMs);
    proxy.#server.listen(0, '127.0.0.1');
    await once(proxy.#server, 'listening');
    return proxy;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  async stop(): Promise<void> {
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
    await once(this.#server, 'close');
  }

  #forward(client: Socket): void {
    const upstream = connect({ host: '127.0.0.1', port: this.#to, noDelay: true });
    client.setNoDelay(true);
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      this.#sockets.add(socket);
      socket.on('error', () => other.destroy());
      socket.on('close', () => {
        this.#sockets.delete(socket);
        other.destroy();
      });
    }
    client.pipe(upstream);
    upstream.on('data', (data) => setTimeout(() => client.writable && client.write(data), this.#delayMs));
  }
}
