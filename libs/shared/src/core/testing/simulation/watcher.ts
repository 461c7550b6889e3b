import { DEFAULT_ANNOTATION_KEYS } from '../../annotation-keys.ts';
import { Ledger } from '../../ledger/ledger.ts';
import type { ObservedSource, ObservedWorkload, SourceRow, WorkloadRow } from '../../ledger/rows.ts';
import {
  SOURCES,
  WORKLOADS,
  sourceKey,
  workloadKey,
  type ApiEvent,
  type Protection,
  type SimulatedApi,
  type SourceId,
  type WorkloadId,
} from './api.ts';
import { isWriter, writeCatalog, type SimulatedRedis } from './redis.ts';

const SOURCE_SCOPE = { kind: 'ConfigMap', namespace: '' };
const WORKLOAD_SCOPE = { kind: 'Deployment', namespace: '' };
export const DECISION = { keys: DEFAULT_ANNOTATION_KEYS, autoReloadAll: false, ignoredWorkloadTypes: [] };

export type Stage = 'down' | 'listSources' | 'listWorkloads' | 'synced';

/** A watcher process: its streams are cursors into the API's events, its knowledge the real ledger. */
export class SimulatedWatcher {
  stage: Stage = 'down';
  frozen = false;
  /** A standby that listed before the leader had written all that it knew: to take over is a gap. */
  listedInGap = false;
  /** 0 while it is a standby. */
  term = 0;
  ledger = new Ledger({ decision: DECISION, adoptedAt: 0 });
  #sequence = 0;
  #cursor = { S: 0, W: 0 };
  readonly #api: SimulatedApi;
  readonly #redis: SimulatedRedis;

  readonly #protection: Protection;

  constructor(api: SimulatedApi, redis: SimulatedRedis, protection: Protection) {
    this.#api = api;
    this.#redis = redis;
    this.#protection = protection;
  }

  start(adoptedAt: number): void {
    this.ledger = new Ledger({ decision: DECISION, adoptedAt });
    this.stage = 'listSources';
  }

  end(): void {
    this.stage = 'down';
    this.term = 0;
    this.frozen = false;
  }

  lead(term: number): void {
    this.term = term;
    this.#sequence = 0;
    if (this.stage === 'synced') this.#takeOver();
  }

  list(): void {
    if (this.stage === 'listSources') {
      this.#listSources();
      this.stage = 'listWorkloads';
    } else if (this.stage === 'listWorkloads') {
      this.#listWorkloads();
      this.stage = 'synced';
      if (this.term > 0) this.#takeOver();
      else this.ledger.outbox.clear();
    }
  }

  /** Both streams get a 410. */
  relist(): void {
    this.#listSources();
    this.#listWorkloads();
    this.#settle();
  }

