import type { SourceName } from './rows.ts';

const NO_NAMES: readonly SourceName[] = [];
const FEW = 8;

/** Returns a membership test that stays fast with many names, which a tenant can create. */
export function among(names: readonly SourceName[] = NO_NAMES): (name: SourceName) => boolean {
  if (names.length <= FEW) return (name) => names.includes(name);
  const all = new Set(names);
  return (name) => all.has(name);
}
