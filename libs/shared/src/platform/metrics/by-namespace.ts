import type { Registry } from 'prom-client';
import { counter } from './registry.ts';

/** No namespace has this name. Where the number of series by namespace is bounded, it stands for all further namespaces. */
export const OTHER_NAMESPACES = '_other';

/** The most namespaces that a process counts by name: whoever may create namespaces could otherwise fill its memory. */
export const MOST_COUNTED_NAMESPACES = 1_000;

export interface NamespaceCounter {
  inc(labels: { readonly success: 'true' | 'false'; readonly namespace: string }): void;
}

/** stakater/Reloader's count by namespace, for the first namespaces that have a reload, and for the others together. */
export function countByNamespace(registry: Registry): NamespaceCounter {
  const namespaces = new Set<string>();
  const counted = counter(registry, {
    name: 'reloader_reload_executed_total_by_namespace',
    help: `Reloads, by success and namespace. Namespaces after the first ${MOST_COUNTED_NAMESPACES} are counted as ${OTHER_NAMESPACES}.`,
    labels: { success: [], namespace: [] },
  });
  return {
    inc: ({ success, namespace }) => {
      if (namespaces.size < MOST_COUNTED_NAMESPACES) namespaces.add(namespace);
      counted.inc({ success, namespace: namespaces.has(namespace) ? namespace : OTHER_NAMESPACES });
    },
  };
}
