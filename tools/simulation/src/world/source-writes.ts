/** When sources were written, by whomever. Times are in virtual milliseconds. */
export class SourceWrites {
  readonly #last = new Map<string, number>();
  readonly #all: { readonly source: string; readonly at: number }[] = [];
  /** Deleted, and nobody knows of it any more. */
  readonly #forgotten = new Set<string>();

  /**
   * Returns whether nobody knows any more that the source was deleted, so that it looks as if it had always been there. True only for the
   * first write after that.
   */
  written(source: string, at: number): boolean {
    this.#last.set(source, at);
    this.#all.push({ source, at });
    return this.#forgotten.delete(source);
  }

  /** `-Infinity`: never. */
  lastAt(source: string): number {
    return this.#last.get(source) ?? -Infinity;
  }

  /** By source. */
  get last(): ReadonlyMap<string, number> {
    return this.#last;
  }

  between({ from, to }: { readonly from: number; readonly to: number }): readonly string[] {
    return this.#all.filter(({ at }) => at >= from && at <= to).map(({ source }) => source);
  }

  /** What is known of sources besides these is lost. */
  forgetAllBut(present: ReadonlyMap<string, unknown>): void {
    for (const source of this.#last.keys()) if (!present.has(source)) this.#forgotten.add(source);
  }
}
