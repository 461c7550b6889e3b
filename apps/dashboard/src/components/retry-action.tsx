import type { JSX } from 'preact';
import { call } from '../api/client.ts';
import { tellDeed } from '../state/live.ts';
import { mayReload, maySteer } from '../state/status.ts';
import { Action } from './action.tsx';

/** Tries a job again, for who may. */
export function RetryAction({ id, isFailed }: { id: string; isFailed: boolean }): JSX.Element | null {
  if (!mayReload() && !maySteer()) return null;
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
        {isFailed
          ? 'It starts again, with all its attempts.'
          : 'It runs at once and does not wait for its time.'}
      </p>
    </Action>
  );
}
