import type { Owner, Scheduler } from '../scheduler.ts';
import type { Form, Version } from './api-object.ts';
import type { Change } from './etcd.ts';
import { apiVersionOf, type ResourceType } from './resource-types.ts';
import type { Predicate } from './selectors.ts';
import type { StatusError } from './status-error.ts';

export type EventType = 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR';

/** The client's side of the connection. */
export interface WatchSink {
  readonly isPaused: () => boolean;
  onData(chunk: Buffer): void;
  onEnd(): void;
  onError(error: Error): void;
}

/** How a watch ends: as the server ends it, or by a connection that breaks. */
export type WatchCut = 'end' | 'reset';

export interface WatchInit {
  readonly scheduler: Scheduler;
  readonly owner: Owner | undefined;
  /** The name of the server. */
  readonly server: string;
  readonly type: ResourceType;
  /** '' for all. */
  readonly namespace: string;
  readonly form: Form;
  readonly selects: Predicate;
  readonly sink: WatchSink;
  /** Milliseconds that an event takes to the client. */
  readonly latency: (watch: OpenWatch, type: EventType) => number;
}

interface Line {
  readonly text: string;
  readonly at: number;
}

/** A watch that a client has open. */
export class OpenWatch {
  readonly owner: Owner | undefined;
  readonly server: string;
  readonly type: ResourceType;
  readonly namespace: string;
  readonly #init: WatchInit;
  #lines: Line[] = [];
  #cancelFlush: (() => void) | undefined;
  #isOpen = true;
  #isSilent = false;
  readonly #whenClosed: (() => void)[] = [];

  constructor(init: WatchInit) {
    this.#init = init;
    this.owner = init.owner;
    this.server = init.server;
    this.type = init.type;
    this.namespace = init.namespace;
  }

  get isOpen(): boolean {
    return this.#isOpen && this.owner?.isAlive !== false;
  }

  /** Runs the action when the server need not know the watch any longer. */
  whenClosed(action: () => void): void {
    this.#whenClosed.push(action);
  }

  /** Breaks or ends the connection; the events on their way are lost. The client sees it at once. */
  cut(how: WatchCut): void {
    if (!this.#close()) return;
    const { scheduler, owner, sink } = this.#init;
    scheduler.after(0, owner, () => {
      if (how === 'end') sink.onEnd();
      else sink.onError(connectionError('ECONNRESET'));
    });
  }

  /** From now on nothing arrives, and the client sees no end: a half-open connection. */
  silence(): void {
    this.#isSilent = true;
    this.#lines = [];
  }

  /** The client gave up. */
  abandon(): void {
    this.#close();
  }

  /** The server ends the watch after the events that are on their way. */
  finish(): void {
    if (!this.#isOpen) return;
    this.#push('', 0);
    this.#forget();
  }

  /** Sends the object as an initial event. */
  add(version: Version): void {
    if (this.#init.selects(version.object)) this.#send('ADDED', version.json(this.#init.form));
  }

  /** Sends the change, if the watch selects it: an object that enters or leaves the selection is added or deleted. */
  change({ before, after, shown }: Change): void {
    const { selects, form } = this.#init;
    const wasSelected = before !== undefined && selects(before.object);
    const isSelected = after !== undefined && selects(after.object);
    if (isSelected) this.#send(wasSelected ? 'MODIFIED' : 'ADDED', shown.json(form));
    else if (wasSelected)
      this.#send('DELETED', (after === undefined ? shown : before.deletedAt(shown.revision)).json(form));
  }

  /** `isListEnd`: the initial events are complete. */
  bookmark(revision: number, isListEnd: boolean): void {
    const annotations = isListEnd ? { annotations: { 'k8s.io/initial-events-end': 'true' } } : {};
    const metadata = { resourceVersion: String(revision), creationTimestamp: null, ...annotations };
    const { type, form } = this.#init;
    const [kind, apiVersion] =
      form === 'metadata' ? ['PartialObjectMetadata', 'meta.k8s.io/v1'] : [type.kind, apiVersionOf(type)];
    this.#send('BOOKMARK', JSON.stringify({ kind, apiVersion, metadata }));
  }

  error(status: StatusError): void {
    this.#send('ERROR', status.json());
    this.finish();
  }

  /** Delivers what has arrived, unless the client is not ready. */
  resume(): void {
    if (this.#lines.length > 0) this.#schedule(0);
  }

  #send(type: EventType, json: string): void {
    if (!this.isOpen || this.#isSilent) return;
    this.#push(`{"type":"${type}","object":${json}}\n`, this.#init.latency(this, type));
  }

  /** Events keep their order, however long one takes. */
  #push(text: string, latency: number): void {
    const now = this.#init.scheduler.now();
    const at = Math.max(now + latency, this.#lines.at(-1)?.at ?? 0);
    this.#lines.push({ text, at });
    this.#schedule(at - now);
  }

  #schedule(delay: number): void {
    if (this.#cancelFlush !== undefined) return;
    const { scheduler, owner } = this.#init;
    this.#cancelFlush = scheduler.after(delay, owner, () => this.#flush());
  }

  #flush(): void {
    this.#cancelFlush = undefined;
    const { scheduler, sink } = this.#init;
    if (!this.#isOpen || this.#isSilent || sink.isPaused()) return;
    const due = this.#take(scheduler.now());
    const text = due.join('');
    if (text !== '') sink.onData(Buffer.from(text));
    if (due.at(-1) === '' && this.#close()) sink.onEnd();
  }

  /** Takes off what has arrived by now; the last text is '' at the end of the watch. Schedules the rest. */
  #take(now: number): string[] {
    const later = this.#lines.findIndex((line) => line.at > now);
    const due = this.#lines.splice(0, later === -1 ? Infinity : later);
    const [next] = this.#lines;
    if (next !== undefined) this.#schedule(next.at - now);
    return due.map((line) => line.text);
  }

  /** False if it was closed before. */
  #close(): boolean {
    if (!this.#isOpen) return false;
    this.#isOpen = false;
    this.#lines = [];
    this.#cancelFlush?.();
    this.#forget();
    return true;
  }

  #forget(): void {
    for (const action of this.#whenClosed.splice(0)) action();
  }
}

/** An error of the network, as the system reports it. */
export function connectionError(code: 'ECONNREFUSED' | 'ECONNRESET'): Error {
  return Object.assign(new Error(code), { code });
}
