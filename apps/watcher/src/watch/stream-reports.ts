import type { SourceKind } from '@reroll/core/model';
import type { ReflectorHooks } from '@reroll/kube/reflector/reflector';
import type { Logger } from '@reroll/shared/platform/logging/logging';
import { resourceType } from '@reroll/shared/platform/metrics/shared';
import type { WatcherMetrics } from '@reroll/shared/platform/metrics/watcher';

const EVENT_TYPES = { ADDED: 'add', MODIFIED: 'update', DELETED: 'delete' } as const;

export class StreamReports {
  readonly #metrics: WatcherMetrics;
  readonly #log: Logger;
  readonly #isLeading: () => boolean;
  #onMissing: () => void = () => undefined;

  /** Events are counted only where `isLeading`, because standbys see the same ones. */
  constructor(metrics: WatcherMetrics, log: Logger, isLeading: () => boolean) {
    this.#metrics = metrics;
    this.#log = log;
    this.#isLeading = isLeading;
  }

  /** A copy that calls `onMissing` when the API server does not serve what a stream watches. */
  andWhenMissing(onMissing: () => void): StreamReports {
    const reports = new StreamReports(this.#metrics, this.#log, this.#isLeading);
    reports.#onMissing = onMissing;
    return reports;
  }

  /** Counts a write of a source that did not change its data. */
  unchanged(): void {
    if (!this.#isLeading()) return;
    this.#metrics.skipped.inc({ reason: 'no_data_change' });
    this.#metrics.reconcile.inc({ result: 'skipped' });
  }

  /** Counts an event of a source. stakater/Reloader counts no other events under this metric. */
  received(kind: SourceKind, type: 'list' | keyof typeof EVENT_TYPES): void {
    if (type === 'list' || !this.#isLeading()) return;
    this.#metrics.eventsReceived.inc({
      event_type: EVENT_TYPES[type],
      resource_type: resourceType(kind),
    });
  }

  /** Namespace `''` stands for all. */
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
        log.warning('list or watch failed, retrying', {
          code: error.code,
          status: error.status,
          reason: error.reason,
          message: error.message,
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
