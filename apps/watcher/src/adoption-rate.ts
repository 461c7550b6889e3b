/**
 * How fast records are corrected that nobody waits for: a token bucket in memory, of one second's size. The
 * leader limits them before it enqueues, because in the queue such a wake shares its deduplication id with a
 * real one and would otherwise hold it up.
 */
export class AdoptionRate {
  readonly #perSecond: number;
  readonly #now: () => number;
  #tokens: number;
  #filledAt: number;

  /** `perSecond` may be a fraction. */
  constructor(perSecond: number, now: () => number = () => performance.now()) {
    this.#perSecond = perSecond;
    this.#now = now;
    this.#tokens = Math.max(1, perSecond);
    this.#filledAt = now();
  }

  /** Whether any of `wanted` could be taken now. */
  hasToken(wanted: number): boolean {
    this.#fill();
    return wanted > 0 && this.#tokens >= 1;
  }

  /** Takes up to `most` tokens; gives how many. */
  take(most: number): number {
    this.#fill();
    const taken = Math.min(most, Math.floor(this.#tokens));
    this.#tokens -= taken;
    return taken;
  }

  #fill(): void {
    const now = this.#now();
    const filled = this.#tokens + ((now - this.#filledAt) / 1000) * this.#perSecond;
    this.#tokens = Math.min(Math.max(1, this.#perSecond), filled);
    this.#filledAt = now;
  }
}
