import { labelSelectorText } from '@reroll/core/label-selector';
import type { Logger } from '@reroll/shared/platform/logging/logging';
import type { WatcherOptions } from '@reroll/shared/platform/options/parsing/table';

/** Logs what is watched, in the words that stakater/Reloader uses at its start. */
export function warnOfScope(options: WatcherOptions, log: Logger): void {
  if (options.namespaces.length === 0) warnOfAll(options, log);
  else warnOfSome(options, log);
  const { resourceLabelSelector: labels, webhookUrl, enableCsiIntegration } = options;
  if (labels !== undefined)
    log.warning(
      `resource-label-selector is set, will only detect changes on resources with these labels: ${labelSelectorText(labels)}.`,
    );
  if (webhookUrl !== undefined)
    log.warning('webhook-url is set, will only send webhook, no resources will be reloaded');
  if (!enableCsiIntegration)
    log.info('Skipping secretproviderclasspodstatuses controller: EnableCSIIntegration is disabled');
}

function warnOfAll({ namespacesToIgnore, namespaceSelector }: WatcherOptions, log: Logger): void {
  const except = namespacesToIgnore.length === 0 ? '' : ` except: ${namespacesToIgnore.join(', ')}`;
  log.warning(`KUBERNETES_NAMESPACE is unset, will detect changes in all namespaces${except}.`);
  if (namespaceSelector !== undefined)
    log.warning(
      `namespace-selector is set, will only detect changes in namespaces with these labels: ${labelSelectorText(namespaceSelector)}.`,
    );
}

function warnOfSome(options: WatcherOptions, log: Logger): void {
  const { namespaces, namespacesToIgnore, namespaceSelector } = options;
  log.info(`Watching scoped namespaces: ${namespaces.join(', ')}`);
  if (namespacesToIgnore.length > 0)
    log.warning(
      'namespaces-to-ignore is set but is only honored in global mode (watchGlobally=true); ignoring it.',
    );
  if (namespaceSelector !== undefined)
    log.warning(
      'namespace-selector is set but is only honored in global mode (watchGlobally=true); ignoring it.',
    );
}
