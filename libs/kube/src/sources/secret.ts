import type { SourceData } from '@reroll/core/model';
import type { KubeObject } from '../objects.ts';
import type { SourceFilter, SourceKindDefinition } from './definition.ts';

type SecretObject = KubeObject & Pick<SourceData, 'data'> & { readonly type?: string | undefined };

/** Returns `type!=a,type!=b`, with the separators of field selectors escaped. */
function fieldSelector({ ignoredSecretTypes }: SourceFilter): string | undefined {
  if (ignoredSecretTypes.length === 0) return undefined;
  return ignoredSecretTypes.map((type) => `type!=${type.replace(/[\\,=]/g, String.raw`\$&`)}`).join(',');
}

export const secret: SourceKindDefinition = {
  kind: 'Secret',
  group: '',
  version: 'v1',
  plural: 'secrets',
  fieldSelector,
  data: ({ data }: SecretObject) => ({ data }),
  certificates: ({ type, data }: SecretObject) =>
    type === 'kubernetes.io/tls' ? data?.['tls.crt'] : undefined,
};
