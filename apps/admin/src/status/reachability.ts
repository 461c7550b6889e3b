import { AnswerCache } from '../auth/answer-cache.ts';

export interface Reachable {
  readonly ok: boolean;
  readonly milliseconds: number | null;
}

const DEADLINE = 2_000;
/** Milliseconds for which an answer is kept, because many read the status and each check is a request. */
const KEPT = 2_000;

/** Checks whether servers answer within their deadlines. Never rejects. */
export class Reachability {
  readonly #answers = new AnswerCache<Reachable>({ most: 10, keptFor: () => KEPT });

  of(server: string, ask: (signal: AbortSignal) => Promise<unknown>): Promise<Reachable> {
    return this.#answers.get(server, () => reach(ask));
  }
}

async function reach(ask: (signal: AbortSignal) => Promise<unknown>): Promise<Reachable> {
  const began = performance.now();
  const ended = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error('late')), DEADLINE);
  });
  try {
    await Promise.race([ask(ended.signal), late]);
    return { ok: true, milliseconds: Math.round(performance.now() - began) };
  } catch {
    return { ok: false, milliseconds: null };
  } finally {
    ended.abort();
    clearTimeout(timer);
  }
}
