import type { NamespacesAsked } from '../history/namespaces-asked.ts';
import { endOfNamespace, type Place } from './key-index.ts';

interface NamespaceList {
  readonly items: { readonly name: string }[];
  /** The namespace after which the next page begins; undefined: this is the last one. */
  readonly last: string | undefined;
}

interface NamespaceQuery {
  readonly name?: string | undefined;
  readonly limit: number;
  /** Only namespaces after this one. */
  readonly after?: string | undefined;
}

/** The first `limit` namespaces of several sorted lists of places that the caller sees, with this part in their names. */
export async function listNamespaces(
  { name = '', limit, after = '' }: NamespaceQuery,
  lists: readonly (readonly Place[])[],
  namespaces: NamespacesAsked,
): Promise<NamespaceList> {
  const items: { name: string }[] = [];
  let last = after;
  for (const namespace of namespacesOf(lists, after)) {
    if (!namespace.includes(name)) continue;
    const sees = await namespaces.sees(namespace);
    if (sees === undefined || (sees && items.length === limit)) return { items, last };
    if (sees) items.push({ name: namespace });
    last = namespace;
  }
  return { items, last: undefined };
}

/** Each once, in the order of the places. */
function* namespacesOf(lists: readonly (readonly Place[])[], after: string): Generator<string> {
  let last = after;
  for (;;) {
    const [next] = lists.flatMap((places) => places[endOfNamespace(places, last)] ?? []).sort();
    if (next === undefined) return;
    last = next.slice(0, next.indexOf('/'));
    yield last;
  }
}
