import type { Workload } from '@reroll/shared/api/workloads';
import { oldestOf } from './list-failure.ts';

/** Milliseconds for which what was looked at is not asked for again: less than the pace of the lists. */
const YOUNG = 8_000;

interface Look {
  readonly at: number;
  readonly epoch: number;
  /** Undefined: there is no such workload any more. */
  readonly workload: Workload | undefined;
}

export interface Looked {
  /** By key; one that is gone is left out. */
  readonly details: ReadonlyMap<string, Workload>;
  readonly error: unknown;
  /** Since when the oldest of those is known for which the request failed; undefined: one of them is not known. */
  readonly knownAt: Date | undefined;
}

/**
 * Workloads that are looked at one by one. A list that changes asks for them again, and so does time: what was looked at a moment ago is
 * taken as it was. A request that fails hides none of the others.
 */
export class WorkloadLooks {
  #looks = new Map<string, Look>();

  /** `epoch`: what was looked at in another one is asked for again. */
  async look(
    keys: readonly string[],
    ask: (key: string) => Promise<Workload | undefined>,
    { epoch, now = Date.now() }: { epoch: number; now?: number },
  ): Promise<Looked> {
    const isYoung = (look: Look | undefined): look is Look =>
      look !== undefined && look.epoch === epoch && now - look.at < YOUNG;
    const before = this.#looks;
    const answers = await Promise.allSettled(
      keys.map(async (key) => {
        const look = before.get(key);
        return isYoung(look) ? look : { at: now, epoch, workload: await ask(key) };
      }),
    );
    const looks = new Map<string, Look>();
    let error: unknown;
    const old: (Look | undefined)[] = [];
    for (const [index, answer] of answers.entries()) {
      const key = keys[index] ?? '';
      const look = answer.status === 'fulfilled' ? answer.value : before.get(key);
      if (answer.status === 'rejected') {
        error = answer.reason;
        old.push(look);
      }
      if (look) looks.set(key, look);
    }
    this.#looks = looks;
    return {
      details: detailsOf(looks),
      error,
      knownAt: oldestOf(old.map((look) => look && new Date(look.at))),
    };
  }
}

function detailsOf(looks: ReadonlyMap<string, Look>): ReadonlyMap<string, Workload> {
  return new Map([...looks].flatMap(([key, { workload }]) => (workload ? [[key, workload] as const] : [])));
}
