import { DEFAULT_ANNOTATION_KEYS, type AnnotationKeys } from '@reroll/core/annotations/annotation-keys';
import type { SourceData, SourceKey, WorkloadKey, WorkloadKind } from '@reroll/core/model';
import type { HoldDefaults } from '@reroll/core/holds/reload-hold';
import type { LabelSelector } from '@reroll/core/label-selector';
import { RECORD_ANNOTATION, writeRecord } from '@reroll/core/record/record';
import { recordHash, sourceKeys, type HashKeys } from '@reroll/core/record/record-hash';
import type { SourceRow, WorkloadRow } from '@reroll/core/state/rows';
import { NO_TRIGGERS } from '@reroll/core/state/settings';
import { sourceRow, workloadRow } from '@reroll/core/testing/rows';
import { objectPath, type KubeObject } from '@reroll/kube/objects';
import { NamespaceReader } from '@reroll/kube/namespaces/namespace-reader';
import { sourceKind } from '@reroll/kube/sources/registry';
import { observed, withMarkerPlaces } from '@reroll/kube/workloads/observe';
import { workloadKind } from '@reroll/kube/workloads/registry';
import type { Catalog } from '@reroll/redis/catalog/catalog';
import type { WaveReader } from '@reroll/redis/catalog/wave-reader';
import type { ReloadRequest } from '@reroll/redis/catalog/requests';
import type { RateBudget } from '@reroll/redis/processes/rate';
import type { Queues } from '@reroll/redis/queue/queues';
import type { RolloutSlots } from '@reroll/redis/queue/rollout-slots';
import type { Reason } from '@reroll/core/reasons';
import { SourceReader } from '../change/source-reader.ts';
import { JobError } from '../job-error.ts';
import type { ReloadOutcome } from '../reload/reload-outcome.ts';
import { ReloadHolds } from '../reload/reload-holds.ts';
import { ReloadProcessor, type ReloadSettings } from '../reload/reload.processor.ts';
import { reloadWays, type ReloadWaysContext } from '../reload/send/reload-ways.ts';
import { WorkloadReader } from '../reload/workload-reader.ts';
import { FakeApi, refusal } from './fake-api.ts';
import { only } from './only.ts';

export const KEYS = DEFAULT_ANNOTATION_KEYS;
export const CM = 'ConfigMap/cm';
const NAMESPACE = 'ns';
const UID = 'uid-w';

export function dataOf(text: string): SourceData {
  return { data: { key: text } };
}

export function hashOf(text: string, keys: HashKeys = []): string {
  return recordHash(dataOf(text), sourceKeys(`ConfigMap/${NAMESPACE}/cm`, keys));
}

/** The record of a workload that was last started with this data. */
export function recordOf(text: string): string {
  return writeRecord({ [CM]: hashOf(text) });
}

/**
 * A workload `w` that uses the ConfigMap `cm` and asks for reloads. Its template was written at 10 and the data of `cm`
 * at 20. Its record has the old data, so it is pending. A spec then changes what differs. The catalog has what the
 * watcher would have written.
 */
