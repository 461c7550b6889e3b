import { SOURCE_KINDS, WORKLOAD_KINDS } from '@reroll/core/model';

export type Suggested = 'workload' | 'source';

const MOST = '20';
const NAMESPACE = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;

/** What the list is asked for by what was typed so far: a part of the name, or a key from its beginning. */
export function suggestQuery(of: Suggested, text: string): Record<string, string> {
  const parts = text.trim().split('/');
  const name = { name: (parts.at(-1) ?? '').slice(0, 253), limit: MOST };
  if (parts.length === 1) return name;
  const kinds: readonly string[] = of === 'source' ? SOURCE_KINDS : WORKLOAD_KINDS;
  const kind = kinds.find((each) => each === parts[0]);
  // Of two parts, the second is a namespace that is not typed to its end yet.
  if (parts.length === 2) return { limit: MOST, ...(kind === undefined ? {} : { kind }) };
  const namespace = parts[1] ?? '';
  return {
    ...name,
    ...(kind === undefined ? {} : { kind }),
    ...(NAMESPACE.test(namespace) ? { namespace } : {}),
  };
}
