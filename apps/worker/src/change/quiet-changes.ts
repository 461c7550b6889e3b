import { boundedChange } from '@reroll/core/history/entry-bounds';
import type { ChangeEntry } from '@reroll/core/history/entries';
import type { SourceKey } from '@reroll/core/model';

/** Milliseconds in which further changes of a source are merged. */
const WINDOW = 60_000;
/** Sources with merged changes at a time; changes of other sources are recorded at once. */
const MOST_SOURCES = 1_000;

interface Window {
  timer: NodeJS.Timeout;
  /** The latest change since the recorded one. */
  held: ChangeEntry | undefined;
  merged: number;
}

export interface QuietChangesContext {
  readonly record: (entry: ChangeEntry) => void;
  /** Records a change that was held. */
  readonly recordLate: (entry: ChangeEntry) => void;
  /** Milliseconds. Default: one minute. */
  readonly window?: number;
}

/**
 * Merges changes that reload nothing: the first of a source is recorded at once, those of the next minute as one, so that
 * a source that is written all the time does not fill the history. Held changes are lost if the process is killed; the
 * next change is then compared with the last recorded one.
 */
export class QuietChanges {
  readonly #context: QuietChangesContext;
  readonly #windows = new Map<SourceKey, Window>();

  constructor(context: QuietChangesContext) {
    this.#context = context;
  }

  add(entry: ChangeEntry): void {
    const { source } = entry;
    const window = source === null ? undefined : this.#windows.get(source);
    if (window) {
      if (window.held) window.merged += 1;
      window.held = boundedChange(entry);
      return;
    }
    this.#context.record(entry);
    if (source !== null && this.#windows.size < MOST_SOURCES) this.#open(source);
  }

  /** Drops the held changes of the source and returns how many there were. The caller records them with the next change. */
  take(source: SourceKey): number {
    const window = this.#windows.get(source);
    if (!window) return 0;
    this.#close(source, window);
    return window.held ? window.merged + 1 : 0;
  }

  /** Records all held changes. */
  flush(): void {
    for (const [source, window] of this.#windows) {
      this.#close(source, window);
      this.#record(window);
    }
  }

  #open(source: SourceKey): void {
    const timer = setTimeout(() => this.#end(source), this.#context.window ?? WINDOW);
    timer.unref();
    this.#windows.set(source, { timer, held: undefined, merged: 0 });
  }

  #end(source: SourceKey): void {
    const window = this.#windows.get(source);
    if (!window) return;
    this.#close(source, window);
    if (this.#record(window)) this.#open(source);
  }

  #close(source: SourceKey, { timer }: Window): void {
    clearTimeout(timer);
    this.#windows.delete(source);
  }

  #record({ held, merged }: Window): boolean {
    if (!held) return false;
    this.#context.recordLate(merged > 0 ? { ...held, merged } : held);
    return true;
  }
}