export class Scene {
  kind: WorkloadKind = 'Deployment';
  name = 'w';
  annotations: Record<string, string> = { [KEYS.auto]: 'true' };
  record: string | undefined = recordOf('old');
  metadata: Partial<KubeObject['metadata']> = {};
  spec: Record<string, unknown> = {};
  status: object = {};
  templateAnnotations: Record<string, string> = {};
  env: readonly object[] = [];
  /** Undefined: the ConfigMap does not exist. */
  data: string | undefined = 'new';
  source: { rv?: string; owners?: readonly string[] } = {};
  /** The labels of the watched sources. */
  labels: LabelSelector | undefined;
  sourceRow: Partial<SourceRow> | null = {};
  row: Partial<WorkloadRow> | null = {};
  /** The rows of other workloads. */
  readonly others = new Map<WorkloadKey, WorkloadRow>();
  /** The workloads whose rows alone were asked for. */
  readonly rowsAsked: WorkloadKey[] = [];
  /** The reading that the change job left. */
  reading: 'none' | 'fresh' = 'none';
  /** Whether workloads are patched without being read, as the defaults are. */
  unread = false;
  request: ReloadRequest | undefined;
  /** The workload that the job names; undefined: `w`. */
  job: WorkloadKey | undefined;
  pretended: string | undefined;
  hashKeys: HashKeys = [];
  keys: Partial<AnnotationKeys> = {};
  settings: Partial<ReloadSettings> = {};
  ways: Partial<ReloadWaysContext> = {};
  /** What the installation asks for, and the annotations of the Namespace. */
  holds: HoldDefaults = {};
  namespaceAnnotations: Record<string, string> = {};
  /** The waits that claims of a slot return, in order; undefined: reloads are not limited. */
  budget: number[] | undefined;
  /** The remaining wait of a workload that waits for its slot, in ms. */
  waiting: number | undefined;
  /** When the workload is to be looked at again because it is held. */
  readonly lookedAgainAt: number[] = [];
  /** How far a change with waves has come. */
  waves: Pick<WaveReader, 'progress'> = { progress: () => fail() };
  /** Whether the leader has granted a slot, and what it was asked. */
  isGranted = false;
  readonly slotCalls: unknown[] = [];
  /** The calls of the budget. */
  readonly slot: string[] = [];
  readonly reported: string[] = [];
  /** The ids of the requests that were done. */
  readonly doneRequests: string[] = [];
  readonly api = new FakeApi();

  constructor(change: Change = () => undefined) {
    change(this);
    const source = this.#source();
    const cm = { namespace: NAMESPACE, name: 'cm' };
    if (source) this.api.objects.set(objectPath(sourceKind('ConfigMap') ?? fail(), cm), source);
    this.api.objects.set(this.path, this.#object());
    const namespace = { metadata: { name: NAMESPACE, annotations: this.namespaceAnnotations } };
    this.api.objects.set(`/api/v1/namespaces/${NAMESPACE}`, namespace as unknown as KubeObject);
  }

  get key(): WorkloadKey {
    return `${this.kind}/${NAMESPACE}/${this.name}`;
  }

  get path(): string {
    return objectPath(workloadKind(this.kind) ?? fail(), { namespace: NAMESPACE, name: this.name });
  }

  get object(): KubeObject {
    return this.api.objects.get(this.path) ?? fail();
  }

  /** Decides by a job, in its first attempt or a later one. */
  async run(isFirst = true): Promise<ReloadOutcome> {
    return await this.#processor().process({ v: 1, workload: this.job ?? this.key, since: 0 }, isFirst);
  }

  /** Handles the first attempt of a job that was enqueued at this time, to its end. */
  async handle(since: number): Promise<void> {
    const attempt = { number: 1, most: 5, startedAt: since, jobId: '1' };
    await this.#processor().handle({ v: 1, workload: this.key, since }, attempt);
  }

  /** Handles the failure of an attempt. */
  async fail(reason: Reason, isLast: boolean): Promise<void> {
    const attempt = { number: isLast ? 5 : 1, most: 5, startedAt: 0, jobId: '1', isLast };
    await this.#processor().failed({ v: 1, workload: this.key, since: 0 }, new JobError(reason, ''), attempt);
  }

  #processor(): ReloadProcessor {
    const keys = { ...KEYS, ...this.keys };
    const decision = { keys, autoReloadAll: false, ignoredWorkloadTypes: [], ...this.settings.decision };
    const { client } = this.api;
    const { hashKeys, labels } = this;
    const reading = { hashKeys, labels, markerHash: 'auto', ignoredSecretTypes: [] } as const;
    const patchesUnread = this.unread && this.settings.dryRun !== true;
    const defaults = { dryRun: false, adoptStale: 'report', onDelete: 'never', notifyOnly: false } as const;
    const writes = { client, strategy: 'env-vars', fieldManager: 'reroll', keys, hashKeys } as const;
    const kinds = { cronJobStrategy: 'run', recreateFinishedJobs: false } as const;
    return new ReloadProcessor(
      {
        catalog: this.#catalog,
        requests: {
          of: async () => this.request,
          done: async (_workload, id) => void this.doneRequests.push(id),
        },
        workloads: new WorkloadReader(client, this.#catalog, decision),
        sources: new SourceReader({ client, catalog: this.#catalog }, reading),
        holds: new ReloadHolds(
          {
            namespaces: new NamespaceReader(client),
            queues: this.#queues,
            waves: this.waves,
            slots: this.#slots,
            apiTime: () => client.apiTime(),
          },
          {
            defaults: this.holds,
            ownNamespace: NAMESPACE,
            isDryRun: this.settings.dryRun === true,
            waveSettings: { triggers: NO_TRIGGERS, adoptStale: 'report' },
          },
        ),
        ways: reloadWays({ ...writes, markerAnnotation: keys.lastReloadedFrom, ...kinds, ...this.ways }),
        budget: this.#budget,
        reports: {
          overtaken: () => void this.reported.push('overtaken'),
          leftToOthers: () => void this.reported.push('leftToOthers'),
          ended: () => void this.reported.push('ended'),
          held: async () => void this.reported.push('held'),
          failed: () => undefined,
        },
      },
      { ...defaults, patchesUnread, ...this.settings, decision },
    );
  }

  readonly #budget = ((scene: Scene) => ({
    get isLimited() {
      return scene.budget !== undefined;
    },
    ask: async () => {
      scene.slot.push('ask');
      return scene.waiting;
    },
    claim: async () => {
      scene.slot.push('claim');
      return scene.budget?.shift() ?? 0;
    },
    end: async (_workload: string, isUsed: boolean) => void scene.slot.push(isUsed ? 'used' : 'given back'),
  }))(this) as unknown as RateBudget;

