import { keyOf, type ObjectMeta, type SourceData, type SourceKey } from '../model.ts';
import { lastWrite, unixSeconds } from '../state/observe.ts';
import { markerHash } from '../marker/marker-hash.ts';
import {
  recordHash,
  sourceKeys,
  type HashKeys,
  type RecordHash,
  type SourceHashKeys,
} from '../record/record-hash.ts';
import { parseRv, type Rv } from '../rv.ts';

/** A SecretProviderClassPodStatus as the API serves it: what one pod has mounted of a class. */
export interface StatusObject {
  readonly metadata: ObjectMeta;
  readonly status?:
    | {
        readonly secretProviderClassName?: string | undefined;
        readonly objects?:
          | readonly { readonly id?: string | undefined; readonly version?: string | undefined }[]
          | null
          | undefined;
      }
    | undefined;
}

/** The facts that are kept of a status. Its ids and versions are hashed here and go no further. */
export interface SeenStatus {
  /** `SecretProviderClassPodStatus/<namespace>/<name>`. */
  readonly key: string;
  readonly uid: string;
  /** The class; undefined if the status names none. */
  readonly source: SourceKey | undefined;
  readonly rv: Rv;
  /** The hash under the current key, then under the keys that older rows may use. Empty: nothing mounted. */
  readonly hashes: readonly RecordHash[];
  readonly markerHash: string;
  /** Unix seconds of the last write; 0 if there was none after the creation, so that the pod began with these versions. */
  readonly modifiedAt: number;
  /**
   * Unix seconds, by the API server's clock, of the last write of `status`, when the pod had these versions. Writes of the metadata
   * by others do not count. 0: not known.
   */
  readonly shownAt: number;
}

export const STATUS_KIND = 'SecretProviderClassPodStatus';

/** Throws a `TypeError` if the object has no usable resourceVersion. */
export function observeStatus({ metadata, status }: StatusObject, keys: HashKeys): SeenStatus {
  const { namespace, name } = metadata;
  const provider = status?.secretProviderClassName;
  const objects = status?.objects ?? [];
  const data = providerClassData(provider ?? '', objects);
  const written = lastWrite(metadata);
  const source = provider ? keyOf({ kind: 'SecretProviderClass', namespace, name: provider }) : undefined;
  return {
    key: keyOf({ kind: STATUS_KIND, namespace, name }),
    uid: metadata.uid,
    source,
    rv: parseRv(metadata.resourceVersion),
    hashes: source && objects.length > 0 ? hashesOf(data, sourceKeys(source, keys)) : [],
    markerHash: markerHash('SecretProviderClass', data),
    modifiedAt: written > unixSeconds(metadata.creationTimestamp) ? written : 0,
    shownAt: lastStatusWrite(metadata),
  };
}

/** The driver writes a status when its pod mounts and when the versions change, so it owns the field `status`. */
function lastStatusWrite({ managedFields = [] }: ObjectMeta): number {
  const times = managedFields
    .filter(({ fieldsV1 }) => fieldsV1 !== undefined && 'f:status' in fieldsV1)
    .map(({ time }) => unixSeconds(time));
  return Math.max(0, ...times);
}

/**
 * Returns the data of a status in the form that `markerHash` takes: an entry `id=version` for each object, and the name of the
 * class. Two objects with one id become one entry that reads like both side by side.
 */
export function providerClassData(
  provider: string,
  objects: readonly { readonly id?: string | undefined; readonly version?: string | undefined }[],
): SourceData {
  const entries = [...objects, { id: 'SecretProviderClassName', version: provider }];
  const byId = Map.groupBy(entries, ({ id = '' }) => id);
  const joined = [...byId].map(([id, all]) => {
    const versions = all.map(({ version = '' }) => version);
    return [id, versions.sort().join(`;${id}=`)] as const;
  });
  return { data: Object.fromEntries(joined) };
}

function hashesOf(data: SourceData, keys: SourceHashKeys): RecordHash[] {
  const all = [keys, ...keys.slice(1).map((key) => [key]), []].map((each) => recordHash(data, each));
  return [...new Set(all)];
}
