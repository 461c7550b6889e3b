/**
 * Puts the scheduler's time and random numbers in the place of Node.js' own: timers, `Date`, `performance`, `Math.random` and
 * `node:crypto`. Import and call it before any module that is to be simulated.
 */
import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import perfHooks from 'node:perf_hooks';
import timers from 'node:timers';
import promises from 'node:timers/promises';
import vm from 'node:vm';
// First, so that it keeps the real ones for itself.
import './scheduler.ts';
import type { Events, Owner } from './scheduler.ts';

/** The scheduler of the run that goes on. */
let events: Events | undefined;

const RealDate = Date;

/** From now on time and randomness are those of this run. */
export function use(run: Events): void {
  events = run;
}

function running(): Events {
  if (events === undefined) throw new Error('expected a run before anything asks for the time');
  return events;
}

/** As the process that asks would read its wall clock. */
function wallClock(): number {
  const run = running();
  return Math.floor(run.now() + (run.current?.clockSkew ?? 0));
}

/** What `setTimeout` returns, as far as it is used. */
class SimulatedTimer {
  readonly #delay: number;
  readonly #repeats: boolean;
  readonly #task: () => void;
  readonly #owner: Owner | undefined;
  #cancel: () => void = () => undefined;

  constructor(delay: number, repeats: boolean, task: () => void) {
    this.#delay = delay;
    this.#repeats = repeats;
    this.#task = task;
    this.#owner = running().current;
    this.refresh();
  }

  refresh(): this {
    this.#cancel();
    this.#cancel = running().after(this.#delay, this.#owner, () => {
      if (this.#repeats) this.refresh();
      this.#task();
    });
    return this;
  }

  close(): this {
    this.#cancel();
    return this;
  }

  ref(): this {
    return this;
  }

  unref(): this {
    return this;
  }

  hasRef(): boolean {
    return true;
  }

  [Symbol.dispose](): void {
    this.close();
  }
}

type Task = (...args: unknown[]) => void;

/** As Node.js has it: whole milliseconds, at least one. */
function delayOf(milliseconds: unknown): number {
  const given = Math.trunc(Number(milliseconds));
  return given >= 1 && given <= 2_147_483_647 ? given : 1;
}

/** In the place of those of Node.js. */
export const simulatedTimers = {
  setTimeout: (task: Task, milliseconds?: number, ...args: unknown[]) =>
    new SimulatedTimer(delayOf(milliseconds), false, () => task(...args)),
  setInterval: (task: Task, milliseconds?: number, ...args: unknown[]) =>
    new SimulatedTimer(delayOf(milliseconds), true, () => task(...args)),
  setImmediate: (task: Task, ...args: unknown[]) => new SimulatedTimer(0, false, () => task(...args)),
  clearTimeout: (timer?: SimulatedTimer) => void timer?.close(),
  clearInterval: (timer?: SimulatedTimer) => void timer?.close(),
  clearImmediate: (timer?: SimulatedTimer) => void timer?.close(),
};

interface Wait {
  readonly signal?: AbortSignal;
}

function wait<T>(milliseconds: number, value?: T, { signal }: Wait = {}): Promise<T | undefined> {
  return new Promise((resolve, reject) => {
    const abort = (): void => {
      timer.close();
      reject(
        Object.assign(new Error('The operation was aborted'), { name: 'AbortError', code: 'ABORT_ERR' }),
      );
    };
    const timer = new SimulatedTimer(milliseconds, false, () => {
      signal?.removeEventListener('abort', abort);
      resolve(value);
    });
    if (signal?.aborted) abort();
    else signal?.addEventListener('abort', abort, { once: true });
  });
}

class SimulatedDate extends RealDate {
  constructor(...args: [] | [number | string]) {
    if (args.length === 0) super(wallClock());
    else super(...args);
  }

  static override now(): number {
    return wallClock();
  }
}

function bytes(size: number): Buffer {
  const run = running();
  return Buffer.from(Array.from({ length: size }, () => Math.floor(run.draw() * 256)));
}

function uuid(): string {
  const hex = bytes(16).toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20)}`;
}

/** Would tell of garbage collections, which come when they come. */
class NoObserver {
  observe(): void {
    // There is nothing to see.
  }

  disconnect(): void {
    // It was never connected.
  }
}

/** For the whole process, for good. */
export function replaceGlobals(): void {
  Object.assign(globalThis, simulatedTimers, { Date: SimulatedDate });
  Object.assign(timers, simulatedTimers);
  Object.assign(promises, {
    setTimeout: (milliseconds?: number, value?: unknown, options?: Wait) =>
      wait(delayOf(milliseconds), value, options),
    setImmediate: (value?: unknown, options?: Wait) => wait(0, value, options),
  });
  Object.assign(Math, { random: () => running().draw() });
  // A frozen clock of the machine is none of the process: only the wall clock can be set.
  Object.assign(performance, { now: () => running().now() });
  Object.assign(crypto, {
    randomBytes: (size: number) => bytes(size),
    randomUUID: uuid,
  });
  Object.assign(globalThis.crypto, { randomUUID: uuid });
  AbortSignal.timeout = (milliseconds) => {
    const controller = new AbortController();
    simulatedTimers.setTimeout(
      () => controller.abort(new DOMException('The operation was aborted due to timeout', 'TimeoutError')),
      milliseconds,
    );
    return controller.signal;
  };
  Object.assign(perfHooks, { PerformanceObserver: NoObserver });
  // A process gives memory back after its start, which would take most of the time of a run.
  const { runInNewContext } = vm;
  vm.runInNewContext = (code, ...rest) => (code === 'gc' ? () => undefined : runInNewContext(code, ...rest));
  syncBuiltinESMExports();
}
