import type { JSX } from 'preact';
import type { Job } from '@reroll/shared/api/queues';
import { call } from '../api/client.ts';
import { tellDeed } from '../state/live.ts';
import { mayReload, maySteer } from '../state/status.ts';
import { Action } from './action.tsx';

/** Tries a job again, for who may; not one that is running, or due already. */
export function RetryAction({ id, state }: { id: string; state: Job['state'] }): JSX.Element | null {
  if ((state !== 'failed' && state !== 'delayed') || (!mayReload() && !maySteer())) return null;
  return (
    <Action
      label="Retry"
      title={`Retry job ${id}`}
      done={`Job ${id} will be retried`}
      run={async ({ reason, idempotencyKey }) => {
        await call('retryJob', { params: { id }, body: { reason }, idempotencyKey });
        tellDeed();
      }}
    >
      <p>
        {state === 'failed'
          ? 'It starts again, with all its attempts.'
          : 'It runs now instead of at its scheduled time.'}{' '}
        The retry bypasses no holds.
      </p>
    </Action>
  );
}
