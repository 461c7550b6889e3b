import type { Catalog } from '@reroll/redis/catalog/catalog';
import type { AdoptedSystem } from '@reroll/core/adopted/adopted';
import { isAdoptedMark } from '@reroll/core/adopted/adopted-marker';
import { matchesLabels, type LabelSelector } from '@reroll/core/label-selector';
import { isMarkerHash, isMarkerHashOf, markerHash, type MarkerHash } from '@reroll/core/marker/marker-hash';
import {
  isKey,
  keyOf,
  type PodTemplate,
  type SourceData,
  type SourceId,
  type SourceKey,
} from '@reroll/core/model';
import { AwaitedKeys } from '@reroll/core/record/awaited-keys';
import {
  isHashOf,
  isRecordHash,
  recordHash,
  sourceKeys,
  type HashKeys,
  type RecordHash,
} from '@reroll/core/record/record-hash';
import { isRv, parseRv, type Rv } from '@reroll/core/rv';
import { oneLine } from '@reroll/core/one-line';
import { METADATA_ONLY, type KubeClient } from '@reroll/kube/client/connection';
import { KubeError } from '@reroll/kube/client/errors';
import type { EventSubject } from '@reroll/kube/kube-events';
import { apiVersionOf, objectPath, type KubeObject, type KubeResource } from '@reroll/kube/objects';
import { sourceKind } from '@reroll/kube/sources/registry';
import { JobError } from '../job-error.ts';

/** A source as just read: its hashes, and how its data compares. Holds no data and no function that does. */
export interface SourceNow {
  readonly rv: Rv;
  readonly hash: RecordHash;
  readonly markerHash: string;
  /** The uids of its owners. */
  readonly owners: readonly string[];
  /** Whether the entry of the record is the hash of this data, under the scheme that the entry names. */
  readonly isRecorded: boolean;
  /** Whether the entry is hashed with a key that this worker does not have and still waits for. */
  readonly isKeyAwaited: boolean;
  /** Whether one of the markers is of this data. */
  readonly isMarked: boolean;
}

/** What the data of a source is compared with while it is at hand. */
export interface Comparison {
  /** The entry of the record. */
  readonly recorded?: RecordHash | undefined;
  /** Hashes of markers for this source, under any scheme. */
  readonly marked?: readonly string[];
  /** May have the marker that one of these systems writes. */
  readonly adopted?: { readonly template: PodTemplate; readonly systems: readonly AdoptedSystem[] };
  /** Called with the data, which it must not keep. Not for a SecretProviderClass. */
  readonly see?: ((data: SourceData) => void) | undefined;
}

/** Characters of a field manager that are shown. */
const MOST_MANAGER = 60;

/** Why a source is treated as absent, although it may exist. */
export type SourceAbsence = 'SourceAbsent' | 'SourceNotWatched';

export interface SourceReaderSettings {
  readonly hashKeys: HashKeys;
  /** The scheme of the markers that are written. */
  readonly markerHash: MarkerHash;
  /** Which sources the watchers watch. */
  readonly ignoredSecretTypes: readonly string[];
  /** Undefined: sources with any labels. */
  readonly labels: LabelSelector | undefined;
}

/** Reads sources from the API server, hashes and compares them, and forgets their data. */
export class SourceReader {
  readonly #client: Pick<KubeClient, 'get'>;
  readonly #catalog: Pick<Catalog, 'sources'>;
  readonly #settings: SourceReaderSettings;
  readonly #awaited: AwaitedKeys;

  constructor(
    from: { client: Pick<KubeClient, 'get'>; catalog: Pick<Catalog, 'sources'> },
    settings: SourceReaderSettings,
  ) {
    this.#client = from.client;
    this.#catalog = from.catalog;
    this.#settings = settings;
    this.#awaited = new AwaitedKeys(settings.hashKeys);
  }

