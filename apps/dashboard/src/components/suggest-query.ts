import { SOURCE_KINDS, WORKLOAD_KINDS } from '@reroll/core/model';

export type Suggested = 'workload' | 'source';

export const EXAMPLES: Readonly<Record<Suggested, string>> = {
  workload: 'Deployment/shop/web',
  source: 'Secret/shop/db',
};

const NAMESPACE = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;
const KINDS: Readonly<Record<Suggested, readonly string[]>> = {
  workload: WORKLOAD_KINDS,
  source: SOURCE_KINDS,
};

/** What a list is asked for by what was typed: a part of the name, `namespace/name`, or a key from its beginning. */
export function suggestQuery(of: Suggested, text: string): Record<string, string> {
  const parts = text.trim().split('/');
  const [first = '', second = '', third = ''] = parts;
  const isKind = KINDS[of].includes(first);
  // The second part is a namespace that is not typed to its end yet.
  if (isKind && parts.length === 2) return { kind: first };
  if (isKind && parts.length === 3) return { kind: first, ...within(second), name: nameIn(third) };
  if (parts.length === 2 && NAMESPACE.test(first)) return { namespace: first, name: nameIn(second) };
  // With a slash, it is no part of any name: nothing is found.
  return { name: nameIn(text) };
}

function within(namespace: string): Record<string, string> {
  return NAMESPACE.test(namespace) ? { namespace } : {};
}

/** Names in Kubernetes are lowercase. */
function nameIn(text: string): string {
  return text.trim().toLowerCase().slice(0, 253);
}
