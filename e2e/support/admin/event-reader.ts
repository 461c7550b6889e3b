import { createParser, type EventSourceMessage } from 'eventsource-parser';
import { EVENTS, type EventName } from '@reroll/shared/api/events';
import type { Asked } from './admin-api.ts';
import type { AdminApi } from './admin-api.ts';
import { cleanUp } from '../cleanup.ts';
import { eventually } from '../wait.ts';

export interface ServerEvent {
  readonly name: EventName;
  readonly id: string;
  readonly data: Record<string, unknown>;
}

/** A client of `GET /events`. Each event is held against its schema. It is closed with the test, or with the file. */
export class EventReader {
  readonly events: ServerEvent[] = [];
  /** Of what came last, heartbeats included. */
  lastId = '';
  isEnded = false;
  /** Resolves when the server has ended it. */
  readonly ended: Promise<void>;
  readonly #stop: AbortController;

  private constructor(body: ReadableStream<Uint8Array>, stop: AbortController) {
    this.#stop = stop;
    this.ended = this.#read(body)
      .catch(() => undefined)
      .finally(() => {
        this.isEnded = true;
      });
  }

  /** Resolves when the server has begun to send. */
  static async open(
    api: AdminApi,
    asked: Asked<'streamEvents'> & { lastEventId?: string } = {},
  ): Promise<EventReader> {
    const stop = new AbortController();
    cleanUp(() => stop.abort());
    const { lastEventId, ...rest } = asked;
    const headers = lastEventId === undefined ? {} : { 'last-event-id': lastEventId };
    const response = await api.request('streamEvents', { ...rest, headers });
    if (response.status !== 200 || !response.body)
      throw new Error(`expected a stream, given ${response.status}: ${await response.text()}`);
    const reader = new EventReader(response.body as ReadableStream<Uint8Array>, stop);
    await eventually(() => reader.lastId !== '', { what: 'the stream to begin' });
    return reader;
  }

  named(name: EventName): ServerEvent[] {
    return this.events.filter((event) => event.name === name);
  }

  close(): void {
    this.#stop.abort();
  }

  async #read(body: ReadableStream<Uint8Array>): Promise<void> {
    const parser = createParser({ onEvent: (message) => this.#take(message) });
    const decoder = new TextDecoder();
    const reader = body.getReader();
    this.#stop.signal.addEventListener('abort', () => void reader.cancel().catch(() => undefined));
    for (;;) {
      // oxlint-disable-next-line no-await-in-loop -- piece after piece
      const { done, value } = await reader.read();
      if (done) return;
      const text = decoder.decode(value, { stream: true });
      this.lastId = /^id: (.+)$/mu.exec(text.slice(text.lastIndexOf('id: ')))?.[1] ?? this.lastId;
      parser.feed(text);
    }
  }

  #take({ event, id = '', data }: EventSourceMessage): void {
    const name = event as EventName;
    const parsed = EVENTS[name].parse(JSON.parse(data)) as Record<string, unknown>;
    this.events.push({ name, id, data: parsed });
  }
}

/** As `lastEventId`: after everything that the history holds now. Only an admin can seal one, so a stream is asked for it. */
export async function presentEventId(api: AdminApi): Promise<string> {
  const reader = await EventReader.open(api);
  reader.close();
  return reader.lastId;
}
