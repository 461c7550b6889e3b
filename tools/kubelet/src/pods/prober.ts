import { messageOf } from '../errors.ts';
import { type ProbeTarget, perform } from './probe.ts';
import type { Probe } from '../types.ts';

/** What a probe has come to: `undefined` until the thresholds say something. */
export type Verdict = boolean | undefined;

/** Repeats one probe and tells when its verdict changes. */
export class Prober {
  readonly #probe: Probe;
  readonly #target: ProbeTarget;
  readonly #onVerdict: (good: boolean, message: string) => void;
  #verdict: Verdict;
  #good = 0;
  #bad = 0;
  #timer: NodeJS.Timeout | undefined;
  #stopped = false;

  constructor(options: {
    probe: Probe;
    target: ProbeTarget;
    onVerdict: (good: boolean, message: string) => void;
  }) {
    this.#probe = options.probe;
    this.#target = options.target;
    this.#onVerdict = options.onVerdict;
  }

  start(): void {
    this.#after((this.#probe.initialDelaySeconds ?? 0) * 1000);
  }

  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#timer);
  }

  #after(delayMs: number): void {
    if (this.#stopped) return;
    this.#timer = setTimeout(() => void this.#once(), delayMs);
  }

  async #once(): Promise<void> {
    const began = performance.now();
    const failure = await this.#attempt();
    if (this.#stopped) return;
    this.#count(failure);
    const period = (this.#probe.periodSeconds ?? 10) * 1000;
    this.#after(Math.max(0, period - (performance.now() - began)));
  }

  async #attempt(): Promise<string | undefined> {
    try {
      await perform(this.#probe, this.#target, (this.#probe.timeoutSeconds ?? 1) * 1000);
      return undefined;
    } catch (error) {
      return messageOf(error);
    }
  }

  #count(failure: string | undefined): void {
    this.#good = failure === undefined ? this.#good + 1 : 0;
    this.#bad = failure === undefined ? 0 : this.#bad + 1;
    if (this.#good >= (this.#probe.successThreshold ?? 1)) this.#tell(true, '');
    else if (this.#bad >= (this.#probe.failureThreshold ?? 3)) this.#tell(false, failure ?? '');
  }

  #tell(good: boolean, message: string): void {
    if (this.#verdict === good) return;
    this.#verdict = good;
    this.#onVerdict(good, message);
  }
}
