import { EventEmitter } from 'node:events';
import type { Owner, Scheduler } from '../scheduler.ts';

/** The other end of a socket. */
export interface Peer {
  onData(data: string | Uint8Array): void;
  /** The client has closed its end. */
  onEnd(): void;
}

/**
 * A client's end of a connection in memory, with what ioredis uses of a socket. All events come from the scheduler, for the owner:
 * once that is dead, nothing more is heard.
 */
export class SimulatedSocket extends EventEmitter {
  readonly remoteAddress = '127.0.0.1';
  readonly remotePort = 6379;
  writable = true;
  destroyed = false;
  connecting = true;
  readonly #scheduler: Scheduler;
  readonly #owner: Owner;
  #peer: Peer | undefined;
  #cancelTimeout: (() => void) | undefined;

  constructor(scheduler: Scheduler, owner: Owner) {
    super();
    this.#scheduler = scheduler;
    this.#owner = owner;
  }

  /** The connection is made. */
  open(peer: Peer): void {
    if (this.destroyed) return;
    this.#peer = peer;
    this.connecting = false;
    this.emit('connect');
    this.emit('secureConnect');
  }

  /** Data that arrives, in an event of the owner. */
  receive(data: Buffer): void {
    if (!this.destroyed) this.emit('data', data);
  }

  /** The connection is lost, in an event of the owner. */
  fail(error?: Error): void {
    if (this.destroyed) return;
    this.#shut();
    if (error) this.emit('error', error);
    this.emit('close', error !== undefined);
  }

  write(data: string | Uint8Array): boolean {
    if (this.writable) this.#peer?.onData(data);
    return true;
  }

  end(): this {
    return this.destroy();
  }

  destroy(error?: Error): this {
    if (this.destroyed) return this;
    this.#shut();
    this.#scheduler.after(0, this.#owner, () => {
      if (error) this.emit('error', error);
      this.emit('close', error !== undefined);
    });
    return this;
  }

  /** Only until the connection is made, for which ioredis uses it. */
  setTimeout(milliseconds: number, onTimeout?: () => void): this {
    this.#cancelTimeout?.();
    this.#cancelTimeout = undefined;
    if (milliseconds > 0 && onTimeout)
      this.#cancelTimeout = this.#scheduler.after(milliseconds, this.#owner, () => {
        if (this.connecting && !this.destroyed) onTimeout();
      });
    return this;
  }

  setNoDelay(): this {
    return this;
  }

  setKeepAlive(): this {
    return this;
  }

  resume(): this {
    return this;
  }

  #shut(): void {
    this.destroyed = true;
    this.writable = false;
    this.connecting = false;
    this.#cancelTimeout?.();
    this.#peer?.onEnd();
  }
}
