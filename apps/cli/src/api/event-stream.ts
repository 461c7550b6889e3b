import { setTimeout as sleep } from 'node:timers/promises';
import { EVENTS, type EventName } from '@reroll/shared/api/events';
import { Backoff } from '@reroll/kube/client/backoff';
import { KubeError } from '@reroll/kube/client/errors';
import { createParser, type EventSourceMessage } from 'eventsource-parser';
import type { z } from 'zod';
import { CliError } from '../errors.ts';
import type { AdminApi } from './admin-api.ts';
import { isOfAdmin, networkReason, problemError, wayError } from './answer-error.ts';
import { readAs } from './operation.ts';

/** One server-sent event, read by its schema. */
export type AdminEvent = {
  [Name in EventName]: {
    readonly event: Name;
    readonly id: string;
    readonly data: z.output<(typeof EVENTS)[Name]>;
  };
}[EventName];

export interface EventStreamOptions {
  readonly api: AdminApi;
  readonly namespace?: string | undefined;
  readonly signal: AbortSignal;
  /** Called when the connection is made, for the first time or again. */
  readonly onConnected: (again: boolean) => void;
  /** Called when the connection breaks; the stream resumes where it was. */
  readonly onLost: (why: string) => void;
}

/** Milliseconds: three heartbeats of the server. */
const SILENCE_MS = 45_000;

/**
 * The admin's events as they happen, until the signal fires. A connection that breaks or is silent is made again and
 * resumes by `Last-Event-ID`. A refusal by the admin ends the stream with a `CliError`.
 */
export async function* adminEvents(options: EventStreamOptions): AsyncGenerator<AdminEvent, void, undefined> {
  const backoff = new Backoff({ baseMs: 500, maxMs: 10_000 });
  const position = { id: '' };
  let again = false;
  while (!options.signal.aborted) {
    try {
      const body = await connect(options, position.id);
      options.onConnected(again);
      again = true;
      for await (const event of eventsOf(body, position)) {
        backoff.reset();
        yield event;
      }
      if (!options.signal.aborted) options.onLost('the connection ended');
    } catch (error) {
      if (options.signal.aborted) return;
      options.onLost(lossOf(error, again));
    }
    await sleep(backoff.next(), undefined, { signal: options.signal }).catch(() => undefined);
  }
}

/** Why the connection is lost. @throws what ends the stream, as does any error of the first connection */
function lossOf(error: unknown, again: boolean): string {
  if (again && error instanceof CliError && error.status === 'network')
    return [error.message, ...error.hints].join(': ');
  if (!(error instanceof Lost)) throw error;
  if (again) return error.message;
  throw new CliError(error.message);
}

/** Thrown for a connection that can be made again. */
class Lost extends Error {}

async function connect(
  { api, namespace }: EventStreamOptions,
  lastId: string,
): Promise<AsyncIterable<Buffer>> {
  const headers = { accept: 'text/event-stream', ...(lastId === '' ? {} : { 'last-event-id': lastId }) };
  const query = namespace === undefined ? {} : { namespace };
  const answer = await api.stream('streamEvents', query, headers).catch((error: unknown) => {
    throw error instanceof KubeError ? new Lost(networkReason(error)) : error;
  });
  if (answer.status === 200) return answer.body;
  const text = await textOf(answer.body);
  const isRefusal =
    isOfAdmin(answer.status, answer.contentType) && answer.status < 500 && answer.status !== 429;
  throw isRefusal ? problemError(answer.status, text) : new Lost(wayError(answer.status, text));
}

async function textOf(body: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of body) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

async function* eventsOf(
  body: AsyncIterable<Buffer>,
  position: { id: string },
): AsyncGenerator<AdminEvent, void, undefined> {
  const waiting: EventSourceMessage[] = [];
  const parser = createParser({
    onEvent: (event) => waiting.push(event),
    // Heartbeats have an id too: how far the server has read, even without events.
    onId: (id) => (position.id = id),
  });
  const decoder = new TextDecoder();
  for await (const chunk of withoutSilence(body)) {
    parser.feed(decoder.decode(chunk, { stream: true }));
    for (const message of waiting.splice(0)) {
      const event = adminEvent(message);
      if (event !== undefined) yield event;
    }
  }
}

/** Undefined for an event of a type that this version does not know. */
function adminEvent({ event = '', id = '', data }: EventSourceMessage): AdminEvent | undefined {
  if (!Object.hasOwn(EVENTS, event)) return undefined;
  const name = event as EventName;
  return { event: name, id, data: readAs(EVENTS[name], data, `event ${name}`) } as AdminEvent;
}

async function* withoutSilence(body: AsyncIterable<Buffer>): AsyncGenerator<Buffer, void, undefined> {
  const chunks = body[Symbol.asyncIterator]();
  try {
    for (;;) {
      const next = await nextWithin(chunks, SILENCE_MS);
      if (next.done === true) return;
      yield next.value;
    }
  } finally {
    // Not awaited: it ends only when the connection sends something again.
    chunks.return?.().catch(() => undefined);
  }
}

async function nextWithin(
  chunks: AsyncIterator<Buffer>,
  milliseconds: number,
): Promise<IteratorResult<Buffer>> {
  const timer = new AbortController();
  const silence = sleep(milliseconds, undefined, { signal: timer.signal }).then(
    () => {
      throw new Lost('the connection was silent');
    },
    () => undefined,
  );
  try {
    const next = chunks.next().catch((error: unknown) => {
      throw new Lost(`the connection broke (${codeOf(error)})`);
    });
    return (await Promise.race([next, silence])) as IteratorResult<Buffer>;
  } finally {
    timer.abort();
  }
}

function codeOf(error: unknown): string {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === 'string' ? code : 'unknown reason';
}
