import { labelSelectorText, type LabelSelector } from '@reroll/core/label-selector';
import { isWithin, type Scope } from '@reroll/core/state/listed';
import { namespaceOf } from '@reroll/core/state/rows';
import type { SourceKindDefinition } from '@reroll/kube/sources/definition';
import type { WatcherOptions } from '@reroll/shared/platform/options/parsing/table';

interface Scoped {
  readonly options: WatcherOptions;
}

/** The labels by which namespaces are chosen, if they are: names (`--namespaces`) win. */
export function chosenByLabels({ namespaces, namespaceSelector }: WatcherOptions): LabelSelector | undefined {
  return namespaces.length === 0 ? namespaceSelector : undefined;
}

/** What the API server is asked to leave out of the streams of sources. */
export function selectors(
  { options }: Scoped,
  definition: SourceKindDefinition,
  namespace: string,
): { fieldSelector: string | undefined; labelSelector: string | undefined } {
  const byType = definition.fieldSelector({ ignoredSecretTypes: options.secretTypesToIgnore });
  const byNamespace = namespaceSelector({ options }, namespace);
  const fields = [byType, byNamespace].filter((each) => each !== undefined);
  const { resourceLabelSelector: labels } = options;
  return {
    fieldSelector: fields.length === 0 ? undefined : fields.join(','),
    labelSelector: labels && labelSelectorText(labels),
  };
}

/** `metadata.namespace!=a,…` for a stream of all namespaces. */
export function namespaceSelector({ options }: Scoped, namespace: string): string | undefined {
  const { namespacesToIgnore } = options;
  if (namespace !== '' || namespacesToIgnore.length === 0) return undefined;
  return namespacesToIgnore.map((ignored) => `metadata.namespace!=${ignored}`).join(',');
}

/** Whether a stream would show the object of a key, if there were one. */
export function isWatched({ options }: Scoped, scope: Scope, key: string): boolean {
  const ignored = scope.namespace === '' && options.namespacesToIgnore.includes(namespaceOf(key));
  return !ignored && isWithin(scope, key);
}
