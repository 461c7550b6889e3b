import { namespaceOf, type Key } from '@reroll/core/model';
import { labelSelectorText, type LabelSelector } from '@reroll/core/label-selector';
import { isWithin, type Scope } from '@reroll/core/state/listed';
import type { SourceKindDefinition } from '@reroll/kube/sources/definition';
import type { WatcherOptions } from '@reroll/shared/platform/options/parsing/table';
import type { KubeClient } from '@reroll/kube/client/connection';
import { collectionPath, NAMESPACES } from '@reroll/kube/objects';
import { Reflector } from '@reroll/kube/reflector/reflector';
import type { Stream } from './stream-group.ts';
import type { StreamReports } from './stream-reports.ts';
import { WholeList } from '@reroll/kube/reflector/whole-list';

interface Scoped {
  readonly options: WatcherOptions;
}

/** The selector by which namespaces are chosen; undefined if there is none or `--namespaces` names them. */
export function chosenByLabels({ namespaces, namespaceSelector }: WatcherOptions): LabelSelector | undefined {
  return namespaces.length === 0 ? namespaceSelector : undefined;
}

/** The selectors of a stream of sources, by which the API server leaves out what is ignored. */
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

/** Whether a stream of this scope would show the object if it existed. */
export function isWatched({ options }: Scoped, scope: Scope, key: Key<string>): boolean {
  const ignored = scope.namespace === '' && options.namespacesToIgnore.includes(namespaceOf(key));
  return !ignored && isWithin(scope, key);
}

const KIND = 'Namespace';

export interface SelectedNamespacesContext {
  readonly client: KubeClient;
  readonly options: Pick<WatcherOptions, 'namespacesToIgnore'>;
  readonly reports: StreamReports;
  readonly selector: LabelSelector;
  /** Called when the set may have changed. */
  readonly onChange: () => void;
}

/**
 * The namespaces that match `--namespace-selector`, without the ignored ones. A watch with a selector reports a removed
 * label as a deletion, and both mean the same here. While the API server is unreachable, the set stays as it is.
 */
export class SelectedNamespaces {
  readonly names = new Set<string>();
  /** Whether the first list is complete. */
  isListed = false;
  readonly stream: Stream;

  constructor({ client, options, reports, selector, onChange }: SelectedNamespacesContext) {
    const { namespacesToIgnore: ignored } = options;
    this.stream = new Reflector<{ key: string }>({
      client,
      path: collectionPath(NAMESPACES),
      labelSelector: labelSelectorText(selector),
      fieldSelector:
        ignored.length === 0 ? undefined : ignored.map((name) => `metadata.name!=${name}`).join(','),
      convert: ({ metadata }) => ({ key: `${KIND}/${metadata.name}` }),
      handler: new WholeList(KIND, {
        replace: ({ objects, unread }) => {
          this.#replace([...objects.map(({ key }) => key), ...unread]);
          onChange();
        },
        upsert: ({ key }) => {
          this.names.add(nameIn(key));
          onChange();
        },
        delete: ({ key }) => {
          this.names.delete(nameIn(key));
          onChange();
        },
      }),
      hooks: reports.hooks(KIND, ''),
    });
  }

  #replace(keys: readonly string[]): void {
    const names = new Set(keys.map(nameIn));
    for (const name of this.names) if (!names.has(name)) this.names.delete(name);
    for (const name of names) this.names.add(name);
    this.isListed = true;
  }
}

function nameIn(key: string): string {
  return key.slice(KIND.length + 1);
}
