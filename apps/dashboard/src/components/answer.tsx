import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { CallError } from '../api/client.ts';
import { calmFor, calmUntil } from '../state/calm.ts';
import { Time } from './time.tsx';
import { Words } from './words.tsx';
import type { Answered } from '../use-answer.ts';

interface AnswerProps<Data> {
  readonly of: Answered<Data>;
  /** What is loaded, e.g. `changes`. */
  readonly what: string;
  readonly children: (data: Data) => ComponentChildren;
}

/** Shows an answer, or that it is awaited, or why there is none. An older answer stays while there is no newer one. */
export function Answer<Data>({ of, what, children }: AnswerProps<Data>): JSX.Element {
  const { data, knownAt, error, refresh } = of;
  return (
    <>
      {error === undefined ? null : <Trouble error={error} what={what} again={refresh} knownAt={knownAt} />}
      {data === undefined && error === undefined ? <Loading what={what} /> : null}
      {data === undefined ? null : children(data)}
    </>
  );
}

/** `isSent`: a request that a person has made, and that goes out at any time. */
export function Loading({ what, isSent = false }: { what: string; isSent?: boolean }): JSX.Element {
  return (
    <p class="loading" role="status">
      Loading {what}
      {isSent ? '…' : <Awaited />}
    </p>
  );
}

/** Ends a sentence about what is awaited: by why and until when it is not asked for, if the API wants to be left alone. */
export function Awaited(): JSX.Element {
  const [, redraw] = useState({});
  const until = calmUntil();
  useEffect(() => {
    const timer = setTimeout(() => redraw({}), calmFor());
    return () => clearTimeout(timer);
  }, [until?.getTime()]);
  if (!until) return <>…</>;
  return <Words text={`: waiting until ${until.toISOString()}, because you have asked too often.`} />;
}

interface TroubleProps {
  readonly error: CallError;
  readonly what: string;
  readonly again?: (() => void) | undefined;
  /** When the older answer came that is shown below, if one is. */
  readonly knownAt?: Date | undefined;
}

/** Why an answer did not come, in words, and what can be done. */
export function Trouble({ error, what, again, knownAt }: TroubleProps): JSX.Element {
  const { title, detail } = troubleWords(error, what);
  return (
    <div class={`trouble ${error.status === 403 || error.status === 404 ? 'calm' : ''}`} role="alert">
      <p>
        <strong>{title}</strong> {detail}
        {knownAt ? <Since at={knownAt} /> : null}
      </p>
      {(error.problem.errors ?? []).map(({ path, expected }) => (
        <p key={path}>
          <code>{path}</code> {expected}
        </p>
      ))}
      {again ? (
        <button type="button" onClick={again}>
          Try again
        </button>
      ) : null}
    </div>
  );
}

function Since({ at }: { at: Date }): JSX.Element {
  return (
    <>
      {' '}
      What is shown is from {/* The alert is not read out again when the time moves on. */}
      <span aria-live="off">
        <Time at={at} />
      </span>
      .
    </>
  );
}

function troubleWords(
  { status, problem, retryAfter }: CallError,
  what: string,
): { title: string; detail: string } {
  switch (status) {
    case 403:
      return {
        title: 'You may not see this.',
        detail: problem.detail
          ? `${problem.detail.replace(/^expected/, 'You need')}.`
          : `Your account has no right to read ${what} here.`,
      };
    case 404:
      return { title: 'Not found,', detail: 'or your account may not see it.' };
    case 429:
      return {
        title: 'You have asked too often.',
        detail:
          retryAfter === undefined
            ? 'Wait a moment, then try again.'
            : `Reroll answers you again in ${retryAfter} ${retryAfter === 1 ? 'second' : 'seconds'}; lists then load by themselves.`,
      };
    default:
      return problem.title === undefined
        ? {
            title: 'The answer is not from Reroll.',
            detail: `Something in between, such as a proxy, answered with status ${status}.`,
          }
        : { title: sentence(problem.title), detail: sentence(problem.detail ?? '') };
  }
}

/** As the API says it, with a capital and a full stop. */
export function sentence(text: string): string {
  return text === '' ? '' : `${text.charAt(0).toUpperCase()}${text.slice(1)}${text.endsWith('.') ? '' : '.'}`;
}
