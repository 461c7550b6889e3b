import { labelSelectorText, type LabelSelector } from '@reroll/core/label-selector';
import type { KubeClient } from '@reroll/kube/client/connection';
import { collectionPath } from '@reroll/kube/objects';
import { Reflector } from '@reroll/kube/reflector/reflector';
import type { WatcherOptions } from '@reroll/shared/platform/options/parsing/table';
import type { Stream } from './stream-group.ts';
import type { StreamReports } from './stream-reports.ts';
import { WholeList } from './whole-list.ts';

const NAMESPACES = { group: '', version: 'v1', plural: 'namespaces' };
const KIND = 'Namespace';

export interface SelectedNamespacesContext {
  readonly client: KubeClient;
  readonly options: Pick<WatcherOptions, 'namespacesToIgnore'>;
  readonly reports: StreamReports;
  readonly selector: LabelSelector;
  /** The set may be another one now. */
  readonly onChange: () => void;
}

/**
 * The namespaces that have the labels of `--namespace-selector`, but those to ignore. To a stream with a selector
 * a label that is taken away is a deletion; here both are the same. While the API server cannot be asked the set
 * stays as it was.
 */
export class SelectedNamespaces {
  readonly names = new Set<string>();
  /** Whether they were all told once. */
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
