import type { ComponentChildren, JSX } from 'preact';
import { useId, useRef, useState } from 'preact/hooks';
import { CallError } from '../api/client.ts';
import { announce } from '../state/announcer.ts';
import { Trouble } from './answer.tsx';

/** What a person does: why, and a key under which the same deed is done once. */
export interface Deed {
  readonly reason: string;
  readonly idempotencyKey: string;
}

interface ActionProps {
  readonly label: string;
  readonly title: string;
  /** What will happen. */
  readonly children: ComponentChildren;
  readonly run: (deed: Deed) => Promise<unknown>;
  /** What `run` sends besides the reason: for something else, another key. */
  readonly sends?: string | undefined;
  /** Said when it was accepted. */
  readonly done: string;
  readonly isPrimary?: boolean;
  /** Characters of the reason. */
  readonly mostReason?: number;
  /** Called when the dialog opens. */
  readonly onOpen?: () => void;
  /** Whether what the person looks at is no longer what is pending, so that it cannot be sent. */
  readonly isOutdated?: boolean;
}

/** A button that asks for a reason before it does anything. */
export function Action(props: ActionProps): JSX.Element {
  const { label, title, children, run, sends = '', done, isPrimary = false, mostReason = 200 } = props;
  const { onOpen, isOutdated = false } = props;
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  return (
    <>
      <button
        type="button"
        class={isPrimary ? 'primary' : ''}
        onClick={() => {
          onOpen?.();
          dialog.current?.showModal();
        }}
      >
        {label}
      </button>
      <dialog ref={dialog} aria-labelledby={id}>
        <h2 id={id}>{title}</h2>
        <ReasonForm
          label={label}
          mostReason={mostReason}
          run={run}
          sends={`${title} ${sends}`}
          isOutdated={isOutdated}
          close={() => dialog.current?.close()}
          onDone={() => {
            dialog.current?.close();
            announce(done);
          }}
        >
          {children}
        </ReasonForm>
      </dialog>
    </>
  );
}

interface ReasonFormProps {
  readonly label: string;
  /** Within the form, so that the browser sends nothing while a field has an entry that it cannot read, or out of bounds. */
  readonly children: ComponentChildren;
  readonly mostReason: number;
  readonly run: (deed: Deed) => Promise<unknown>;
  readonly sends: string;
  readonly isOutdated: boolean;
  readonly close: () => void;
  readonly onDone: () => void;
}

function ReasonForm(props: ReasonFormProps): JSX.Element {
  const { label, children, mostReason, run, sends, isOutdated, close, onDone } = props;
  const [reason, setReason] = useState('');
  const [state, setState] = useState<'idle' | 'sending' | CallError>('idle');
  const key = useRef({ of: '', key: '' });
  const id = useId();

  const submit = async (event: Event): Promise<void> => {
    event.preventDefault();
    if (isOutdated) return;
    setState('sending');
    const of = JSON.stringify([reason, sends]);
    if (key.current.of !== of) key.current = { of, key: freshKey() };
    try {
      await run({ reason: reason.trim(), idempotencyKey: key.current.key });
      key.current = { of: '', key: '' };
      setReason('');
      setState('idle');
      onDone();
    } catch (error) {
      setState(error instanceof CallError ? error : new CallError(0, {}));
    }
  };

  return (
    <form onSubmit={(event) => void submit(event)}>
      <div class="dialog-text">{children}</div>
      <label for={id}>Reason</label>
      <input
        id={id}
        value={reason}
        onInput={({ currentTarget }) => setReason(currentTarget.value)}
        required
        maxLength={mostReason}
        pattern=".*\S.*"
        autocomplete="off"
        placeholder="It goes into the history and the audit log"
      />
      {state instanceof CallError ? <Refusal error={state} /> : null}
      {isOutdated ? <Outdated /> : null}
      <div class="dialog-buttons">
        <button type="button" onClick={close}>
          Cancel
        </button>
        <button type="submit" class="primary" disabled={isOutdated || state === 'sending'}>
          {state === 'sending' ? 'Sending…' : label}
        </button>
      </div>
    </form>
  );
}

function Outdated(): JSX.Element {
  return (
    <div class="trouble" role="alert">
      <p>
        <strong>What is pending has changed</strong> since you opened this. Cancel, and look again.
      </p>
    </div>
  );
}

function Refusal({ error }: { error: CallError }): JSX.Element {
  if (isLost(error)) {
    return (
      <div class="trouble" role="alert">
        <p>
          <strong>Reroll does not answer.</strong> It is not known whether this was done. You can safely press
          the button again: it is not done twice.
        </p>
      </div>
    );
  }
  if (error.status !== 403) return <Trouble error={error} what="this" />;
  return (
    <div class="trouble" role="alert">
      <p>
        <strong>You may not do this.</strong> {sentence(error.problem.detail)} Nothing was done.
      </p>
    </div>
  );
}

/** Whether the answer of Reroll is lost, if there was one: what answers instead of it, as a proxy does, names no problem. */
function isLost({ status, problem }: CallError): boolean {
  return status === 0 || (status >= 500 && problem.title === undefined);
}

/** Why it was refused, as the API says it. */
function sentence(detail = 'the rules of the cluster refused it'): string {
  return `${detail.charAt(0).toUpperCase()}${detail.slice(1)}.`;
}

/** `crypto.randomUUID` is there on secure origins only. */
function freshKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) =>
    byte.toString(16).padStart(2, '0'),
  ).join('');
}
