import { appendFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { ContainerProcess, type ProcessOptions } from './container-process.ts';
import { NotYet, messageOf } from '../errors.ts';
import { type ProbeTarget, perform } from './probe.ts';
import { Prober } from './prober.ts';
import type { Container, ContainerState, ContainerStatus, Probe, Terminated } from '../types.ts';

export interface RunnerOptions {
  readonly container: Container;
  /** Of the kubelet. */
  readonly folder: string;
  readonly ip: () => string;
  readonly restart: 'Always' | 'OnFailure' | 'Never';
  readonly graceMs: number;
  /** First pause before a restart, in milliseconds; it doubles up to five minutes. */
  readonly backoffMs: number;
  /** Looks up what the container needs. @throws NotYet while something is missing. */
  readonly prepare: (container: Container) => Promise<ProcessOptions>;
  readonly onChange: () => void;
}

const RETRY_MS = 1_000;
const MAX_BACKOFF_MS = 300_000;
/** A container that ran so long starts with the first back-off again. */
const HEALTHY_MS = 600_000;
const HOOK_MS = 30_000;

/** One container of a pod: starts it, probes it, starts it again when its pod's policy says so. */
export class ContainerRunner {
  readonly container: Container;
  /** Resolves when it has ended for good. */
  readonly done: Promise<void>;
  readonly #options: RunnerOptions;
  readonly #stopping = new AbortController();
  #process: ContainerProcess | undefined;
  #probers: Prober[] = [];
  #state: ContainerState = { waiting: { reason: 'ContainerCreating' } };
  #lastState: ContainerState = {};
  #restarts = 0;
  #runs = 0;
  #started = false;
  #ready = false;
  #killing: Promise<void> | undefined;
  #begin: () => void = () => undefined;

  constructor(options: RunnerOptions) {
    this.#options = options;
    this.container = options.container;
    const begun = new Promise<void>((resolve) => (this.#begin = resolve));
    this.done = begun.then(() => this.#run());
  }

  start(): void {
    this.#begin();
  }

  get status(): ContainerStatus {
    const { name, image } = this.container;
    return {
      name,
      image,
      imageID: image,
      ...(this.#runs === 0 ? {} : { containerID: this.#id }),
      restartCount: this.#restarts,
      ready: this.#ready,
      started: this.#started,
      state: this.#state,
      lastState: this.#lastState,
    };
  }

  /** The exit code of the run that ended for good. */
  get exitCode(): number | undefined {
    return this.#state.terminated?.exitCode;
  }

  async pid(): Promise<number | undefined> {
    return await this.#process?.pid();
  }

  /** Ends it for good: the hook before, SIGTERM, and SIGKILL after the time that is left. */
  async stop(graceMs: number): Promise<void> {
    if (!this.#stopping.signal.aborted) this.#stopping.abort();
    this.#begin();
    await this.#kill(graceMs);
    await this.done;
  }

  get #id(): string {
    return `process://${this.container.name}-${this.#runs}`;
  }

  async #run(): Promise<void> {
    const { restart, backoffMs } = this.#options;
    let backoff = backoffMs;
    while (!this.#stopping.signal.aborted) {
      const options = await this.#prepared();
      if (options === undefined) break;
      const began = performance.now();
      const code = await this.#once(options);
      if (this.#stopping.signal.aborted || restart === 'Never' || (restart === 'OnFailure' && code === 0))
        break;
      if (performance.now() - began > HEALTHY_MS) backoff = backoffMs;
      await this.#backOff(backoff);
      backoff = Math.min(2 * backoff, MAX_BACKOFF_MS);
    }
    this.#settle();
  }

  /** A pod that is deleted before its container ever ran. */
  #settle(): void {
    if (this.#state.terminated !== undefined) return;
    const at = new Date().toISOString();
    const ended = this.#lastState.terminated;
    const terminated: Terminated = ended ?? {
      exitCode: 137,
      reason: 'ContainerStatusUnknown',
      startedAt: at,
      finishedAt: at,
      containerID: this.#id,
    };
    this.#change({ state: { terminated } });
  }

  async #prepared(): Promise<ProcessOptions | undefined> {
    while (!this.#stopping.signal.aborted) {
      try {
        return await this.#options.prepare(this.container);
      } catch (error) {
        const reason = error instanceof NotYet ? error.reason : 'CreateContainerError';
        this.#change({ state: { waiting: { reason, message: messageOf(error) } } });
        await this.#pause(RETRY_MS);
      }
    }
    return undefined;
  }

  async #backOff(delayMs: number): Promise<void> {
    this.#lastState = this.#state;
    const message = `back-off ${delayMs / 1000}s restarting failed container ${this.container.name}`;
    this.#change({ state: { waiting: { reason: 'CrashLoopBackOff', message } } });
    await this.#pause(delayMs);
    this.#restarts += 1;
  }

  async #pause(delayMs: number): Promise<void> {
    await pause(delayMs, undefined, { signal: this.#stopping.signal }).catch(() => undefined);
  }

  async #once(options: ProcessOptions): Promise<number> {
    this.#runs += 1;
    const child = new ContainerProcess(options);
    this.#process = child;
    this.#killing = undefined;
    const pid = await child.pid();
    if (pid !== undefined) {
      this.#started = this.container.startupProbe === undefined;
      this.#ready = this.#started && this.container.readinessProbe === undefined;
      this.#change({ state: { running: { startedAt: child.startedAt } } });
      await this.#postStart(child);
      this.#probe(child);
    }
    const exitCode = await child.exited;
    this.#stopProbes();
    this.#ready = false;
    this.#started = false;
    this.#change({ state: { terminated: this.#terminated(exitCode, child.startedAt) } });
    return exitCode;
  }

  #terminated(exitCode: number, startedAt: string): Terminated {
    const finishedAt = new Date().toISOString();
    const reason = exitCode === 0 ? 'Completed' : 'Error';
    const signal = exitCode > 128 ? { signal: exitCode - 128 } : {};
    return { exitCode, ...signal, reason, startedAt, finishedAt, containerID: this.#id };
  }

  async #postStart(child: ContainerProcess): Promise<void> {
    const hook = this.container.lifecycle?.postStart;
    if (hook === undefined) return;
    await perform(hook, this.#target(child), HOOK_MS).catch(async (error: unknown) => {
      this.#note(`postStart failed: ${messageOf(error)}`);
      await child.signal('SIGKILL');
    });
  }

  #probe(child: ContainerProcess): void {
    const { startupProbe } = this.container;
    if (startupProbe === undefined) return this.#probeRunning(child);
    this.#add(child, startupProbe, (good, message) => {
      if (!good) return this.#fail('startup', startupProbe, message);
      this.#stopProbes();
      this.#started = true;
      this.#ready = this.container.readinessProbe === undefined;
      this.#options.onChange();
      this.#probeRunning(child);
    });
  }

  #probeRunning(child: ContainerProcess): void {
    const { livenessProbe, readinessProbe } = this.container;
    if (livenessProbe) {
      this.#add(child, livenessProbe, (good, message) => {
        if (!good) this.#fail('liveness', livenessProbe, message);
      });
    }
    if (readinessProbe) {
      this.#add(child, readinessProbe, (good, message) => {
        if (!good) this.#note(`readiness probe failed: ${message}`);
        this.#ready = good;
        this.#options.onChange();
      });
    }
  }

  #add(child: ContainerProcess, probe: Probe, onVerdict: (good: boolean, message: string) => void): void {
    if (this.#stopping.signal.aborted) return;
    const prober = new Prober({ probe, target: this.#target(child), onVerdict });
    this.#probers.push(prober);
    prober.start();
  }

  #fail(kind: string, probe: Probe, message: string): void {
    this.#note(`${kind} probe failed, the container is ended: ${message}`);
    const seconds = probe.terminationGracePeriodSeconds;
    void this.#kill(seconds === undefined ? this.#options.graceMs : seconds * 1000);
  }

  /** Ends the present run. Asked again with less time, that holds. */
  async #kill(graceMs: number): Promise<void> {
    const child = this.#process;
    if (child === undefined) return;
    this.#stopProbes();
    const timer = setTimeout(() => void child.signal('SIGKILL'), graceMs);
    this.#killing ??= this.#end(child, graceMs);
    await this.#killing;
    clearTimeout(timer);
  }

  async #end(child: ContainerProcess, graceMs: number): Promise<void> {
    const hook = this.container.lifecycle?.preStop;
    if (hook) await Promise.race([this.#preStop(child, graceMs), child.exited]);
    await child.signal('SIGTERM');
    await child.exited;
  }

  async #preStop(child: ContainerProcess, graceMs: number): Promise<void> {
    const hook = this.container.lifecycle?.preStop ?? {};
    if (hook.sleep) {
      await pause(Math.min(graceMs, hook.sleep.seconds * 1000));
      return;
    }
    await perform(hook, this.#target(child), graceMs).catch((error: unknown) =>
      this.#note(`preStop failed: ${messageOf(error)}`),
    );
  }

  #target(child: ContainerProcess): ProbeTarget {
    const { folder, ip, container } = this.#options;
    return { folder, ip: ip(), container, exec: (command, timeoutMs) => child.exec(command, timeoutMs) };
  }

  #stopProbes(): void {
    for (const prober of this.#probers.splice(0)) prober.stop();
  }

  /** Probes and hooks tell what is wrong in the log of the kubelet. */
  #note(message: string): void {
    const line = `${new Date().toISOString()} ${this.#options.ip()} ${this.container.name}: ${message}\n`;
    appendFileSync(`${this.#options.folder}/kubelet.log`, line);
  }

  #change({ state }: { state: ContainerState }): void {
    this.#state = state;
    this.#options.onChange();
  }
}
