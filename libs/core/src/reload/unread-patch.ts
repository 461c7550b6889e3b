import { decidingKeys, isAnyCut } from '../state/observe.ts';
import type { AnnotationKeys } from '../annotations/annotation-keys.ts';
import { isNewMarker, templateSketch, type MarkerPlaces } from '../marker/marker-places.ts';
import { DELETED_MARKER_HASH } from '../marker/marker-hash.ts';
import { MOST_RECORD_BYTES, RECORD_ANNOTATION } from '../record/record.ts';
import type { HashKeys } from '../record/record-hash.ts';
import type { WorkloadRow } from '../state/rows.ts';
import { pointer, type PatchOperation } from './json-patch.ts';
import { reloadPatch, type RolledSource } from './patch.ts';

export interface UnreadPatchInput {
  readonly row: Pick<
    WorkloadRow,
    'uid' | 'generation' | 'record' | 'annotations' | 'podAnnotations' | 'uses' | 'marks'
  >;
  readonly places: MarkerPlaces;
  readonly templatePath: string;
  readonly rolled: readonly RolledSource[];
  readonly record: string;
  readonly keys: AnnotationKeys;
  readonly hashKeys: HashKeys;
}

/**
 * Returns `reloadPatch` (env-vars strategy) for a workload that was not read, from what its row knows. The patch applies only if the
 * workload is as the row says: beside what `reloadPatch` tests, it tests every annotation that decides about reloads, and that it
 * replaces no variable but the marker. Undefined if the row does not know enough: a marker may have its value already, so that
 * nothing would restart; the source is gone or is no part of an environment; an annotation is cut; or there may be no room for the
 * record.
 */
export function unreadPatch(input: UnreadPatchInput): PatchOperation[] | undefined {
  const { row, places, rolled, record, keys, hashKeys } = input;
  if (row.record === undefined || Buffer.byteLength(record) * 2 > MOST_RECORD_BYTES) return undefined;
  if ([row.annotations, row.podAnnotations].some((each) => isAnyCut(each, keys))) return undefined;
  const isKnown = rolled.every(
    ({ kind, name, markerHash: value }) =>
      kind !== 'SecretProviderClass' &&
      value !== DELETED_MARKER_HASH &&
      isNewMarker(places, row, { kind, name, value, keys: hashKeys }),
  );
  if (!isKnown) return undefined;
  const patch = reloadPatch({
    metadata: { uid: row.uid, generation: row.generation, annotations: { [RECORD_ANNOTATION]: row.record } },
    template: templateSketch(places, row),
    templatePath: input.templatePath,
    strategy: 'env-vars',
    rolled,
    record,
    markerAnnotation: keys.lastReloadedFrom,
    now: 0,
  });
  return [...annotationTests(input), ...patch.flatMap(withTest)];
}

/**
 * A test of `null` passes if there is no such annotation. The pod template may have none at all, and no test passes then, so only
 * those that the row knows are tested there; the generation vouches for the others.
 */
function annotationTests({ row, keys, templatePath }: UnreadPatchInput): PatchOperation[] {
  const own = decidingKeys(keys).filter((key) => key !== '');
  const ofPods = own.filter((key) => key in row.podAnnotations);
  const test = (base: string, key: string, value: string | undefined): PatchOperation => ({
    op: 'test',
    path: pointer(base, key),
    value: value ?? null,
  });
  return [
    ...own.map((key) => test('/metadata/annotations', key, row.annotations[key])),
    ...ofPods.map((key) => test(`${templatePath}/metadata/annotations`, key, row.podAnnotations[key])),
  ];
}

/** Before a variable is replaced, that it is the marker; before a container gets its first variables, that it has none. */
function withTest(operation: PatchOperation): PatchOperation[] {
  const { op, path, value } = operation;
  if (op === 'replace')
    return [{ op: 'test', path: `${path}/name`, value: (value as { name: string }).name }, operation];
  return op === 'add' && path.endsWith('/env') ? [{ op: 'test', path, value: null }, operation] : [operation];
}
