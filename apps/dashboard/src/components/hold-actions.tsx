import { MOST_FREEZE_REASON } from '@reroll/core/holds/freeze';
import type { JSX } from 'preact';
import { useSignal, type Signal } from '@preact/signals';
import { useId } from 'preact/hooks';
import { call } from '../api/client.ts';
import { spoken, type Ref } from '../names.ts';
import { mayHold, maySteer, status } from '../state/status.ts';
import { tellDeed } from '../state/live.ts';
import { Action } from './action.tsx';
import { useSeen } from './use-seen.ts';

/** Freeze a workload, or end its freeze, for who may. */
export function FreezeAction({ of, isFrozen }: { of: Ref; isFrozen: boolean }): JSX.Element | null {
  if (!mayHold()) return null;
  return isFrozen ? <Unfreeze of={of} /> : <Freeze of={of} />;
}

function Freeze({ of }: { of: Ref }): JSX.Element {
  return (
    <FreezeForm
      label="Freeze"
      what={spoken(of)}
      freeze={(deed) => call('freezeWorkload', { params: paramsOf(of), ...deed })}
    >
      <p>
        Nothing reloads it while it is frozen. When the freeze ends, it is reloaded once, if a reload is
        pending.
      </p>
    </FreezeForm>
  );
}

/** Freeze a namespace, and end that, for those who may. Both buttons are there, because the API does not tell whether it is frozen. */
export function FreezeNamespaceActions({ namespace }: { namespace: string }): JSX.Element | null {
  if (namespace === '' || !mayHold()) return null;
  const what = `the namespace ${namespace}`;
  return (
    <>
      <FreezeForm
        label="Freeze the namespace"
        what={what}
        freeze={(deed) => call('freezeNamespace', { params: { namespace }, ...deed })}
      >
        <p>
          None of its workloads is reloaded. When the freeze ends, each is reloaded once, if a reload is
          pending.
        </p>
      </FreezeForm>
      <UnfreezeForm
        what={what}
        unfreeze={(deed) => call('unfreezeNamespace', { params: { namespace }, ...deed })}
      >
        <p>Pending reloads are done at once, unless something else holds them.</p>
      </UnfreezeForm>
    </>
  );
}

/** Freeze everything, or end that, for those who may. Both buttons, if the admin cannot tell whether it is frozen. */
export function FreezeAllAction(): JSX.Element | null {
  if (!mayHold() || !maySteer()) return null;
  const frozen = status.value?.frozen;
  return (
    <>
      {typeof frozen === 'string' ? null : (
        <FreezeForm
          label="Freeze everything"
          what="the installation"
          freeze={(deed) => call('freezeAll', deed)}
        >
          <p>
            Nothing is reloaded in any namespace. When the freeze ends, each workload is reloaded once, if a
            reload is pending.
          </p>
        </FreezeForm>
      )}
      {frozen === null ? null : (
        <UnfreezeForm what="the installation" unfreeze={(deed) => call('unfreezeAll', deed)}>
          <p>Pending reloads are done at once, unless something else holds them.</p>
        </UnfreezeForm>
      )}
    </>
  );
}

interface FreezeFormProps {
  readonly label: string;
  /** For sentences. */
  readonly what: string;
  readonly children: JSX.Element;
  readonly freeze: (deed: {
    body: { reason: string; until?: string };
    idempotencyKey: string;
  }) => Promise<unknown>;
}

function FreezeForm({ label, what, children, freeze }: FreezeFormProps): JSX.Element {
  // A signal, which the dialog can change when this is no longer shown.
  const until = useSignal('');
  return (
    <Action
      label={label}
      title={`Freeze ${what}`}
      done={`${sentence(what)} is frozen`}
      mostReason={MOST_FREEZE_REASON}
      sends={() => until.value}
      run={async ({ reason, idempotencyKey }) => {
        await freeze({ body: { reason, ...endOf(until) }, idempotencyKey });
        tellDeed();
      }}
    >
      {children}
      <UntilField until={until} />
    </Action>
  );
}

/** The field is in the time zone of the reader. */
export function endOf(until: Signal<string>): { until?: string } {
  return until.value === '' ? {} : { until: new Date(until.value).toISOString() };
}

export function UntilField({ until }: { until: Signal<string> }): JSX.Element {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>Until, in your time zone (empty: until somebody ends it)</label>
      <input
        id={id}
        type="datetime-local"
        max="9999-12-31T23:59"
        value={until.value}
        onInput={({ currentTarget }) => (until.value = currentTarget.value)}
      />
    </div>
  );
}

function Unfreeze({ of }: { of: Ref }): JSX.Element {
  return (
    <UnfreezeForm
      what={spoken(of)}
      unfreeze={(deed) => call('unfreezeWorkload', { params: paramsOf(of), ...deed })}
    >
      <p>If a reload is pending, it is done at once, unless something else holds it.</p>
    </UnfreezeForm>
  );
}

interface UnfreezeFormProps {
  readonly what: string;
  readonly children: JSX.Element;
  readonly unfreeze: (deed: { body: { reason: string }; idempotencyKey: string }) => Promise<unknown>;
}

function UnfreezeForm({ what, children, unfreeze }: UnfreezeFormProps): JSX.Element {
  return (
    <Action
      label="Unfreeze"
      title={`End the freeze of ${what}`}
      done={`${sentence(what)} is no longer frozen`}
      run={async ({ reason, idempotencyKey }) => {
        await unfreeze({ body: { reason }, idempotencyKey });
        tellDeed();
      }}
    >
      {children}
    </Action>
  );
}

function sentence(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** Let through what awaits an approval, for who may. `id`: of what is pending. */
export function ApproveAction({ of, id }: { of: Ref; id: string }): JSX.Element | null {
  const { seen, dialog } = useSeen(id);
  if (!mayHold()) return null;
  return (
    <Action
      {...dialog}
      label="Approve"
      title={`Approve the reload of ${spoken(of)}`}
      done={`The reload of ${spoken(of)} is approved`}
      sends={() => seen}
      run={async ({ reason, idempotencyKey }) => {
        await call('approveWorkload', { params: paramsOf(of), body: { reason, id: seen }, idempotencyKey });
        tellDeed();
      }}
    >
      <p>
        This approves exactly what is pending now (<code>{seen}</code>). If the data changes first, the reload
        waits for another approval.
      </p>
    </Action>
  );
}

function paramsOf({ kind, namespace, name }: Ref): Record<string, string> {
  return { kind, namespace, name };
}
