import { useEffect, useRef, useState } from 'preact/hooks';
import { call, CallError, type CallRequest } from './api/client.ts';
import type { Answer, CallId } from './api/calls.ts';
import { news, pulse } from './state/live.ts';
import { token } from './state/session.ts';

/** An answer, as far as it is there. After a refresh that failed, `data` is what was known before. */
export interface Answered<Data> {
  readonly data: Data | undefined;
  readonly error: CallError | undefined;
  readonly refresh: () => void;
}

/** When to ask again: with the news of the stream, every ten seconds too, or never. */
export type Freshness = 'news' | 'pulse' | 'once';

interface Held<Data> {
  readonly key: string;
  readonly data: Data | undefined;
  readonly error: CallError | undefined;
}

/** Asks when the component appears, when what it asks for changes, and as `freshness` says. */
export function useAnswer<Id extends CallId>(
  id: Id,
  request: CallRequest = {},
  freshness: Freshness = 'news',
): Answered<Answer<Id>> {
  const key = JSON.stringify([id, request, token.value]);
  const [held, setHeld] = useState<Held<Answer<Id>>>({ key, data: undefined, error: undefined });
  const [asked, setAsked] = useState(0);
  const newest = useRef({ key, started: 0, taken: 0 });
  const beat = beatOf(freshness);

  useEffect(() => {
    const mine = turnOf(newest.current, key);
    const take = (answer: Pick<Held<Answer<Id>>, 'data' | 'error'>): void => {
      if (newest.current.key !== key || mine <= newest.current.taken) return;
      newest.current.taken = mine;
      setHeld((before) => ({
        key,
        error: answer.error,
        data: answer.data ?? kept(before, key, answer.error),
      }));
    };
    call(id, request).then(
      (data) => take({ data, error: undefined }),
      (error: unknown) => take({ data: undefined, error: asCallError(error) }),
    );
  }, [key, beat, asked]);

  // An answer of a component that has gone, or asks for something else now, is dropped.
  useEffect(() => () => void (newest.current.key = ''), []);

  const isOfThis = held.key === key;
  return {
    data: isOfThis ? held.data : undefined,
    error: isOfThis ? held.error : undefined,
    refresh: () => setAsked((count) => count + 1),
  };
}

function beatOf(freshness: Freshness): string {
  if (freshness === 'once') return '';
  return freshness === 'news' ? `${news.value}` : `${news.value} ${pulse.value}`;
}

/** The number of this request among those of the component. */
function turnOf(newest: { key: string; started: number }, key: string): number {
  newest.key = key;
  newest.started += 1;
  return newest.started;
}

/** What was known stays on the page when there was no answer; not when the answer was that there is no such thing. */
function kept<Data>(before: Held<Data>, key: string, error: CallError | undefined): Data | undefined {
  const isGone = error !== undefined && [401, 403, 404].includes(error.status);
  return before.key === key && !isGone ? before.data : undefined;
}

function asCallError(error: unknown): CallError {
  return error instanceof CallError ? error : new CallError(0, { title: 'The answer could not be read' });
}
