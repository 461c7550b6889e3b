import { randomBytes } from 'node:crypto';
import { cutName } from '@reroll/core/cut-name';
import { oneLine } from '@reroll/core/one-line';
import type { SourceId, SourceKind } from '@reroll/core/model';
import { NamespaceTurns } from '@reroll/core/state/namespace-turns';
import { pause, systemClock, type Clock } from './client/clock.ts';
import type { KubeClient } from './client/connection.ts';
import { networkError } from './client/errors.ts';
import { collectionPath } from './objects.ts';

export const EVENTS = { group: '', version: 'v1', plural: 'events' };

/** The subject of an event: a workload, a source, or the watchers' Lease. */
export interface EventSubject {
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly apiVersion: string;
  readonly uid: string;
  readonly resourceVersion?: string | undefined;
}

/** A reload that was done, or that failed for good (with Reroll's reason, never a server's text). */
export interface ReloadEvent {
  readonly source: SourceId;
  readonly workload: EventSubject;
  readonly failure?: string | undefined;
}

/** A manual reload, which has no source. */
export interface RequestedEvent {
  readonly workload: EventSubject;
  /** The user's reason, verbatim. The user's name is only in the audit log. */
  readonly requestReason: string;
  readonly failure?: string | undefined;
}

/** A problem of a workload that its owner should fix. */
export interface WarningEvent {
  readonly workload: EventSubject;
  /** CamelCase, e.g. `InvalidAnnotation`. */
  readonly reason: string;
  readonly note: string;
}

type AnyEvent = ReloadEvent | RequestedEvent | WarningEvent;

export interface EventRecorderOptions {
  readonly client: Pick<KubeClient, 'post'>;
  /** The reporter, e.g. the pod's name. */
  readonly instance: string;
  /** The most waiting events; beyond it the oldest of the namespace with the most is dropped. Default 10,000. */
  readonly maxWaiting?: number | undefined;
  /** The most requests at a time. Default 2. */
  readonly concurrency?: number | undefined;
  /** Whether more important work is waiting: the next event then waits for it, at most ten seconds. Default: never. */
  readonly isBusy?: (() => boolean) | undefined;
  /** Called once for each event with its result. */
  readonly onResult?: ((result: 'posted' | 'failed' | 'dropped') => void) | undefined;
  readonly clock?: Clock | undefined;
}

/** stakater/Reloader's names, which users filter by: the reporting component, and the type in the text. */
const NAMES: Readonly<Record<SourceKind, { component: string; type: string }>> = {
  ConfigMap: { component: 'reloader-configmaps', type: 'CONFIGMAP' },
  Secret: { component: 'reloader-secrets', type: 'SECRET' },
  SecretProviderClass: {
    component: 'reloader-secretproviderclasspodstatuses',
    type: 'SECRETPROVIDERCLASS',
  },
};

const POST_TIMEOUT_MS = 5000;
const RETRY_DELAY_MS = 1000;
const MAX_NAME = 200;
/** How long an event waits for more important work, and how often it checks. */
const MAX_YIELD_MS = 10_000;
const YIELD_MS = 50;

function textOf(event: ReloadEvent | RequestedEvent): string {
  const { workload, failure } = event;
  const subject = `'${workload.name}' of type '${workload.kind}' in namespace '${workload.namespace}'`;
  if ('requestReason' in event) {
    const asked = `Reload requested (${JSON.stringify(oneLine(event.requestReason, MAX_WORDS))})`;
    return failure === undefined
      ? `${asked}, Updated ${subject}`
      : `${asked}, Update for ${subject} failed with error ${failure}`;
  }
  if (failure !== undefined) return `Update for ${subject} failed with error ${failure}`;
  const { source } = event;
  const changed = `'${source.name}' of type '${NAMES[source.kind].type}' in namespace '${source.namespace}'`;
  return `Changes detected in ${changed}, Updated ${subject}`;
}

/** An Event's name must be unique in its namespace and a DNS subdomain. */
function eventName(workload: string): string {
  return `${cutName(workload, MAX_NAME)}.${randomBytes(8).toString('hex')}`;
}

/** The reporting component of events without a source. */
const COMPONENT = 'reroll';
/** The API server refuses longer notes. */
const MAX_NOTE = 1024;
/** The most characters of a user's reason that the API accepts. */
const MAX_WORDS = 200;

interface Saying {
  readonly component: string;
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  readonly message: string;
}

function sayingOf(event: AnyEvent): Saying {
  if ('note' in event) {
    return {
      component: COMPONENT,
      type: 'Warning',
      reason: event.reason,
      message: event.note.slice(0, MAX_NOTE),
    };
  }
  const component = 'source' in event ? NAMES[event.source.kind].component : COMPONENT;
  const done = event.failure === undefined;
  const reason = done ? 'Reloaded' : 'ReloadFail';
  const message = textOf(event).slice(0, MAX_NOTE);
  return { component, type: done ? 'Normal' : 'Warning', reason, message };
}

interface Waiting {
  readonly event: AnyEvent;
  /** RFC 3339, seconds. */
  readonly time: string;
  /** By the recorder's clock. */
  readonly since: number;
}

