import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

/** A TCP proxy on 127.0.0.1 whose connections can be cut, refused or stalled. */
export class TcpProxy {
  readonly #server: Server;
  readonly #pairs = new Set<readonly [client: Socket, upstream: Socket]>();
  #refusing = false;
  /** Connections accepted so far. */
  accepted = 0;

  private constructor(target: { host: string; port: number }) {
    this.#server = createServer((client) => this.#accept(client, connect(target.port, target.host)));
  }

  static async start(target: { host: string; port: number }): Promise<TcpProxy> {
    const proxy = new TcpProxy(target);
    proxy.#server.listen(0, '127.0.0.1');
    await once(proxy.#server, 'listening');
    return proxy;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get open(): number {
    return this.#pairs.size;
  }

  /** Resets every connection. */
  cut(): void {
    for (const [client, upstream] of this.#pairs) {
      client.resetAndDestroy();
      upstream.destroy();
    }
  }

  /** Keeps open connections open but silent; serves new ones. */
  stall(): void {
    for (const [client, upstream] of this.#pairs) {
      client.unpipe(upstream);
      upstream.unpipe(client);
      client.pause();
      upstream.pause();
    }
  }

  /** Resets new connections until `accept`. */
  refuse(): void {
    this.#refusing = true;
    this.cut();
  }

  accept(): void {
    this.#refusing = false;
  }

  async stop(): Promise<void> {
    this.#server.close();
    this.cut();
    await once(this.#server, 'close');
  }

  #accept(client: Socket, upstream: Socket): void {
    this.accepted += 1;
    const pair = [client, upstream] as const;
    this.#pairs.add(pair);
    const end = (): void => {
      client.destroy();
      upstream.destroy();
      this.#pairs.delete(pair);
    };
    for (const socket of pair) socket.on('error', end).on('close', end);
    if (this.#refusing) client.resetAndDestroy();
    else client.pipe(upstream).pipe(client);
  }
}
