import type { SourceKind } from '../model.ts';

/** How a marker spells the kind of a source: in the name of its variable, and in its annotation. */
export type MarkerType = 'CONFIGMAP' | 'SECRET' | 'SECRETPROVIDERCLASS';

const TYPE_OF_KIND = {
  ConfigMap: 'CONFIGMAP',
  Secret: 'SECRET',
  SecretProviderClass: 'SECRETPROVIDERCLASS',
} as const satisfies Record<SourceKind, MarkerType>;

const KIND_OF_TYPE: ReadonlyMap<string, SourceKind> = new Map<string, SourceKind>([
  ['CONFIGMAP', 'ConfigMap'],
  ['SECRET', 'Secret'],
  ['SECRETPROVIDERCLASS', 'SecretProviderClass'],
]);

/** `ConfigMap` -> `CONFIGMAP`. */
export function markerType(kind: SourceKind): MarkerType {
  return TYPE_OF_KIND[kind];
}

/** `CONFIGMAP` -> `ConfigMap`; undefined for anything that is not a marker type, in that exact case. */
export function sourceKindOfMarkerType(type: string): SourceKind | undefined {
  return KIND_OF_TYPE.get(type);
}