function bodyOf({ event, time }: Waiting, instance: string): unknown {
  const { workload } = event;
  const { component, type, reason, message } = sayingOf(event);
  return {
    apiVersion: 'v1',
    kind: 'Event',
    metadata: { name: eventName(workload.name), namespace: workload.namespace },
    involvedObject: {
      apiVersion: workload.apiVersion,
      kind: workload.kind,
      namespace: workload.namespace,
      name: workload.name,
      uid: workload.uid,
      resourceVersion: workload.resourceVersion,
    },
    type,
    reason,
    message,
    source: { component },
    reportingComponent: component,
    reportingInstance: instance,
    firstTimestamp: time,
    lastTimestamp: time,
    count: 1,
  };
}

/**
 * Posts Kubernetes Events in the background: `record` returns at once, and a slow or refusing API server costs events, never a
 * reload. Each event is tried at most twice. Namespaces take turns.
 */
export class EventRecorder {
  readonly #options: EventRecorderOptions;
  readonly #clock: Clock;
  readonly #closing = new AbortController();
  /** By the namespace and the number of the event. */
  readonly #waiting = new NamespaceTurns<`Event/${string}/${number}`, Waiting>();
  /** Taken from these, and waiting for other work. */
  #next: Waiting | undefined;
  #recorded = 0;
  #active = 0;
  #cancelYield: (() => void) | undefined;
  #whenIdle: (() => void) | undefined;

  constructor(options: EventRecorderOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
  }

  /** Events not yet posted, including those being sent. */
  get pending(): number {
    return this.#waiting.size + (this.#next ? 1 : 0) + this.#active;
  }

  record(event: AnyEvent): void {
    if (this.#closing.signal.aborted) {
      this.#done('dropped');
      return;
    }
    const time = new Date().toISOString().replace(/\.\d+Z$/, 'Z');
    this.#recorded += 1;
    const key = `Event/${event.workload.namespace}/${this.#recorded}` as const;
    this.#waiting.put(key, { event, time, since: this.#clock.now() });
    if (this.#waiting.size > (this.#options.maxWaiting ?? 10_000)) {
      this.#waiting.dropFromLargest();
      this.#done('dropped');
    }
    this.#fill();
  }

  /** Waits until everything is posted, at most `timeoutMs`. Then drops the rest and accepts no more. */
  async flush(timeoutMs: number): Promise<void> {
    if (this.pending > 0) await this.#idleWithin(timeoutMs);
    this.#cancelYield?.();
    this.#closing.abort();
    while (this.#take()) this.#done('dropped');
  }

  #idleWithin(timeoutMs: number): Promise<void> {
    return new Promise((resolve) => {
      const cancel = this.#clock.after(timeoutMs, resolve);
      this.#whenIdle = () => {
        cancel();
        resolve();
      };
      this.#fill();
    });
  }

  #fill(): void {
    while (this.#active < (this.#options.concurrency ?? 2)) {
      const waiting = this.#take();
      if (!waiting) break;
      if (this.#yields(waiting)) {
        this.#next = waiting;
        break;
      }
      this.#active += 1;
      void this.#post(waiting);
    }
    if (this.pending === 0) this.#whenIdle?.();
  }

  #take(): Waiting | undefined {
    const next = this.#next ?? this.#waiting.take()?.[1];
    this.#next = undefined;
    return next;
  }

  /** Whether the next event waits for other work; it is checked again soon. */
  #yields({ since }: Waiting): boolean {
    const isBusy = this.#whenIdle === undefined && (this.#options.isBusy?.() ?? false);
    if (!isBusy || this.#clock.now() - since >= MAX_YIELD_MS) return false;
    this.#cancelYield ??= this.#clock.after(YIELD_MS, () => {
      this.#cancelYield = undefined;
      this.#fill();
    });
    return true;
  }

  /** Never rejects. */
  async #post(waiting: Waiting): Promise<void> {
    const path = collectionPath(EVENTS, waiting.event.workload.namespace);
    const body = bodyOf(waiting, this.#options.instance);
    let result = await this.#tryPost(path, body);
    if (result === 'retryable') {
      await pause(this.#clock, RETRY_DELAY_MS * (0.5 + Math.random()), this.#closing.signal);
      if (!this.#closing.signal.aborted) result = await this.#tryPost(path, body);
    }
    this.#active -= 1;
    this.#done(result === 'posted' ? 'posted' : 'failed');
    this.#fill();
  }

  async #tryPost(path: string, body: unknown): Promise<'posted' | 'failed' | 'retryable'> {
    const { signal } = this.#closing;
    try {
      await this.#options.client.post(path, body, { timeoutMs: POST_TIMEOUT_MS, signal });
      return 'posted';
    } catch (error) {
      const kubeError = networkError('event', error);
      // 409: the first attempt succeeded, but its answer was lost.
      if (kubeError.status === 409) return 'posted';
      return kubeError.retryable ? 'retryable' : 'failed';
    }
  }

  #done(result: 'posted' | 'failed' | 'dropped'): void {
    this.#options.onResult?.(result);
  }
}
