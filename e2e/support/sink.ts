import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { cleanUp } from './cleanup.ts';

export interface Received {
  readonly method: string;
  readonly path: string;
  readonly type: string;
  readonly body: string;
  /** What it was, or is to be, answered with. */
  readonly status: number;
}

/** A real HTTP receiver on loopback, whose answers a test decides. It ends with the test, or with the file. */
export class Sink {
  /** In the order in which they came, those that are not answered yet included. */
  readonly received: Received[] = [];
  /** What the next requests are answered with. */
  status = 200;
  readonly #server: Server;
  readonly #held: (() => void)[] = [];
  #holding = false;
  #port = 0;

  constructor() {
    this.#server = createServer((request, response) => void this.#take(request, response));
    cleanUp(() => this.down());
  }

  static async open(): Promise<Sink> {
    const sink = new Sink();
    await sink.up();
    return sink;
  }

  url(path: string): string {
    return `http://127.0.0.1:${this.#port}${path}`;
  }

  /** Listens, at the same port as before. */
  async up(): Promise<void> {
    await new Promise<void>((resolve) => this.#server.listen(this.#port, '127.0.0.1', resolve));
    this.#port = (this.#server.address() as AddressInfo).port;
  }

  /** Refuses connections. */
  async down(): Promise<void> {
    this.release();
    if (!this.#server.listening) return;
    const closed = new Promise((resolve) => this.#server.close(resolve));
    this.#server.closeAllConnections();
    await closed;
  }

  /** Answers nothing until `release`. */
  hold(): void {
    this.#holding = true;
  }

  release(): void {
    this.#holding = false;
    for (const answer of this.#held.splice(0)) answer();
  }

  async #take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { status } = this;
    this.received.push({
      method: request.method ?? '',
      path: request.url ?? '',
      type: request.headers['content-type'] ?? '',
      body: Buffer.concat(chunks).toString(),
      status,
    });
    const answer = (): void => void response.writeHead(status).end('what the receiver says');
    if (this.#holding) this.#held.push(answer);
    else answer();
  }
}
