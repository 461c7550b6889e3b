import type { ComponentChildren, JSX } from 'preact';
import { computed, signal } from '@preact/signals';
import { useId, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { CallError } from '../api/client.ts';
import { route } from '../router.ts';
import { announce } from '../state/announcer.ts';
import { refused } from '../state/session.ts';
import { status } from '../state/status.ts';
import { asCallError } from '../use-answer.ts';
import { sentence, Trouble } from './answer.tsx';
import { Boundary } from './boundary.tsx';

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
  readonly sends?: () => string | null;
  /** Said when it was accepted. */
  readonly done: string | (() => string);
  /** What is shown from then on instead of the form. Without it, the dialog closes. */
  readonly result?: (close: () => void) => JSX.Element | null;
  readonly isPrimary?: boolean;
  /** Characters of the reason. */
  readonly mostReason?: number;
  /** Called when the dialog opens. */
  readonly onOpen?: () => void;
  /** Whether what the person looks at is no longer what is pending, so that it cannot be sent. */
  readonly isOutdated?: boolean;
  /** Whether there is nothing to send yet. Asked whenever the dialog is drawn. */
  readonly isUnchanged?: () => boolean;
}

/** What a person has typed and sent; it is kept while the dialog is closed. */
interface Draft {
  /** Whose it is. */
  readonly by: string | undefined;
  reason: string;
  /** What `key` is the key of. */
  of: string;
  key: string;
  /** Whether its button is no more. */
  isGone: boolean;
}

interface Opened {
  readonly draft: Draft;
  readonly props: ActionProps;
}

const opened = signal<Opened | undefined>(undefined);

/** Whether a dialog is open, or waits until it is known again who the reader is. */
export const isAsking = computed(() => opened.value !== undefined);

/** A button that asks for a reason before it does anything. `OpenAction` shows the dialog. */
export function Action(props: ActionProps): JSX.Element {
  const { label, title, isPrimary = false, onOpen } = props;
  const { current: draft } = useRef<Draft>({ by: callerName(), reason: '', of: '', key: '', isGone: false });
  const button = useRef<HTMLButtonElement>(null);
  // An open dialog shows what is so now, for as long as its button is there.
  useLayoutEffect(() => {
    if (opened.peek()?.draft === draft) opened.value = { draft, props };
  });
  useLayoutEffect(() => {
    const own = button.current;
    return () => {
      draft.isGone = true;
      if (document.activeElement === own) focusHeading();
    };
  }, []);
  return (
    <button
      ref={button}
      type="button"
      // Read out after the label: of which of many things it is the button.
      title={title}
      class={isPrimary ? 'primary' : ''}
      onClick={() => {
        onOpen?.();
        opened.value = { draft, props };
      }}
    >
      {label}
    </button>
  );
}

/**
 * The dialog of the action that was opened last. It is apart from the button, which a refresh may remove while a person types. Like the
 * page, it is not there while nobody is signed in: it comes back with what was typed, but not for another account.
 */
export function OpenAction(): JSX.Element | null {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  const { page, parts } = route.value;
  const isKnown = refused.value === undefined && status.value !== undefined;
  const isTheirs = opened.value?.draft.by === callerName();
  const isOpen = opened.value !== undefined && isKnown && isTheirs;
  useLayoutEffect(() => {
    if (isOpen) dialog.current?.showModal();
  }, [isOpen]);
  useLayoutEffect(() => {
    if (isKnown && !isTheirs) opened.value = undefined;
  });
  // It is not about another page.
  useLayoutEffect(() => () => void (opened.value = undefined), [page, parts.join('/')]);
  if (!opened.value || !isOpen) return null;
  const { draft, props } = opened.value;
  const close = (): void => dialog.current?.close();
  return (
    <dialog
      ref={dialog}
      aria-labelledby={id}
      onClose={() => {
        opened.value = undefined;
        // The browser gives the focus back to a button that is still there.
        if (draft.isGone) focusHeading();
      }}
    >
      <h2 id={id}>{props.title}</h2>
      <Boundary>
        {props.result?.(close) ?? (
          <ReasonForm
            {...props}
            draft={draft}
            close={close}
            onDone={() => {
              if (props.result === undefined) end(draft, dialog.current);
              announce(typeof props.done === 'string' ? props.done : props.done());
            }}
          />
        )}
      </Boundary>
    </dialog>
  );
}

