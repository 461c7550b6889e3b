import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { Transform, type TransformCallback } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';

/** What holds up the bytes of all connections of a proxy. */
interface Pace {
  delayMs: number;
  /** Resolves at the thaw; undefined unless frozen. */
  thawed: Promise<void> | undefined;
}

/** One direction of a connection. Its bytes keep their order, whatever becomes of the pace. */
class Direction extends Transform {
  readonly #pace: Pace;
  #heldUp = 0;
  #passed: Promise<void> = Promise.resolve();

  constructor(pace: Pace) {
    super();
    this.#pace = pace;
  }

  override _transform(bytes: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    const { delayMs, thawed } = this.#pace;
    if (this.#heldUp === 0 && delayMs === 0 && thawed === undefined) {
      done(null, bytes);
      return;
    }
    this.#heldUp += 1;
    this.#passed = this.#pass(bytes, performance.now() + delayMs);
    // Late is not slow: what comes next is late by as much, not by twice as much.
    done();
  }

  override _flush(done: TransformCallback): void {
    void this.#end(done);
  }

  async #end(done: TransformCallback): Promise<void> {
    await this.#passed;
    done();
  }

  async #pass(bytes: Buffer, dueAt: number): Promise<void> {
    await this.#passed;
    await this.#pace.thawed;
    await pause(Math.max(0, dueAt - performance.now()));
    this.#heldUp -= 1;
    this.push(bytes);
  }
}

/** A TCP proxy on 127.0.0.1 whose connections can be cut, refused, stalled, frozen or late. */
export class TcpProxy {
  readonly #server: Server;
  readonly #pairs = new Set<readonly [client: Socket, upstream: Socket]>();
  readonly #pace: Pace = { delayMs: 0, thawed: undefined };
  #refusing = false;
  #thaw: () => void = () => undefined;
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

  /** By how much all bytes are late, each way. */
  set delayMs(delayMs: number) {
    this.#pace.delayMs = delayMs;
  }

  /** Passes nothing on, neither on open connections nor on new ones, until `thaw`. Nothing is lost. */
  freeze(): void {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#pace.thawed = promise;
    this.#thaw = resolve;
  }

  thaw(): void {
    this.#pace.thawed = undefined;
    this.#thaw();
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
      client.unpipe();
      upstream.unpipe();
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
    this.thaw();
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
    else client.pipe(new Direction(this.#pace)).pipe(upstream).pipe(new Direction(this.#pace)).pipe(client);
  }
}
