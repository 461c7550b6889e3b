import { signal } from '@preact/signals';
import type { Status } from '@reroll/shared/api/status';
import type { Answered } from '../use-answer.ts';

/** The newest answer of `/status`; undefined before the first. Who the reader is and may do is in it. */
export const status = signal<Status | undefined>(undefined);

/** The answer that `status` is of. After a refresh that failed, it has the error, and since when the status is known. */
export const statusAnswer = signal<Answered<Status> | undefined>(undefined);

export function mayReload(): boolean {
  return status.value?.caller.mayReload === true;
}

export function mayHold(): boolean {
  return status.value?.caller.mayHold === true;
}

export function maySteer(): boolean {
  return status.value?.caller.maySteer === true;
}
