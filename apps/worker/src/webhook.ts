import { GONE, type Announced } from '@reroll/shared/catalog/announced';
import { markerType } from '@reroll/shared/core/marker/marker-type';
import { partsOf, type SourceId, type SourceKey } from '@reroll/shared/core/model';
import type { Logger } from '@reroll/shared/platform/logging';
import type { Notifications } from '@reroll/shared/queue/notifications';
import type { SourceAbsence, SourceNow } from './source-reader.ts';

export interface WebhookContext {
  readonly notifications: Notifications;
  readonly announced: Announced;
  readonly log: Logger;
}

/** `--webhook-url`: what a change leads to instead of reloads. */
export class Webhook {
  readonly #context: WebhookContext;

  constructor(context: WebhookContext) {
    this.#context = context;
  }

  /**
   * Announces a change, once: a job that is repeated finds the state that it announced. Rejects with ioredis'
   * error; to be repeated then.
   */
  async changed(source: SourceKey, now: SourceNow | SourceAbsence): Promise<void> {
    const { notifications, announced, log } = this.#context;
    if (now === 'SourceNotWatched') return;
    const state = now === 'SourceAbsent' ? GONE : now.hash;
    const last = await announced.last(source);
    if (last === state) return;
    await notifications.enqueueWebhook(source, eventOf(state, last));
    await announced.put(source, state);
    const { kind, name, namespace } = partsOf(source) as SourceId;
    log.info(
      `Changes detected in '${name}' of type '${markerType(kind)}' in namespace '${namespace}', Sending webhook`,
      { source },
    );
  }
}

/** What was announced as gone and is there is new. Otherwise the watcher knew it before, or it would not be a change. */
function eventOf(state: string, last: string | null): 'create' | 'update' | 'delete' {
  if (state === GONE) return 'delete';
  return last === GONE ? 'create' : 'update';
}
