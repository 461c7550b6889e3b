import type { SourceKind } from '@reroll/core/model';
import { configMap } from './config-map.ts';
import type { SourceKindDefinition } from './definition.ts';
import { secret } from './secret.ts';

/** Every kind of source that is watched, in the order in which they are listed and reported. */
export const SOURCE_DEFINITIONS: readonly SourceKindDefinition[] = [configMap, secret];

const BY_KIND: ReadonlyMap<SourceKind, SourceKindDefinition> = new Map(
  SOURCE_DEFINITIONS.map((definition) => [definition.kind, definition]),
);

/** Returns the definition of a kind; undefined if it is not watched. */
export function sourceKind(kind: SourceKind): SourceKindDefinition | undefined {
  return BY_KIND.get(kind);
}
