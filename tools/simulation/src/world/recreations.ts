/** The Jobs that Reroll deletes and creates again: what has to be there at every moment (docs/adr/0014). */
import { cronJobOf, isFinished, standsFor } from './restarts.ts';
import { keyOf, type KubeObject } from './shapes.ts';
import type { Commit, Violation } from './commit.ts';

/** Virtual milliseconds from seeing that a Job is there to the pending Job that stands for it. */
const ON_ITS_WAY = 5_000;

interface PendingJob {
  /** Of the Job that it stands for. */
  readonly key: string;
  /** When it was created, in virtual milliseconds. */
  readonly at: number;
}

export class Recreations {
  readonly #now: () => number;
  /** Those that are there, by the uid of the Job that each stands for. */
  readonly #pending = new Map<string, PendingJob>();
  /** Jobs that Reroll has deleted and that are not there again, with the name of the process. */
  readonly #missing = new Map<string, string>();
  /** When each Job was deleted last by others, in virtual milliseconds. */
  readonly #removedAt = new Map<string, number>();

  constructor(now: () => number) {
    this.#now = now;
  }

  clone(): Recreations {
    const copy = new Recreations(this.#now);
    for (const [uid, job] of this.#pending) copy.#pending.set(uid, job);
    for (const [key, by] of this.#missing) copy.#missing.set(key, by);
    for (const [key, at] of this.#removedAt) copy.#removedAt.set(key, at);
    return copy;
  }

  /** Returns what is wrong with a write of a Job. */
  see({ before, after, by }: Commit): Violation[] {
    const job = after ?? before;
    const kept = job && standsFor(job);
    if (kept && after) this.#kept(kept);
    else if (kept) return this.#pendingDeleted(kept, by);
    else if (job && !after) return this.#deleted(job, by);
    else if (job && !before) return this.#created(job, by);
    return [];
  }

  #kept({ uid, key }: { uid: string; key: string }): void {
    if (!this.#pending.has(uid)) this.#pending.set(uid, { key, at: this.#now() });
  }

  /** What is left undone: call it when all is calm and in order again. */
  /** `isOutside`: nobody looks at the namespace, so what was begun there may stay. */
  judge(isOutside: (namespace: string) => boolean): Violation[] {
    const missing = [...this.#missing].map(([key, by]): Violation => ({
      kind: 'lost',
      text: `${key} was deleted by ${by}, and not created again`,
    }));
    const seen = [...this.#pending.values()].filter(({ key }) => !isOutside(key.split('/')[1] ?? ''));
    const left = seen.map(({ key }): Violation => ({
      kind: 'unstable',
      text: `the pending Job of ${key} is still there`,
    }));
    return [...missing, ...left];
  }

  #pendingDeleted({ uid, key }: { uid: string; key: string }, by: string | undefined): Violation[] {
    this.#pending.delete(uid);
    // One of an earlier recreation may go while a later one is under way.
    const isKept = [...this.#pending.values()].some((each) => each.key === key);
    if (isKept || !this.#missing.has(key)) return [];
    return [{ kind: 'lost', text: `${by} deleted the pending Job of ${key} before creating that again` }];
  }

  #deleted(job: KubeObject, by: string | undefined): Violation[] {
    const key = keyOf(job);
    if (by === undefined) {
      this.#removedAt.set(key, this.#now());
      return [];
    }
    this.#missing.set(key, by);
    if (isFinished(job)) return [{ kind: 'held', text: `${by} deleted ${key}, which had finished` }];
    if (this.#pending.has(job.metadata.uid ?? '')) return [];
    return [{ kind: 'lost', text: `${by} deleted ${key}, and no pending Job keeps what it is to become` }];
  }

  #created(job: KubeObject, by: string | undefined): Violation[] {
    const key = keyOf(job);
    const removedAt = this.#removedAt.get(key) ?? Infinity;
    this.#removedAt.delete(key);
    this.#missing.delete(key);
    const kept = [...this.#pending.values()].find((each) => each.key === key);
    if (by === undefined || cronJobOf(job)) return [];
    if (!kept) return [{ kind: 'doubled', text: `${by} created ${key}, for which no pending Job stood` }];
    if (kept.at < removedAt + ON_ITS_WAY) return [];
    return [{ kind: 'doubled', text: `${by} created ${key}, which its owner had deleted` }];
  }
}