  /**
   * Reads the source by a quorum read (no `resourceVersion=0`). Rejects with a `KubeError` for any error but "not found".
   * A SecretProviderClass is read from the catalog; this rejects with ioredis' error.
   */
  async read(source: SourceId, compared: Comparison = {}): Promise<SourceNow | SourceAbsence> {
    // A name that no object can have comes from a row that Reroll did not write.
    if (!isKey(keyOf(source))) return 'SourceNotWatched';
    if (source.kind === 'SecretProviderClass') return await this.#fromCatalog(keyOf(source), compared);
    const definition = sourceKind(source.kind);
    if (!definition) return 'SourceNotWatched';
    const object = await this.#get(objectPath(definition, source));
    if (!object) return 'SourceAbsent';
    if (!this.#isWatched(object)) return 'SourceNotWatched';
    const data = definition.data(object);
    compared.see?.(data);
    return { ...this.#hashed(source, object, data), ...this.#compared({ id: source, data }, compared) };
  }

  /**
   * Who wrote the source last, and when (`argocd-controller at 2026-11-25T08:00:00Z`), by its managedFields. Undefined if they do not
   * tell, and for a SecretProviderClass. Reads no data. Rejects with a `KubeError`.
   */
  async lastWriter(source: SourceId): Promise<string | undefined> {
    const { managedFields = [] } = (await this.#metadataOf(source))?.metadata ?? {};
    const writes = managedFields.filter(({ time }) => time !== undefined);
    const last = writes.toSorted((a, b) => ((a.time ?? '') < (b.time ?? '') ? -1 : 1)).at(-1);
    return last && `${oneLine(last.manager ?? 'somebody', MOST_MANAGER)} at ${last.time}`;
  }

  /** For an Event of the source. Undefined for a SecretProviderClass. Rejects with a `KubeError`. */
  async subjectOf(source: SourceId): Promise<EventSubject | undefined> {
    const read = await this.#metadataOf(source);
    if (!read) return undefined;
    const { uid, resourceVersion } = read.metadata;
    return { ...source, uid, resourceVersion, apiVersion: apiVersionOf(read.definition) };
  }

  async #metadataOf(
    source: SourceId,
  ): Promise<{ definition: KubeResource; metadata: KubeObject['metadata'] } | undefined> {
    const definition = source.kind === 'SecretProviderClass' ? undefined : sourceKind(source.kind);
    if (!definition || !isKey(keyOf(source))) return undefined;
    const options = { accept: METADATA_ONLY };
    const { body } = await this.#client.get<KubeObject>(objectPath(definition, source), options);
    return { definition, metadata: body.metadata };
  }

  #isWatched({ type, metadata }: KubeObject & { type?: string }): boolean {
    const { ignoredSecretTypes, labels } = this.#settings;
    if (type !== undefined && ignoredSecretTypes.includes(type)) return false;
    return labels === undefined || matchesLabels(labels, metadata.labels);
  }

  /**
   * Reads the row of a SecretProviderClass, because no object holds its present state: each status describes one pod, and
   * only the leader, which saw the statuses change, knows which one counts. Hash and resourceVersion of the row belong
   * together, and were written before the reload job was enqueued.
   */
  async #fromCatalog(
    key: SourceKey,
    { recorded, marked = [] }: Comparison,
  ): Promise<SourceNow | SourceAbsence> {
    const row = (await this.#catalog.sources([key])).get(key);
    if (!row?.exists || !row.providerClass) return 'SourceAbsent';
    const { rv, hash, providerClass } = row;
    const { markerHash: text, otherHashes = [] } = providerClass;
    if (!isRv(rv) || !isRecordHash(hash) || !isMarkerHash(text)) throw new JobError('Failed', 'CATALOG_ROW');
    return {
      rv,
      hash,
      // The watcher hashes the statuses, which name versions and hold no data: SHA-1 whatever `--hash` says.
      markerHash: text,
      owners: [],
      isRecorded: recorded !== undefined && [hash, ...otherHashes].includes(recorded),
      // No other worker has a key that would help.
      isKeyAwaited: false,
      isMarked: marked.includes(text),
    };
  }

  #hashed(
    id: SourceId,
    { metadata }: KubeObject,
    data: SourceData,
  ): Pick<SourceNow, 'rv' | 'hash' | 'markerHash' | 'owners'> {
    const { hashKeys, markerHash: hash } = this.#settings;
    const keys = sourceKeys(keyOf(id), hashKeys);
    return {
      rv: parseRv(metadata.resourceVersion),
      hash: recordHash(data, keys),
      markerHash: markerHash(id.kind, data, { hash, keys }),
      owners: (metadata.ownerReferences ?? []).map(({ uid }) => uid),
    };
  }

  #compared(
    source: { id: SourceId; data: SourceData },
    { recorded, marked = [], adopted }: Comparison,
  ): Pick<SourceNow, 'isRecorded' | 'isKeyAwaited' | 'isMarked'> {
    const keys = sourceKeys(keyOf(source.id), this.#settings.hashKeys);
    const of = { kind: source.id.kind, data: source.data };
    return {
      isRecorded: recorded !== undefined && isHashOf(recorded, source.data, keys),
      isKeyAwaited: recorded !== undefined && this.#awaited.isAwaited(recorded, Date.now()),
      isMarked:
        (adopted !== undefined && isAdoptedMark(adopted.template, source, adopted.systems)) ||
        marked.some((hash) => isMarkerHashOf(hash, of, keys)),
    };
  }

  async #get(path: string): Promise<(KubeObject & { type?: string }) | null> {
    try {
      return (await this.#client.get<KubeObject & { type?: string }>(path)).body;
    } catch (error) {
      if (error instanceof KubeError && error.status === 404) return null;
      throw error;
    }
  }
}
