import { createHash } from 'node:crypto';
import type { PodTemplate, SourceData, SourceId } from '../model.ts';

/** Whether the pods of a template began with this data of the source, by the annotation of k8s-trigger-controller. */
export function isTriggerMark(
  { metadata }: PodTemplate,
  { kind, name }: Pick<SourceId, 'kind' | 'name'>,
  data: SourceData,
): boolean {
  const word = kind === 'Secret' ? 'secret' : 'configMap';
  const mark = metadata?.annotations?.[`trigger.k8s.io/${word}-${name}-last-hash`];
  return mark !== undefined && mark === hashOf(kind, data);
}

/**
 * SHA-1 (hex) of the sorted, concatenated keys of `data`, then those of `binaryData`, then the values in that order, as bytes.
 * Undefined without keys, because the controller kept nothing for such a source.
 */
function hashOf(kind: SourceId['kind'], { data = {}, binaryData = {} }: SourceData): string | undefined {
  const text = Object.keys(data).sort();
  const binary = Object.keys(binaryData).sort();
  if (text.length + binary.length === 0) return undefined;
  const hash = createHash('sha1').update([...text, ...binary].join(''));
  for (const key of text) hash.update(Buffer.from(data[key] ?? '', kind === 'Secret' ? 'base64' : 'utf8'));
  for (const key of binary) hash.update(Buffer.from(binaryData[key] ?? '', 'base64'));
  return hash.digest('hex');
}