function callerName(): string | undefined {
  return status.value?.caller.name;
}

/** Closes the dialog, which may not be there while nobody is signed in; unless it is another one by now. */
function end(draft: Draft, dialog: HTMLDialogElement | null): void {
  if (opened.peek()?.draft !== draft) return;
  if (dialog) dialog.close();
  else opened.value = undefined;
}

/** For what had the focus and is no more. */
function focusHeading(): void {
  document.querySelector<HTMLElement>('h1')?.focus({ preventScroll: true });
}

interface ReasonFormProps extends Omit<ActionProps, 'done' | 'result' | 'isPrimary' | 'onOpen'> {
  readonly draft: Draft;
  readonly close: () => void;
  readonly onDone: () => void;
}

/** What will happen stands in the form, so that the browser sends nothing while a field has an entry that it cannot read, or out of bounds. */
function ReasonForm(props: ReasonFormProps): JSX.Element {
  const { label, title, children, draft, mostReason = 200, run, sends, isOutdated = false } = props;
  const [reason, setReason] = useState(draft.reason);
  const [state, setState] = useState<'idle' | 'sending' | CallError>('idle');
  const id = useId();
  const deed = (): string => JSON.stringify([title, reason, sends?.()]);

  const submit = async (event: Event): Promise<void> => {
    event.preventDefault();
    if (isBarred(props)) return;
    setState('sending');
    const of = deed();
    if (draft.of !== of) Object.assign(draft, { of, key: freshKey() });
    try {
      await run({ reason: reason.trim(), idempotencyKey: draft.key });
      Object.assign(draft, { reason: '', of: '', key: '' });
      props.onDone();
    } catch (error) {
      setState(asCallError(error));
    }
  };

  return (
    <form onSubmit={(event) => void submit(event)}>
      <div class="dialog-text">{children}</div>
      <label for={id}>Reason</label>
      <input
        id={id}
        value={reason}
        onInput={({ currentTarget }) => {
          draft.reason = currentTarget.value;
          setReason(currentTarget.value);
        }}
        required
        maxLength={mostReason}
        pattern=".*\S.*"
        autocomplete="off"
        placeholder="Kept in the history and the audit log"
      />
      {state instanceof CallError && draft.of === deed() ? <Refusal error={state} /> : null}
      {isOutdated ? <Outdated /> : null}
      <div class="dialog-buttons">
        <button type="button" onClick={props.close}>
          Cancel
        </button>
        <button type="submit" class="primary" disabled={isBarred(props) || state === 'sending'}>
          {state === 'sending' ? 'Sending…' : label}
        </button>
      </div>
    </form>
  );
}

function isBarred({ isOutdated, isUnchanged }: Pick<ActionProps, 'isOutdated' | 'isUnchanged'>): boolean {
  return isOutdated === true || isUnchanged?.() === true;
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

/** Why something was not done, or that this is not known. */
export function Refusal({ error }: { error: CallError }): JSX.Element {
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
        <strong>You may not do this.</strong>{' '}
        {sentence(error.problem.detail ?? 'the rules of the cluster refused it')} Nothing was done.
      </p>
    </div>
  );
}

/** Whether the answer of Reroll is lost, if there was one: what answers instead of it, as a proxy does, names no problem. */
function isLost({ status, problem }: CallError): boolean {
  return status === 0 || (status >= 500 && problem.title === undefined);
}

/** `crypto.randomUUID` is there on secure origins only. */
function freshKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) =>
    byte.toString(16).padStart(2, '0'),
  ).join('');
}
