import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import type { Response } from 'express';

/** Milliseconds that a reader may take to empty its connection's buffer, by default. */
const MOST_BEHIND = 30_000;
/** Milliseconds after which a disconnected client reconnects. */
const COME_BACK = 2_000;

/** The reader was too slow and is disconnected. */
export class SlowReaderError extends Error {
  override readonly name = 'SlowReaderError';
}

/** Writes server-sent events. Waits for a slow reader and keeps nothing for it beyond the connection's buffer. */
export class EventWriter {
  readonly #response: Response;
  readonly #gone: AbortSignal;
  readonly #mostBehind: number;

  constructor(response: Response, gone: AbortSignal, { mostBehind = MOST_BEHIND } = {}) {
    this.#response = response;
    this.#gone = gone;
    this.#mostBehind = mostBehind;
  }

  async begin(id: string): Promise<void> {
    this.#response.status(200).set({
      'Content-Type': 'text/event-stream; charset=utf-8',
      // Nothing else uses the connection, and shutdown need not wait for it.
      Connection: 'close',
      // For nginx, which would buffer the stream.
      'X-Accel-Buffering': 'no',
    });
    await this.#write(`retry: ${COME_BACK}\nid: ${id}\n\n`);
  }

  async send(id: string, name: string, data: unknown): Promise<void> {
    await this.#write(`id: ${id}\nevent: ${name}\ndata: ${JSON.stringify(data)}\n\n`);
  }

  /** Keeps the connection open and advances the id, so that a client that reconnects finds its position still kept. */
  async beat(id: string): Promise<void> {
    await this.#write(`: heartbeat\nid: ${id}\n\n`);
  }

  end(): void {
    this.#response.end();
  }

  /** Disconnects a reader that no longer reads. */
  cut(): void {
    this.#response.destroy();
  }

  async #write(text: string): Promise<void> {
    if (this.#gone.aborted || this.#response.write(text)) return;
    const settled = new AbortController();
    const signal = AbortSignal.any([settled.signal, this.#gone]);
    const isLate = await Promise.race([
      once(this.#response, 'drain', { signal }).then(() => false),
      pause(this.#mostBehind, true, { signal }),
    ]).catch(() => false);
    settled.abort();
    if (isLate) throw new SlowReaderError(`a reader was behind for ${this.#mostBehind} ms`);
  }
}
