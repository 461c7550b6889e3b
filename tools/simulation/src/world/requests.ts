/** What persons have asked for, and what came of it. */
import { templateOf } from './objects.ts';
import { keyOf, type KubeObject } from './shapes.ts';

const REQUEST = 'reroll.dev/reload-request';

/** Of one workload. */
interface Asked {
  /** Requests of which nobody knows the id: they are on their way, or have failed. */
  unknown: number;
  readonly ids: Set<string>;
  readonly done: Set<string>;
  /** The id of the last request, which still has to be done. */
  open: string | undefined;
}

export class Requests {
  readonly #asked = new Map<string, Asked>();

  /** Somebody asks now. */
  asked(workload: string): void {
    this.#of(workload).unknown += 1;
  }

  /** The request is stored. */
  stored(workload: string, id: string): void {
    const asked = this.#of(workload);
    asked.unknown -= 1;
    asked.ids.add(id);
    if (!asked.done.has(id)) asked.open = id;
  }

  /** Whether the write marks a request as done, and somebody has made that. */
  isDoneBy(before: KubeObject | undefined, after: KubeObject | undefined): boolean {
    if (!before || !after) return false;
    const earlier = requestsIn(before);
    const id = requestsIn(after).find((each) => !earlier.includes(each));
    if (id === undefined) return false;
    const asked = this.#of(keyOf(after));
    if (!asked.ids.has(id) && asked.unknown === 0) return false;
    asked.done.add(id);
    if (asked.open !== undefined && asked.open <= id) asked.open = undefined;
    return true;
  }

  /** The request of this workload may be dropped: it is gone, or depends on nothing. */
  dropped(workload: string): void {
    this.#of(workload).open = undefined;
  }

  /** Redis has lost what it had. */
  lost(): void {
    for (const asked of this.#asked.values()) asked.open = undefined;
  }

  /** The workloads that still have to be reloaded for a request. */
  open(): string[] {
    return [...this.#asked].filter(([, { open }]) => open !== undefined).map(([key]) => key);
  }

  /** Returns what was asked for and not done. */
  undone(): string[] {
    return [...this.#asked].flatMap(([key, { open }]) =>
      open === undefined ? [] : [`${key} was not reloaded for the request ${open}`],
    );
  }

  #of(workload: string): Asked {
    const known = this.#asked.get(workload);
    if (known) return known;
    const asked: Asked = { unknown: 0, ids: new Set(), done: new Set(), open: undefined };
    this.#asked.set(workload, asked);
    return asked;
  }
}

/** The last ones that are done: a reload that leaves the pod template as it is marks the workload itself. */
function requestsIn(object: KubeObject): string[] {
  const marked = [templateOf(object), object].map((each) => each?.metadata?.annotations?.[REQUEST]);
  return marked.filter((id) => id !== undefined);
}
