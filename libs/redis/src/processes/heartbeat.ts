import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { HEARTBEAT, type ProcessEntry, type Processes } from './processes.ts';

const FIRST_PAUSE = 500;
/** How long `stop` waits for Redis (ms). */
const FAREWELL = 500;

export interface HeartbeatContext {
  readonly processes: Pick<Processes, 'write' | 'remove'>;
  /** What the heartbeat reports of the process; called at every beat. */
  readonly entry: () => Omit<ProcessEntry, 'seenAt'>;
  /** Called at every beat, before the entry is written. */
  readonly also?: () => Promise<void>;
  /** Called when a beat was written. */
  readonly onBeat?: () => void;
  /** Called when a beat failed. The next one follows after a pause that grows up to the interval. */
  readonly onError: (error: unknown) => void;
  /** Milliseconds between beats. Default 10 s. */
  readonly interval?: number;
}

/** Reports every 10 s that this process is alive, until it ends. */
export class Heartbeat {
  readonly #context: HeartbeatContext;
  readonly #id: string;
  readonly #interval: number;
  #pause = FIRST_PAUSE;
  #timer: NodeJS.Timeout | null = null;
  #beating: Promise<void> | null = null;
  #ended = false;
  /** Nothing is reported any more: what still waits for Redis fails when its connection is closed. */
  #left = false;

  /** Sends the first beat at once. */
  constructor(context: HeartbeatContext) {
    this.#context = context;
    this.#interval = context.interval ?? HEARTBEAT;
    const { app, name } = context.entry();
    // A restarted container has the same name as the one before.
    this.#id = `${app}/${name}/${randomBytes(4).toString('hex')}`;
    this.#begin();
  }

  /** Removes the entry. If Redis is unreachable, the entry expires. */
  async stop(): Promise<void> {
    this.#ended = true;
    if (this.#timer) clearTimeout(this.#timer);
    const over = new AbortController();
    await Promise.race([
      this.#leave(),
      pause(FAREWELL, undefined, { signal: over.signal }).catch(() => undefined),
    ]);
    over.abort();
    this.#left = true;
  }

  async #leave(): Promise<void> {
    try {
      await this.#beating;
      await this.#context.processes.remove(this.#id);
    } catch (error) {
      this.#failed(error);
    }
  }

  #failed(error: unknown): void {
    if (!this.#left) this.#context.onError(error);
  }

  #begin(): void {
    this.#beating = this.#beatOnce();
  }

  async #beatOnce(): Promise<void> {
    const wait = await this.#beat();
    if (!this.#ended) this.#timer = setTimeout(() => this.#begin(), wait);
  }

  /** Returns the milliseconds until the next beat. */
  async #beat(): Promise<number> {
    const { processes, entry, also, onBeat } = this.#context;
    try {
      await also?.();
      await processes.write(this.#id, entry());
      onBeat?.();
      this.#pause = FIRST_PAUSE;
      return this.#interval;
    } catch (error) {
      this.#failed(error);
      const wait = Math.min(this.#pause, this.#interval);
      this.#pause = wait * 2;
      return wait;
    }
  }
}