  readonly #queues = only<Queues>('queues', {
    enqueueHeld: async (_job: unknown, at: number) => void this.lookedAgainAt.push(at),
  });

  readonly #slots = only<RolloutSlots>('slots', {
    isGranted: async () => this.isGranted,
    ask: async ({ most }: { most?: number }) => void this.slotCalls.push(['ask', most]),
    keep: async (_workload: string, wait: number) => void this.slotCalls.push(['keep', wait]),
    leave: async () => void this.slotCalls.push('leave'),
  });

  readonly #catalog = only<Catalog>('catalog', {
    setBackingOff: async () => undefined,
    workloads: async (keys: WorkloadKey[]) => {
      this.rowsAsked.push(...keys);
      const row = this.#row();
      return new Map(
        row ? [...this.others, [this.key, row] as const].filter(([key]) => keys.includes(key)) : [],
      );
    },
    sources: async (keys: SourceKey[]) => this.#sourceRows(keys),
    reloadFacts: async (_key: WorkloadKey, keys: SourceKey[]) => ({
      workload: this.#row(),
      sources: this.#sourceRows(keys),
      readings: new Map(this.reading === 'none' ? [] : keys.map((key) => [key, this.#reading()])),
    }),
    pretended: async () => this.pretended,
    pretend: async (_key: string, record: string) => void (this.pretended = record),
  });

  #reading(): { rv: string; hash: string; markerHash: string } {
    return { rv: '20', hash: hashOf(this.data ?? '', this.hashKeys), markerHash: 'f00' };
  }

  #sourceRows(keys: readonly SourceKey[]): Map<SourceKey, SourceRow> {
    const { sourceRow: changed } = this;
    if (changed === null) return new Map();
    const hash = hashOf(this.data ?? 'old', this.hashKeys);
    return new Map(keys.map((key) => [key, { ...sourceRow(20, ''), hash, ...changed }]));
  }

  /** The row that the watcher would write for the present object. */
  #row(): WorkloadRow | undefined {
    const object = this.api.objects.get(this.path);
    if (this.row === null || !object) return undefined;
    const definition = workloadKind(this.kind) ?? fail();
    const own = observed(definition, object, { ...KEYS, ...this.keys });
    const seen = this.unread ? withMarkerPlaces(own, { definition, object }, this.hashKeys) : own;
    const { key: _key, kind: _kind, namespace: _namespace, ...row } = seen;
    return workloadRow({ ...row, templateRv: '10', dependencies: row.uses, ...this.row });
  }

  #source(): KubeObject | undefined {
    if (this.data === undefined) return undefined;
    const { rv = '20', owners = [] } = this.source;
    const ownerReferences = owners.map((uid) => ({ uid }));
    const metadata = {
      name: 'cm',
      namespace: NAMESPACE,
      uid: 'uid-cm',
      resourceVersion: rv,
      ownerReferences,
    };
    const object = { metadata, ...dataOf(this.data) };
    return object;
  }

  #object(): KubeObject {
    const app = { name: 'app', envFrom: [{ configMapRef: { name: 'cm' } }], env: this.env };
    const template = { metadata: { annotations: this.templateAnnotations }, spec: { containers: [app] } };
    const record = this.record === undefined ? {} : { [RECORD_ANNOTATION]: this.record };
    const spec = this.kind === 'CronJob' ? { jobTemplate: { spec: { template } } } : { template };
    return {
      metadata: {
        name: this.name,
        namespace: NAMESPACE,
        uid: UID,
        resourceVersion: '30',
        generation: 1,
        creationTimestamp: '2026-01-01T00:00:00Z',
        annotations: { ...this.annotations, ...record },
        ...this.metadata,
      },
      spec: { ...spec, ...this.spec },
      status: this.status,
    } as KubeObject;
  }
}

