import type { SourceData, SourceKind } from '@reroll/core/model';
import type { KubeObject, KubeResource } from '../objects.ts';

export interface SourceFilter {
  /** Types of Secret that are not watched, e.g. `helm.sh/release.v1`. */
  readonly ignoredSecretTypes: readonly string[];
}

/** Everything specific to a kind of source. One file per kind; listed in the registry. */
export interface SourceKindDefinition extends KubeResource {
  readonly kind: SourceKind;
  /** What the API server leaves out of lists and watches. */
  fieldSelector(filter: SourceFilter): string | undefined;
  /** The data as the API serves it. Hash it and drop it. */
  data(object: KubeObject): SourceData;
  /** The certificates of an object that is there to hold some: PEM in base64. Read when they expire and drop them. */
  certificates?(object: KubeObject): string | undefined;
}
