import { useEffect, useRef, useState } from 'preact/hooks';
import { call, CallError, type CallRequest } from './api/client.ts';
import { Asking } from './asking.ts';
import type { Answer, CallId } from './api/calls.ts';
import { news, pulse, slowNews } from './state/live.ts';
import { token } from './state/session.ts';

/** An answer, as far as it is there. After a refresh that failed, `data` is what was known before. */
export interface Answered<Data> {
  readonly data: Data | undefined;
  /** When `data` came. */
  readonly knownAt: Date | undefined;
  readonly error: CallError | undefined;
  readonly refresh: () => void;
}

/** When to ask again: with the news of the stream, with them but less often, every ten seconds, with news and then, or never. */
export type Freshness = 'news' | 'slow' | 'pulse' | 'both' | 'once';

interface Known<Data> {
  readonly data: Data;
  readonly at: Date;
}

interface Held<Data> {
  readonly key: string;
  readonly known: Known<Data> | undefined;
  readonly error: CallError | undefined;
}

/** Asks when the component appears, when what it asks for changes, and as `freshness` says. */
export function useAnswer<Id extends CallId>(
  id: Id,
  request: CallRequest = {},
  freshness: Freshness = 'news',
): Answered<Answer<Id>> {
  const key = JSON.stringify([id, request]);
  return useAsked(key, (signal) => call(id, request, signal), freshness);
}

/** The same for any question: `question` identifies it. */
export function useAsked<Data>(
  question: string,
  ask: (signal: AbortSignal) => Promise<Data>,
  freshness: Freshness,
): Answered<Data> {
  const key = JSON.stringify([question, token.value]);
  const [held, setHeld] = useState<Held<Data>>({ key, known: undefined, error: undefined });
  const asking = useRef<Asking<Data> | undefined>(undefined);
  const beat = beatOf(freshness);
  const isFirst = useRef(true);

  useEffect(() => {
    const mine = new Asking<Data>({
      call: ask,
      onData: (data) => setHeld({ key, known: { data, at: new Date() }, error: undefined }),
      onError: (thrown) => {
        const error = asCallError(thrown);
        setHeld((before) => ({ key, known: kept(before, key, error), error }));
      },
    });
    asking.current = mine;
    isFirst.current = true;
    mine.ask();
    return () => mine.stop();
  }, [key]);

  useEffect(() => {
    // The effect above has just asked, and a caller that switches to `once` already has the answer.
    if (!isFirst.current && freshness !== 'once') asking.current?.ask();
    isFirst.current = false;
  }, [key, beat]);

  const isOfThis = held.key === key;
  return {
    data: isOfThis ? held.known?.data : undefined,
    knownAt: isOfThis ? held.known?.at : undefined,
    error: isOfThis ? held.error : undefined,
    refresh: () => asking.current?.refresh(),
  };
}

function beatOf(freshness: Freshness): string {
  switch (freshness) {
    case 'once':
      return '';
    case 'news':
      return `${news.value}`;
    case 'slow':
      return `${slowNews.value}`;
    case 'pulse':
      return `${pulse.value}`;
    default:
      return `${news.value} ${pulse.value}`;
  }
}

/** What was known stays on the page when there was no answer; not when the answer was that there is no such thing. */
function kept<Data>(before: Held<Data>, key: string, error: CallError): Known<Data> | undefined {
  const isGone = [401, 403, 404].includes(error.status);
  return before.key === key && !isGone ? before.known : undefined;
}

export function asCallError(error: unknown): CallError {
  return error instanceof CallError ? error : new CallError(0, { title: 'The answer could not be read' });
}
