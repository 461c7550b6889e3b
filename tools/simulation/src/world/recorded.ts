/** What applied records say, by the names of the world. */
import { DELETED_HASH, isHashOf, sourceKeys } from '@reroll/core/record/record-hash';
import { RECORD_ANNOTATION, recordedHashes } from '@reroll/core/record/record';
import type { SourceKey } from '@reroll/core/model';
import { dataOf } from './objects.ts';
import type { Shown } from './restarts.ts';
import type { Rules } from './rules.ts';
import { LETTERS, type KubeObject, type Letter } from './shapes.ts';

/** Whether the record has the hash of the data that the source has now, or its deletion. */
export function records(
  { holder }: Shown,
  source: string,
  { present, keys }: { present: KubeObject | undefined; keys: Rules['hashKeys'] },
): boolean {
  const [kind = '', , name = ''] = source.split('/');
  const entry = recordedHashes(holder?.metadata.annotations?.[RECORD_ANNOTATION])[`${kind}/${name}`];
  if (entry === undefined || !present) return entry === DELETED_HASH;
  const data = present['data'] as Record<string, string>;
  return isHashOf(entry, { data }, sourceKeys(source as SourceKey, keys));
}

/** The letter of the data whose hash the object has recorded. */
export function recordedLetter(
  { metadata }: KubeObject,
  source: string,
  keys: Rules['hashKeys'],
): Letter | undefined {
  const [kind = '', , name = ''] = source.split('/');
  const ref = `${kind}/${name}`;
  const entry = recordedHashes(metadata.annotations?.[RECORD_ANNOTATION])[ref];
  const own = sourceKeys(source as SourceKey, keys);
  return LETTERS.find((letter) => entry !== undefined && isHashOf(entry, { data: dataOf(ref, letter) }, own));
}

/** Whether it says that the source was deleted. */
export function recordsDeletion({ metadata }: KubeObject, source: string): boolean {
  const [kind = '', , name = ''] = source.split('/');
  return recordedHashes(metadata.annotations?.[RECORD_ANNOTATION])[`${kind}/${name}`] === DELETED_HASH;
}

/** Whether it has an entry for the source. */
export function isRecorded({ holder }: Shown, source: string): boolean {
  const [kind = '', , name = ''] = source.split('/');
  return holder?.metadata.annotations?.[RECORD_ANNOTATION]?.includes(`"${kind}/${name}"`) === true;
}
