import { GONE, type Notified } from '@reroll/redis/history/notified';
import type { Catalog } from '@reroll/redis/catalog/catalog';
import type { SourceRow } from '@reroll/core/state/rows';
import { markerType } from '@reroll/core/marker/marker-type';
import { partsOf, type SourceKey } from '@reroll/core/model';
import type { Logger } from '@reroll/shared/platform/logging/logging';
import { NotificationsFullError, type Notifications } from '@reroll/redis/queue/notifications';
import type { WorkerMetrics } from '@reroll/shared/platform/metrics/worker';
import type { SourceAbsence, SourceNow } from '../change/source-reader.ts';

export interface WebhookContext {
  readonly notifications: Pick<Notifications, 'enqueueWebhook'>;
  readonly notified: Pick<Notified, 'last' | 'put'>;
  readonly catalog: Pick<Catalog, 'sources'>;
  /** Whether deletions are posted (`--reload-on-delete`). */
  readonly deletions: boolean;
  readonly metrics: Pick<WorkerMetrics, 'notifications'>;
  readonly log: Logger;
}

/** Posts changes to `--webhook-url` instead of reloading workloads. */
export class Webhook {
  readonly #context: WebhookContext;

  constructor(context: WebhookContext) {
    this.#context = context;
  }

  /**
   * Enqueues a notification of a change, once: a repeated job finds the state that it already notified of. Like
   * stakater/Reloader, it reports creations and deletions only with `--reload-on-create` and `--reload-on-delete`; the
   * row says whether a creation counts. One that is not taken, because too many wait, is logged and counted. Rejects with ioredis'
   * error; the job must then be repeated.
   */
  async changed(source: SourceKey, now: SourceNow | SourceAbsence): Promise<void> {
    const { notifications, notified, catalog, deletions, log } = this.#context;
    if (now === 'SourceNotWatched' || (now === 'SourceAbsent' && !deletions)) return;
    const row = (await catalog.sources([source])).get(source);
    const { event, state } = now === 'SourceAbsent' ? DELETED : written(now.hash, row);
    if ((await notified.last(source)) === state) return;
    try {
      await notifications.enqueueWebhook(source, event);
    } catch (error) {
      if (error instanceof NotificationsFullError) return this.#lost(source, error);
      throw error;
    }
    await notified.put(source, state);
    const { kind, name, namespace } = partsOf(source);
    log.info(
      `Changes detected in '${name}' of type '${markerType(kind)}' in namespace '${namespace}', Sending webhook`,
      { source },
    );
  }

  #lost(source: SourceKey, error: NotificationsFullError): void {
    const { metrics, log } = this.#context;
    metrics.notifications.inc({ type: 'webhook', result: 'lost' });
    log.failure('cannot enqueue a webhook', error, { source });
  }
}

interface ChangeEvent {
  readonly event: 'create' | 'update' | 'delete';
  /** Equal for equal events, so that each is posted once. */
  readonly state: string;
}

const DELETED: ChangeEvent = { event: 'delete', state: GONE };

/** A source that still has the data of its creation counts as created, even if an earlier one had the same data. */
function written(hash: string, row: SourceRow | undefined): ChangeEvent {
  return row?.created
    ? { event: 'create', state: `${hash}@${row.dataRv}` }
    : { event: 'update', state: hash };
}
