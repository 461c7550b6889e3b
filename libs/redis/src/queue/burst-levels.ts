/** Jobs of one namespace that are not delayed: this many at once, and as many again each second. */
export const BURST = 32;
/** The last level. Beyond it, jobs of all namespaces wait in the order of their arrival. */
export const LAST_LEVEL = 16;
/** How often namespaces whose burst is over are forgotten, in milliseconds. */
const PRUNE_INTERVAL = 60_000;

interface Burst {
  /** Jobs that were enqueued and had not drained at time `at`. */
  readonly jobs: number;
  readonly at: number;
}

/**
 * Levels that move the jobs of a namespace back in the queue during its burst: a leaky bucket for each namespace, in the memory of
 * the enqueueing process. The first 32 jobs have level 0, the next 32 level 1, the next 64 level 2, and so on: each level holds as
 * many jobs as all before it. So a job of another namespace passes nearly all of a burst, and two bursts are handled in the order
 * of their sizes.
 */
export class BurstLevels {
  readonly #bursts = new Map<string, Burst>();
  readonly #now: () => number;
  #prunedAt: number;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
    this.#prunedAt = now();
  }

  get size(): number {
    return this.#bursts.size;
  }

  /** Returns the level of the namespace's next job: 0 to `LAST_LEVEL`. */
  next(namespace: string): number {
    const at = this.#now();
    if (at - this.#prunedAt >= PRUNE_INTERVAL) this.#prune(at);
    const jobs = left(this.#bursts.get(namespace), at);
    this.#bursts.set(namespace, { jobs: jobs + 1, at });
    return levelOf(Math.ceil(jobs));
  }

  #prune(at: number): void {
    this.#prunedAt = at;
    for (const [namespace, burst] of this.#bursts) if (left(burst, at) === 0) this.#bursts.delete(namespace);
  }
}

function left(burst: Burst | undefined, at: number): number {
  return burst ? Math.max(0, burst.jobs - ((at - burst.at) * BURST) / 1000) : 0;
}

function levelOf(jobs: number): number {
  if (jobs < BURST) return 0;
  return Math.min(LAST_LEVEL, Math.floor(Math.log2(jobs / BURST)) + 1);
}
