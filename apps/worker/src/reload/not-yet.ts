import type { Reason } from '@reroll/core/reasons';

/** It is too early for what a job is about; to be tried again after `wait` milliseconds, at no attempt's cost. */
export class NotYetError extends Error {
  override readonly name = 'NotYetError';
  readonly wait: number;

  constructor(reason: Reason, wait: number) {
    super(`${reason}: wait ${wait} ms`);
    this.wait = wait;
  }
}
