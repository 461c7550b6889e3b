import type { SourceKind } from '../model.ts';

/** The spelling of a source's kind in a marker: in its variable's name and in its annotation. */
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

/** `CONFIGMAP` -> `ConfigMap`; undefined for any other text. Case matters. */
export function sourceKindOfMarkerType(type: string): SourceKind | undefined {
  return KIND_OF_TYPE.get(type);
}
