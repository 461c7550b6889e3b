/** Watches that reloads keep to `--max-reloads-per-minute`. */

export interface RateBy {
  readonly perMinute: number;
  /** Milliseconds from when a worker gets its slot to its patch. */
  readonly late: number;
}

export class Rate {
  readonly #by: RateBy;
  /** Of the reloads, in virtual milliseconds. */
  #times: number[] = [];

  constructor(by: RateBy) {
    this.#by = by;
  }

  /** Returns what is wrong with a reload now. */
  reloaded(now: number): string | undefined {
    this.#times.push(now);
    const { perMinute, late } = this.#by;
    const atOnce = Math.max(1, Math.floor(perMinute / 10));
    const count = this.#times.length;
    const first = this.#times.findIndex(
      (time, index) => count - index > atOnce + ((now - time + late) * perMinute) / 60_000,
    );
    return first === -1
      ? undefined
      : `${count - first} reloads in ${now - (this.#times[first] ?? now)} ms, with ${perMinute} a minute`;
  }

  /** Redis has lost what it had. */
  lost(): void {
    this.#times = [];
  }
}
