import { GONE, type Notified } from '@reroll/redis/history/notified';
import type { Catalog } from '@reroll/redis/catalog/catalog';
import type { SourceRow } from '@reroll/core/state/rows';
import { markerType } from '@reroll/core/marker/marker-type';
import { partsOf, type SourceKey } from '@reroll/core/model';
import type { Logger } from '@reroll/shared/platform/logging/logging';
import type { Notifications } from '@reroll/redis/queue/notifications';
import type { SourceAbsence, SourceNow } from '../change/source-reader.ts';

export interface WebhookContext {
  readonly notifications: Notifications;
  readonly notified: Notified;
  readonly catalog: Pick<Catalog, 'sources'>;
  /** Whether deletions are told (`--reload-on-delete`). */
  readonly deletions: boolean;
  readonly log: Logger;
}

/** `--webhook-url`: what a change leads to instead of reloads. */
export class Webhook {
  readonly #context: WebhookContext;

  constructor(context: WebhookContext) {
    this.#context = context;
  }

  /**
   * Notifies of a change, once: a job that is repeated finds the state that it notified of. As stakater/Reloader, which
   * tells of creations and deletions only with `--reload-on-create` and `--reload-on-delete`: whether a creation
   * counts the row says. Rejects with ioredis' error; to be repeated then.
   */
  async changed(source: SourceKey, now: SourceNow | SourceAbsence): Promise<void> {
    const { notifications, notified, catalog, deletions, log } = this.#context;
    if (now === 'SourceNotWatched' || (now === 'SourceAbsent' && !deletions)) return;
    const row = (await catalog.sources([source])).get(source);
    const { event, state } = now === 'SourceAbsent' ? DELETED : written(now.hash, row);
    if ((await notified.last(source)) === state) return;
    await notifications.enqueueWebhook(source, event);
    await notified.put(source, state);
    const { kind, name, namespace } = partsOf(source);
    log.info(
      `Changes detected in '${name}' of type '${markerType(kind)}' in namespace '${namespace}', Sending webhook`,
      { source },
    );
  }
}

interface News {
  readonly event: 'create' | 'update' | 'delete';
  /** The same for the same news, so that it is told once. */
  readonly state: string;
}

const DELETED: News = { event: 'delete', state: GONE };

/** With the data that it was created with it is new, also if what was there before it had the same. */
function written(hash: string, row: SourceRow | undefined): News {
  return row?.created
    ? { event: 'create', state: `${hash}@${row.dataRv}` }
    : { event: 'update', state: hash };
}