export type Change = (scene: Scene) => void;

export function all(...changes: readonly Change[]): Change {
  return (scene) => {
    for (const change of changes) change(scene);
  };
}
/** Lets requests for the workload fail with this error, at most `most` times. */
export function answers(method: string, error: unknown, most = Infinity): Change {
  return (scene) => {
    let count = 0;
    scene.api.before = (given, path) => {
      if (given !== method || !path.endsWith('/w') || (count += 1) > most) return;
      throw error;
    };
  };
}
/** Lets another writer overtake the first patches. */
export function overtaken(times: number): Change {
  return answers('PATCH', refusal(422), times);
}

/** A Rollout with a `workloadRef`. */
export function rollout(workloadRef: object): Change {
  return (scene) => {
    scene.kind = 'Rollout';
    scene.spec = { template: undefined, workloadRef };
  };
}
/** A Rollout that has the pod template of a Deployment. */
export function follower(annotations: Readonly<Record<string, string>>, spec?: object): Change {
  return all(rollout(DEPLOYMENT), ({ api }) => {
    const metadata = {
      name: 'd',
      namespace: 'ns',
      uid: 'uid-d',
      resourceVersion: '9',
      generation: 1,
      annotations,
    };
    api.objects.set('/apis/apps/v1/namespaces/ns/deployments/d', { metadata, spec } as never);
  });
}
export const TEMPLATE = {
  spec: { containers: [{ name: 'app', envFrom: [{ configMapRef: { name: 'cm' } }] }] },
};
export const DEPLOYMENT = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'd' };

export const REQUEST = {
  id: '1795000000000-0123456789',
  actor: 'ann',
  reason: 'why not',
  at: 1_795_000_000_000,
};

export const asked: Change = (scene) => void (scene.request = REQUEST);
export const settled: Change = (scene) => void (scene.record = recordOf('new'));
export const unrecorded: Change = (scene) => void (scene.record = undefined);
export const finishedJob: Change = (scene) => {
  scene.kind = 'Job';
  scene.status = { conditions: [{ type: 'Complete', status: 'True' }] };
};
/** A workload whose pods may run outdated data. */
export const stale: Change = (scene) => {
  scene.record = undefined;
  scene.row = { templateRv: '40', baselines: { [CM]: '20' }, stale: [CM] };
};

function fail(): never {
  throw new Error('expected it to be there');
}
