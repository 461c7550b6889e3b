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
}

export const connection = new Connection();
