/** How soon after the first telling, and how often at most (ms). */
interface PaceSettings {
  readonly soon: number;
  readonly every: number;
}

/** Tells that something has happened: soon, and however much happens no more often than it may. */
export class Pace {
  readonly #run: () => void;
  readonly #settings: PaceSettings;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #ranAt = Number.NEGATIVE_INFINITY;

  constructor(run: () => void, settings: PaceSettings) {
    this.#run = run;
    this.#settings = settings;
  }

  tell(): void {
    if (this.#timer !== undefined) return;
    const { soon, every } = this.#settings;
    this.#timer = setTimeout(
      () => {
        this.#timer = undefined;
        this.#ranAt = Date.now();
        this.#run();
      },
      Math.max(soon, this.#ranAt + every - Date.now()),
    );
  }
}
