import type { NamespacesAsked } from '../history/namespaces-asked.ts';
import { endOfNamespace, type Place } from './key-index.ts';

interface NamespaceList {
  readonly items: { readonly name: string }[];
  /** Whether nothing was left out that the caller may see. */
  readonly complete: boolean;
}

/** The first `limit` namespaces of several sorted lists of places that the caller sees, with this part in their names. */
export async function listNamespaces(
  { name = '', limit }: { name?: string | undefined; limit: number },
  lists: readonly (readonly Place[])[],
  namespaces: NamespacesAsked,
): Promise<NamespaceList> {
  const items: { name: string }[] = [];
  for (const namespace of namespacesOf(lists)) {
    if (!namespace.includes(name)) continue;
    const sees = await namespaces.sees(namespace);
    if (sees === undefined || (sees && items.length === limit)) return { items, complete: false };
    if (sees) items.push({ name: namespace });
  }
  return { items, complete: true };
}

/** Each once, in the order of the places. */
function* namespacesOf(lists: readonly (readonly Place[])[]): Generator<string> {
  let last = '';
  for (;;) {
    const [next] = lists.flatMap((places) => places[endOfNamespace(places, last)] ?? []).sort();
    if (next === undefined) return;
    last = next.slice(0, next.indexOf('/'));
    yield last;
  }
}
