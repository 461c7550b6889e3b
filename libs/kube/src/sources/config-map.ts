import type { SourceData } from '@reroll/core/model';
import type { KubeObject } from '../objects.ts';
import type { SourceKindDefinition } from './definition.ts';

type ConfigMapObject = KubeObject & SourceData;

export const configMap: SourceKindDefinition = {
  kind: 'ConfigMap',
  group: '',
  version: 'v1',
  plural: 'configmaps',
  fieldSelector: () => undefined,
  data: ({ data, binaryData }: ConfigMapObject) => ({ data, binaryData }),
};