  deliver(kind: 'S' | 'W'): void {
    const events: readonly ApiEvent<ObservedSource | ObservedWorkload>[] =
      kind === 'S' ? this.#api.sourceEvents : this.#api.workloadEvents;
    const event = events[this.#cursor[kind]];
    if (!event) return;
    this.#cursor[kind] += 1;
    if (kind === 'S') this.#source(event as ApiEvent<ObservedSource>);
    else this.#workload(event as ApiEvent<ObservedWorkload>);
    this.#settle();
  }

  /** Everything that it saw is in the catalog too. */
  hasPublished(): boolean {
    const { sources, workloads } = this.ledger.outbox;
    return this.isCurrent() && sources.size + workloads.size === 0;
  }

  isCurrent(): boolean {
    return (
      this.#cursor.S === this.#api.sourceEvents.length && this.#cursor.W === this.#api.workloadEvents.length
    );
  }

  sweep(): void {
    if (this.term === 0) return;
    const intact = isWriter(this.#redis, this.term, this.#sequence);
    if (!intact && this.#protection.noticesGaps) this.ledger.assertAll();
    this.publish('rows');
    for (const _ of this.ledger.sweep());
  }

  /** Rows first; `rows` stops there, as if the process ended or Redis did before the jobs were enqueued. */
  publish(what: 'rows' | 'all'): void {
    if (this.term === 0 || this.stage !== 'synced') return;
    if (this.#publishRows() && what === 'all') this.#publishJobs();
  }

  #publishJobs(): void {
    const { outbox } = this.ledger;
    for (const key of outbox.changes) this.#redis.enqueue(`c/${idOf(key)}`);
    for (const key of outbox.wakes.keys()) this.#redis.enqueue(`r/${idOf(key)}`);
    outbox.changes.clear();
    outbox.wakes.clear();
  }

  #publishRows(): boolean {
    const { ledger } = this;
    const { outbox } = ledger;
    if (outbox.sources.size + outbox.workloads.size === 0) return true;
    const result = writeCatalog(this.#redis, {
      term: this.term,
      expected: this.#sequence,
      sources: [...outbox.sources].flatMap((key) => pair(idOf(key), ledger.sources.get(key))),
      workloads: [...outbox.workloads].map((key) => [idOf(key), ledger.workloads.get(key)] as const),
    });
    if (result.refused) {
      this.end(); // a newer leader has written: this one is none
      return false;
    }
    outbox.sources.clear();
    outbox.workloads.clear();
    for (const key of result.changed) outbox.changes.add(`ConfigMap/ns/${key}`);
    const first = this.#sequence === 0;
    this.#sequence += 1;
    if (result.gap && !first && this.#protection.noticesGaps) ledger.assertAll();
    return true;
  }

  #takeOver(): void {
    this.ledger.assertAll();
    for (const _ of this.ledger.sweep());
  }

  #settle(): void {
    if (this.term === 0) this.ledger.outbox.clear();
  }

  #listSources(): void {
    this.#cursor.S = this.#api.sourceEvents.length;
    const objects = SOURCES.map((id) => this.#api.observeSource(id)).filter((seen) => seen !== null);
    const catalog = this.#rows<SourceRow>(
      'S',
      SOURCES.map((id) => [id, sourceKey(id)]),
    );
    const found = new Set(objects.map(({ key }) => key));
    for (const seen of objects) {
      this.ledger.sourcesFound({ scope: SOURCE_SCOPE, objects: [seen], catalog });
    }
    const end = { scope: SOURCE_SCOPE, rv: String(this.#api.rv), objects: [], found, catalog };
    this.ledger.sourcesListed(end);
  }

  #listWorkloads(): void {
    this.ledger.workloadListBegins(WORKLOAD_SCOPE);
    this.#cursor.W = this.#api.workloadEvents.length;
    const objects = WORKLOADS.map((id) => this.#api.observeWorkload(id)).filter((seen) => seen !== null);
    const catalog = this.#rows<WorkloadRow>(
      'W',
      WORKLOADS.map((id) => [id, workloadKey(id)]),
    );
    const found = new Set(objects.map(({ key }) => key));
    for (const seen of objects) {
      this.ledger.workloadsFound({ scope: WORKLOAD_SCOPE, objects: [seen], catalog });
    }
    const end = { scope: WORKLOAD_SCOPE, rv: String(this.#api.rv), objects: [], found, catalog };
    this.ledger.workloadsListed(end);
  }

  #rows<Row extends SourceRow | WorkloadRow>(
    prefix: string,
    keys: readonly (readonly [string, string])[],
  ): Map<string, Row> {
    const found = keys.flatMap(([id, key]) => pair(key, this.#redis.get<Row>(`${prefix}/${id}`)));
    return new Map(found);
  }

  #source(event: ApiEvent<ObservedSource>): void {
    if (event.object) this.ledger.sourceWritten(event.object, SOURCE_SCOPE);
    else this.ledger.sourceDeleted(sourceKey(event.key as SourceId), String(event.rv), SOURCE_SCOPE);
  }

  #workload(event: ApiEvent<ObservedWorkload>): void {
    if (event.object) this.ledger.workloadWritten(event.object);
    else this.ledger.workloadDeleted(workloadKey(event.key as WorkloadId));
  }
}

function idOf(key: string): string {
  return key.slice(key.lastIndexOf('/') + 1);
}

function pair<Row>(key: string, row: Row | undefined): [string, Row][] {
  return row === undefined ? [] : [[key, row]];
}
