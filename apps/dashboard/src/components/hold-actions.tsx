import { MOST_FREEZE_REASON } from '@reroll/core/holds/freeze';
import type { JSX } from 'preact';
import { useId, useState } from 'preact/hooks';
import { call } from '../api/client.ts';
import { spoken, type Ref } from '../names.ts';
import { mayHold } from '../state/status.ts';
import { news } from '../state/live.ts';
import { Action } from './action.tsx';

/** Freeze a workload, or end its freeze, for who may. */
export function FreezeAction({ of, isFrozen }: { of: Ref; isFrozen: boolean }): JSX.Element | null {
  if (!mayHold()) return null;
  return isFrozen ? <Unfreeze of={of} /> : <Freeze of={of} />;
}

function Freeze({ of }: { of: Ref }): JSX.Element {
  const [until, setUntil] = useState('');
  const id = useId();
  return (
    <Action
      label="Freeze"
      title={`Freeze ${spoken(of)}`}
      done={`${spoken(of)} is frozen`}
      mostReason={MOST_FREEZE_REASON}
      run={async ({ reason, idempotencyKey }) => {
        // The field is in the time zone of the reader.
        const end = until === '' ? {} : { until: new Date(until).toISOString() };
        await call('freezeWorkload', { params: paramsOf(of), body: { reason, ...end }, idempotencyKey });
        news.value += 1;
      }}
    >
      <p>Nothing reloads it while it is frozen. When the freeze ends, it is reloaded once, if that is due.</p>
      <div class="field">
        <label for={id}>Until, in your time zone (empty: until somebody ends it)</label>
        <input
          id={id}
          type="datetime-local"
          value={until}
          onInput={({ currentTarget }) => setUntil(currentTarget.value)}
        />
      </div>
    </Action>
  );
}

function Unfreeze({ of }: { of: Ref }): JSX.Element {
  return (
    <Action
      label="Unfreeze"
      title={`End the freeze of ${spoken(of)}`}
      done={`${spoken(of)} is no longer frozen`}
      run={async ({ reason, idempotencyKey }) => {
        await call('unfreezeWorkload', { params: paramsOf(of), body: { reason }, idempotencyKey });
        news.value += 1;
      }}
    >
      <p>If a reload is due, it is done at once, unless something else holds it.</p>
    </Action>
  );
}

/** Let through what awaits an approval, for who may. `id`: of what is pending. */
export function ApproveAction({ of, id }: { of: Ref; id: string }): JSX.Element | null {
  if (!mayHold()) return null;
  return (
    <Action
      label="Approve"
      title={`Approve the reload of ${spoken(of)}`}
      done={`The reload of ${spoken(of)} is approved`}
      run={async ({ reason, idempotencyKey }) => {
        await call('approveWorkload', { params: paramsOf(of), body: { reason, id }, idempotencyKey });
        news.value += 1;
      }}
    >
      <p>
        Exactly what is pending now (<code>{id}</code>) is let through. If the data changes before, it waits
        again.
      </p>
    </Action>
  );
}

function paramsOf({ kind, namespace, name }: Ref): Record<string, string> {
  return { kind, namespace, name };
}
