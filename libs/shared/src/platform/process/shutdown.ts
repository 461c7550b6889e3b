/**
 * Controls the shutdown of a process. Whatever is started registers how it stops. On SIGTERM, SIGINT, a fatal error or a
 * call of `stop`, everything is stopped once, the last started first. Each step has a deadline, and all steps share one.
 * After that the event loop should run dry; if it does not, the process exits.
 *
 * Phases, in this order only: running → stopping → stopped.
 */
import { errorFields } from '../logging/error-fields.ts';
import type { Logger } from '../logging/logging.ts';

/** Stops something. The signal fires when the deadline has passed and nothing waits for the step any longer. */
export type StopStep = (signal: AbortSignal) => Promise<unknown> | void;

/** The part of `process` that is used; specs pass their own. */
export interface ProcessPort {
  on(event: string, listener: (argument: unknown) => void): unknown;
  exitCode?: number | string | null | undefined;
  exit(code: number): unknown;
}

export interface LifecycleSettings {
  readonly log: Logger;
  /** Milliseconds that all steps may take together. */
  readonly timeout: number;
  readonly process?: ProcessPort;
}

interface Step {
  readonly name: string;
  readonly deadline: number;
  readonly step: StopStep;
}

/** Milliseconds that the event loop may take to run dry after the last step. */
const DRAIN_MS = 1_000;

const SIGNALS = { SIGTERM: 15, SIGINT: 2 } as const;
type Signal = keyof typeof SIGNALS;

/** Installs its handlers on the process. A process has only one. */
export class Lifecycle {
  /** Resolves with the exit code when every step has run. */
  readonly stopped: Promise<number>;
  readonly #settings: LifecycleSettings;
  readonly #process: ProcessPort;
  readonly #controller = new AbortController();
  /** In order of registration, taken from the end. Empty when stopped. */
  readonly #steps: Step[] = [];
  /** 'running' before `stop`, 'stopped' when the last step has run. */
  #phase: 'running' | 'stopping' | 'stopped' = 'running';
  /** The deadline of the shutdown, by `performance.now()`. Meaningless while running. */
  #deadline = Number.POSITIVE_INFINITY;
  /** Only ever raised: a failure during an orderly shutdown is a failure. */
  #exitCode = 0;
  #resolve: (code: number) => void = () => undefined;

  constructor(settings: LifecycleSettings) {
    this.#settings = settings;
    this.#process = settings.process ?? process;
    this.stopped = new Promise((resolve) => {
      this.#resolve = resolve;
    });
    for (const signal of Object.keys(SIGNALS) as Signal[]) {
      this.#process.on(signal, () => this.#onSignal(signal));
    }
    this.#process.on('unhandledRejection', (error: unknown) => void this.fail('Unhandled rejection', error));
    this.#process.on('uncaughtException', (error: unknown) => void this.fail('Uncaught exception', error));
  }

  /** Fires when shutdown begins. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /**
   * Registers a step, which runs before those registered earlier. `deadline` is in milliseconds. A step registered during
   * shutdown runs at once, so that a start that shutdown overtakes leaves nothing behind.
   */
  onStop(name: string, deadline: number, step: StopStep): void {
    if (this.#phase === 'stopped') void this.#run({ name, deadline, step });
    else this.#steps.push({ name, deadline, step });
  }

  /** Begins the shutdown if it has not begun. The reason is logged; the code is the exit code. */
  stop(reason: string, exitCode = 0): Promise<number> {
    if (this.#phase === 'running') {
      this.#settings.log[exitCode === 0 ? 'info' : 'error']('Stopping', { reason });
    }
    return this.#begin(exitCode);
  }

  #begin(exitCode: number): Promise<number> {
    this.#exitCode = Math.max(this.#exitCode, exitCode);
    if (this.#phase === 'running') {
      this.#phase = 'stopping';
      this.#deadline = performance.now() + this.#settings.timeout;
      this.#controller.abort();
      void this.#runSteps();
    } else if (this.#phase === 'stopped') {
      this.#process.exitCode = this.#exitCode;
    }
    return this.stopped;
  }

  /** Logs the error's class and code, and begins the shutdown with exit code 1. */
  fail(message: string, error: unknown): Promise<number> {
    this.#settings.log.fatal(message, { ...errorFields(error) });
    return this.#begin(1);
  }

  #onSignal(signal: Signal): void {
    if (this.#phase === 'running') void this.stop(signal);
    else this.#exitNow(128 + SIGNALS[signal], 'Received a second signal, exiting without stopping the rest');
  }

  async #runSteps(): Promise<void> {
    for (let next = this.#steps.pop(); next !== undefined; next = this.#steps.pop()) {
      await this.#run(next);
    }
    this.#phase = 'stopped';
    this.#process.exitCode = this.#exitCode;
    this.#settings.log.info('Stopped', { exitCode: this.#exitCode });
    setTimeout(
      () => this.#exitNow(this.#exitCode, 'Something keeps the process alive, exiting'),
      DRAIN_MS,
    ).unref();
    this.#resolve(this.#exitCode);
  }

  /** Never rejects: a step that fails or hangs is logged, and the other steps still run. */
  async #run({ name, deadline, step }: Step): Promise<void> {
    const { log } = this.#settings;
    const wait = Math.max(0, Math.min(deadline, this.#deadline - performance.now()));
    const controller = new AbortController();
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<'late'>((resolve) => {
      timer = setTimeout(() => resolve('late'), wait);
    });
    try {
      const outcome = await Promise.race([Promise.resolve(step(controller.signal)), late]);
      if (outcome !== 'late') return;
      controller.abort();
      this.#exitCode = Math.max(this.#exitCode, 1);
      log.warning('A step of the shutdown missed its deadline', {
        step: name,
        deadline: `${Math.round(wait)}ms`,
      });
    } catch (error) {
      this.#exitCode = Math.max(this.#exitCode, 1);
      log.failure('A step of the shutdown failed', error, { step: name });
    } finally {
      clearTimeout(timer);
    }
  }

  #exitNow(code: number, why: string): void {
    this.#settings.log.warning(why, { exitCode: code });
    // The only call of exit in the project, as a last resort: for a handle that is never closed, or an impatient
    // operator.
    this.#process.exit(code);
  }
}
