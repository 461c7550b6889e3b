import { signal } from '@preact/signals';

/** Whether the last request was answered, and when one was last. */
class Connection {
  readonly isLost = signal(false);
  readonly answeredAt = signal<Date | undefined>(undefined);

  answered(): void {
    this.isLost.value = false;
    this.answeredAt.value = new Date();
  }

  failed(): void {
    this.isLost.value = true;
  }

  /** The stream has been silent since then. If something else was answered meanwhile, only the stream is held up. */
  silentSince(time: number): void {
    if ((this.answeredAt.peek()?.getTime() ?? 0) <= time) this.failed();
  }
}

export const connection = new Connection();
