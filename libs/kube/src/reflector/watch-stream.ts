import type { Clock } from '../client/clock.ts';
import type { KubeClient, Query } from '../client/connection.ts';
import { apiError, badResponse, networkError, type KubeError } from '../client/errors.ts';
import { JsonLineError, JsonLines } from '../client/json-lines.ts';
import type { KubeObject } from '../objects.ts';

export type ChangeType = 'ADDED' | 'MODIFIED' | 'DELETED';

/** One line of a watch. ERROR lines are thrown instead. */
export interface WatchEvent {
  readonly type: ChangeType | 'BOOKMARK';
  readonly object: KubeObject;
}

export interface WatchOptions {
  readonly client: Pick<KubeClient, 'stream'>;
  readonly path: string;
  readonly query: Query;
  /** A connection that is silent for this long counts as dead. */
  readonly silenceMs: number;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** The server has accepted the watch. */
  readonly onOpen?: (() => void) | undefined;
}

/** How a watch ended without a failure: the server closed it, or it fell silent. */
export type WatchEnd = 'ended' | 'silent';

const TYPES: ReadonlySet<unknown> = new Set(['ADDED', 'MODIFIED', 'DELETED', 'BOOKMARK']);

/** The server answered a watch with something else, usually a list, because it does not know the parameters. */
export const NOT_A_WATCH = 'NotAWatch';

function eventOf(line: unknown, label: string): WatchEvent {
  const { type, object } = (line ?? {}) as { type?: unknown; object?: unknown };
  if (type === 'ERROR') throw apiError({ request: label, status: 0, body: object });
  if (!TYPES.has(type) || typeof object !== 'object') throw badResponse(label, NOT_A_WATCH);
  return line as WatchEvent;
}

/**
 * Opens a watch and hands over its events in order, each after the previous promise of `onEvent` (if any) has settled. So a slow
 * reader slows down the connection, and memory does not grow. Rejects with a `KubeError`, also for an ERROR event; exceptions of
 * `onEvent` pass through.
 */
export async function readWatch(
  options: WatchOptions,
  onEvent: (event: WatchEvent) => void | Promise<void>,
): Promise<WatchEnd> {
  const label = `WATCH ${options.path}`;
  const silence = new SilenceGuard(options);
  try {
    const stream = await options.client.stream(options.path, {
      query: options.query,
      signal: silence.signal,
    });
    options.onOpen?.();
    const lines = new JsonLines();
    silence.arm();
    for await (const chunk of failingAs(stream, label)) {
      silence.disarm();
      await handOver(eventsOf(lines.push(chunk), label), onEvent);
      silence.arm();
    }
    return 'ended';
  } catch (error) {
    if (silence.broken) return 'silent';
    throw error;
  } finally {
    silence.end();
  }
}

/** Wraps the stream's own failures in `KubeError`s, so that they are not taken for the reader's. */
async function* failingAs(stream: AsyncIterable<Buffer>, label: string): AsyncGenerator<Buffer> {
  try {
    yield* stream;
  } catch (error) {
    throw networkError(label, error);
  }
}

/** Stays synchronous as long as the reader does. */
async function handOver(
  events: Iterable<WatchEvent>,
  onEvent: (event: WatchEvent) => void | Promise<void>,
): Promise<void> {
  for (const event of events) {
    const pending = onEvent(event);
    if (pending !== undefined) await pending;
  }
}

function* eventsOf(lines: Iterable<unknown>, label: string): Generator<WatchEvent> {
  const iterator = lines[Symbol.iterator]();
  for (;;) {
    const line = nextLine(iterator, label);
    if (line.done) return;
    yield eventOf(line.value, label);
  }
}

function nextLine(lines: Iterator<unknown>, label: string): IteratorResult<unknown> {
  try {
    return lines.next();
  } catch (error) {
    throw asBadResponse(error, label);
  }
}

function asBadResponse(error: unknown, label: string): KubeError {
  return error instanceof JsonLineError ? badResponse(label, error.reason) : networkError(label, error);
}

/** Cuts the connection if nothing arrives for too long while we wait. Time that the reader takes does not count. */
class SilenceGuard {
  readonly #options: WatchOptions;
  readonly #cut = new AbortController();
  readonly #forward = (): void => this.#cut.abort();
  #disarm: (() => void) | undefined;
  /** Whether silence ended the stream. */
  broken = false;

  constructor(options: WatchOptions) {
    this.#options = options;
    options.signal.addEventListener('abort', this.#forward, { once: true });
    if (options.signal.aborted) this.#forward();
  }

  get signal(): AbortSignal {
    return this.#cut.signal;
  }

  arm(): void {
    this.#disarm = this.#options.clock.after(this.#options.silenceMs, () => {
      this.broken = true;
      this.#cut.abort();
    });
  }

  disarm(): void {
    this.#disarm?.();
  }

  /** Also releases a stream that was not read to its end. */
  end(): void {
    this.disarm();
    this.#options.signal.removeEventListener('abort', this.#forward);
    this.#cut.abort();
  }
}
