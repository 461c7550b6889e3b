import type { SourceKind } from '@reroll/core/model';
import type { ReflectorHooks } from '@reroll/kube/reflector/reflector';
import type { Logger } from '@reroll/shared/platform/logging/logging';
import { resourceType } from '@reroll/shared/platform/metrics/shared';
import type { WatcherMetrics } from '@reroll/shared/platform/metrics/watcher';

const EVENT_TYPES = { ADDED: 'add', MODIFIED: 'update', DELETED: 'delete' } as const;

/** What the streams tell logs and metrics. */
export class StreamReports {
  readonly #metrics: WatcherMetrics;
  readonly #log: Logger;
  readonly #isLeading: () => boolean;
  #onMissing: () => void = () => undefined;

  /** A standby sees the events that the leader sees: they are counted where `isLeading`, so once. */
  constructor(metrics: WatcherMetrics, log: Logger, isLeading: () => boolean) {
    this.#metrics = metrics;
    this.#log = log;
    this.#isLeading = isLeading;
  }

  /** The same, with what is called when the API server does not have what a stream is to follow. */
  andWhenMissing(onMissing: () => void): StreamReports {
    const reports = new StreamReports(this.#metrics, this.#log, this.#isLeading);
    reports.#onMissing = onMissing;
    return reports;
  }

  /** A write of a source that left its data as it was. */
  unchanged(): void {
    if (!this.#isLeading()) return;
    this.#metrics.skipped.inc({ reason: 'no_data_change' });
    this.#metrics.reconcile.inc({ result: 'skipped' });
  }

  /** Of a source; the incumbent's name counts no other events. */
  received(kind: SourceKind, type: 'list' | keyof typeof EVENT_TYPES): void {
    if (type === 'list' || !this.#isLeading()) return;
    this.#metrics.eventsReceived.inc({
      event_type: EVENT_TYPES[type],
      resource_type: resourceType(kind),
    });
  }

  /** Namespace `''`: all. */
  hooks(kind: string, namespace: string): ReflectorHooks {
    const log = this.#log.child(namespace === '' ? { kind } : { kind, namespace });
    return {
      onListed: ({ objects, streamed, durationMs }) => {
        log.info('listed', { objects, streamed, milliseconds: Math.round(durationMs) });
      },
      onRelist: (reason) => {
        if (reason === 'first') return;
        this.#metrics.relists.inc({ kind });
        log.warning('relisting', { reason });
      },
      onReconnect: (reason) => {
        this.#metrics.watchReconnects.inc({ kind });
        log.debug('watch resumed', { reason });
      },
      onFailure: (error, next) => {
        if (error.status === 404) this.#onMissing();
        log.warning('list or watch failed, trying again', {
          code: error.code,
          status: error.status,
          reason: error.reason,
          attempt: next.attempt,
          milliseconds: Math.round(next.delayMs),
        });
      },
      onHandlerError: ({ key, step, errorClass }) => {
        this.#metrics.handlerErrors.inc({ kind });
        log.error('cannot process an object', { object: key, step, error: errorClass });
      },
    };
  }
}
