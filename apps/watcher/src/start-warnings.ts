import type { Logger } from '@reroll/shared/platform/logging';
import type { WatcherOptions } from '@reroll/shared/platform/options/table';

/** What stakater/Reloader says at its start of what it watches, in its words. */
export function warnOfScope({ namespaces, webhookUrl }: WatcherOptions, log: Logger): void {
  if (namespaces.length === 0)
    log.warning('KUBERNETES_NAMESPACE is unset, will detect changes in all namespaces.');
  else log.info(`Watching scoped namespaces: ${namespaces.join(', ')}`);
  if (webhookUrl !== undefined)
    log.warning('webhook-url is set, will only send webhook, no resources will be reloaded');
}
