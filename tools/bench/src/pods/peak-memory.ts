import { anonymousMemory, containersBelow, limitOf } from './container-memory.ts';

interface Peak {
  /** In bytes, as `peak`. */
  readonly limit: number;
  /** The most anonymous memory that was seen. */
  readonly peak: number;
}

/** Looks again and again how much memory groups of processes have. */
export class PeakMemory {
  static readonly EVERY_MS = 100;
  readonly #peaks = new Map<string, Peak>();
  readonly #timer: NodeJS.Timeout;

  private constructor(folders: () => Iterable<readonly [id: string, folder: string]>) {
    this.#timer = setInterval(() => {
      for (const [id, folder] of folders()) this.#look(id, folder);
    }, PeakMemory.EVERY_MS);
  }

  /** Of all containers below a cgroup, those that come later too. */
  static below(cgroup: string): PeakMemory {
    return new PeakMemory(() => containersBelow(cgroup));
  }

  static in(folder: string): PeakMemory {
    return new PeakMemory(() => [[folder, folder]]);
  }

  of(id: string): Peak {
    const found = this.#peaks.get(id);
    if (!found) throw new RangeError(`expected memory of ${id} to have been seen`);
    return found;
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #look(id: string, folder: string): void {
    try {
      const now = anonymousMemory(folder);
      const peak = Math.max(now, this.#peaks.get(id)?.peak ?? 0);
      this.#peaks.set(id, { limit: limitOf(folder), peak });
    } catch {
      // It has ended.
    }
  }
}
