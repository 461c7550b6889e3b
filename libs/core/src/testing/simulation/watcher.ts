import { ClusterState } from '../../state/cluster-state.ts';
import type { Listed } from '../../state/listed.ts';
import type { ObservedSource, ObservedWorkload, SourceRow, WorkloadRow } from '../../state/rows.ts';
import {
  KEYS,
  SOURCES,
  WORKLOADS,
  hashOf,
  letterOf,
  sourceKey,
  workloadKey,
  type ApiEvent,
  type Protection,
  type SimulatedApi,
  type SourceId,
  type WorkloadId,
} from './api.ts';
import { isWriter, writeCatalog, type SimulatedRedis, type Write } from './redis.ts';
import type { Settings } from './settings.ts';

const SOURCE_SCOPE = { kind: 'ConfigMap', namespace: 'ns' };
const WORKLOAD_SCOPE = { kind: 'Deployment', namespace: 'ns' };
export const DECISION = { keys: KEYS, autoReloadAll: false, ignoredWorkloadTypes: [] };

interface PendingList {
  readonly rv: string;
  readonly cursor: number;
  /** Ids of all that the list shows, and of those that were told. */
  readonly objects: readonly { readonly key: string }[];
  /** The slices of its end that are not done; undefined: it has not begun to end. */
  ending?: Iterator<unknown>;
}

type StreamName = 'S' | 'W';

export type Stage = 'down' | 'listSources' | 'listWorkloads' | 'synced';

/** A watcher process: its streams are cursors into the API's events, its knowledge the real cluster state. */
export class SimulatedWatcher {
  stage: Stage = 'down';
  frozen = false;
  /** A standby that listed before the leader had written all that it knew: to take over is a gap. */
  listedInGap = false;
  /** 0 while it is a standby. */
  term = 0;
  clusterState = new ClusterState({ decision: DECISION, adoptedAt: 0 });
  /** The key under which it hashes, learnt at its start. */
  key = 0;
  /** Whether it follows the namespace. */
  follows = true;
  /** The first lists after the namespace entered the scope. */
  #entering = false;
  /** The slices in which it still has to forget the namespace that left the scope. */
  #leaving: Iterator<unknown> | null = null;
  /** Of the last write that was sent. */
  #sequence = 0;
  /** The next write begins a chain: nothing there is this leader's. */
  #begins = true;
  /** A write of which it does not know whether it was done. */
  #unanswered: Write | null = null;
  /** Copies of writes that are still on their way to Redis. */
  readonly #late: Write[] = [];
  #asksForUntold = false;
  /** Writes that were taken for lost. */
  gaps = 0;
  /** Streams that list anew; null: their list broke, and another is to be begun. */
  readonly #listing = new Map<StreamName, PendingList | null>();
  /** Streams that have had a complete list: their next ones do not ask the catalog. */
  readonly #listed = new Set<StreamName>();
  #cursor = { S: 0, W: 0 };
  /** How far each stream has come; a watch of a revision that is in the future shows nothing until then. */
  #position = { S: 0, W: 0 };
  /** The restores of etcd before its start. */
  timeline = 0;
  /** When its etcd was restored, the revision of the Lease that it had seen: it is renewed all the time. */
  leaseSeen = 0;
  /** It saw an object that is older than a row that it had before. */
  sawRestore = false;
  /** How far it knows the workloads. */
  #workloadsRv = 0;
  readonly #api: SimulatedApi;
  readonly #redis: SimulatedRedis;

  readonly #protection: Protection;
  readonly #settings: Settings;

  constructor(api: SimulatedApi, redis: SimulatedRedis, by: { protection: Protection; settings: Settings }) {
    this.#api = api;
    this.#redis = redis;
    this.#protection = by.protection;
    this.#settings = by.settings;
  }

  start(adoptedAt: number, key: number): void {
    const { triggers } = this.#settings;
    this.clusterState = new ClusterState({
      decision: DECISION,
      adoptedAt,
      triggers,
      rowsPerSlice: 1,
      evaluatesLater: true,
    });
    this.#leaving = null;
    this.key = key;
    this.#listing.clear();
    this.#listed.clear();
    this.timeline = this.#api.timeline;
    this.sawRestore = false;
    this.follows = true;
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
    this.#begins = true;
    this.#unanswered = null;
    if (this.stage === 'synced' && !this.#isEnding) this.#takeOver();
  }

  /** It does nothing more but reset the catalog. */
  get #isEnding(): boolean {
    return this.sawRestore && this.#protection.noticesRestores;
  }

  list(): void {
    if (!this.follows || (this.stage !== 'synced' && !this.#api.inScope)) return;
    if (this.stage === 'listSources') {
      this.#list('S');
      this.stage = 'listWorkloads';
    } else if (this.stage === 'listWorkloads') {
      this.#list('W');
      this.stage = 'synced';
      if (this.#isEnding) return;
      if (this.term > 0) this.#takeOver();
      else this.clusterState.outbox.clear();
    } else if (this.stage === 'synced') {
      for (const stream of ['S', 'W'] as const) if (this.#listing.has(stream)) this.#list(stream);
      this.#settle();
    }
  }

  /** Its etcd is restored. With a bump every watch gets a 410; without one they stay open and show nothing. */
  cutOff(bump: boolean): void {
    for (const [stream, events] of [
      ['S', this.#api.sourceEvents],
      ['W', this.#api.workloadEvents],
    ] as const) {
      this.#cursor[stream] = events.length;
      const begun = this.#listed.has(stream);
      if (this.#listing.has(stream) || (bump && begun)) this.#listing.set(stream, null);
    }
  }

  /** The stream of namespaces tells that it left the scope, or entered it. False if it is known. */
  learnScope(): boolean {
    if (this.stage !== 'synced' || this.follows === this.#api.inScope) return false;
    this.#finish(this.#leaving);
    this.follows = this.#api.inScope;
    this.#listing.clear();
    if (this.follows) {
      this.#entering = true;
      this.#list('S');
      this.#list('W');
      this.#entering = false;
    } else this.#leaving = this.clusterState.leave('ns')[Symbol.iterator]();
    this.#settle();
    return true;
  }

  /** A slice, or all, of the evaluation of the users of sources that changed; then perhaps the next window. */
  evaluate(by: { slices: number; nextWindow: boolean }): void {
    for (let slice = 0; slice < by.slices && this.clusterState.evaluation.slice(); slice += 1) continue;
    if (by.nextWindow) this.clusterState.evaluation.nextWindow();
    this.#settle();
  }

  /** Everything that it saw is evaluated. */
  evaluateAll(): void {
    while (!this.clusterState.evaluation.isDone) this.evaluate({ slices: 1, nextWindow: true });
  }

  /** One slice of what it does in many: the end of a list, or the leaving of the namespace. */
  slice(): void {
    this.#leaving?.next();
    for (const [stream, list] of this.#listing)
      if (list && this.#endSlice(stream, list)) this.#ended(stream, list);
    this.#settle();
  }

  /** All of them. */
  finishSlices(): void {
    this.#finish(this.#leaving);
    this.#settle();
  }

  /** Both streams get a 410. */
  relist(): void {
    if (!this.follows) return;
    this.#list('S');
    this.#list('W');
    this.#settle();
  }

  /** A list is begun and tells some objects; then it stops for a while, or breaks. */
  beginList(stream: StreamName, by: { shown: number; breaks: boolean }): void {
    const first = this.stage === 'listSources' ? 'S' : 'W';
    if (!this.follows || this.stage === 'down' || (this.stage !== 'synced' && stream !== first)) return;
    if (this.#listing.get(stream)?.ending) return;
    const list = this.#openList(stream);
    const shown = list.objects.filter((_, index) => (by.shown & (1 << index)) !== 0);
    if (stream === 'S') this.#foundSources(shown as ObservedSource[]);
    else this.#foundWorkloads(shown as ObservedWorkload[]);
    this.#listing.set(stream, by.breaks ? null : list);
    if (by.breaks && !this.#protection.endsLists) this.#endList(stream, { ...list, objects: shown });
    if (this.stage === 'synced') this.#settle();
  }

  /** False if there is nothing to deliver. */
  deliver(kind: StreamName): boolean {
    const events: readonly ApiEvent<ObservedSource | ObservedWorkload>[] =
      kind === 'S' ? this.#api.sourceEvents : this.#api.workloadEvents;
    const event = events[this.#cursor[kind]];
    if (!event || this.#listing.has(kind) || !this.follows) return false;
    this.#cursor[kind] += 1;
    if (event.rv <= this.#position[kind]) return true;
    this.#position[kind] = event.rv;
    if (kind === 'S') this.#source(event as ApiEvent<ObservedSource>);
    else this.#workload(event as ApiEvent<ObservedWorkload>);
    this.#settle();
    return true;
  }

  /** Everything that it saw is in the catalog too. */
  hasPublished(): boolean {
    const { evaluation, outbox } = this.clusterState;
    return this.isCurrent() && evaluation.isDone && !this.#unanswered && !outbox.hasRows;
  }

  isCurrent(): boolean {
    if (!this.follows) return true;
    return (
      this.#listing.size === 0 &&
      this.#cursor.S === this.#api.sourceEvents.length &&
      this.#cursor.W === this.#api.workloadEvents.length
    );
  }

  resync(): void {
    for (const _ of this.clusterState.prune());
    this.#settle();
    if (this.term === 0 || this.#isEnding) return;
    if (!this.#unanswered && !this.#begins && !isWriter(this.#redis, this.term, this.#sequence)) this.#gap();
    this.publish('rows');
    for (const _ of this.clusterState.resync());
    if (this.#protection.resyncsResumes) return;
    const { outbox } = this.clusterState;
    outbox.putBackJobs({ ...outbox.takeJobs(Infinity), resumes: [] });
  }

  /** Rows first; `rows` stops there, as if the process ended or Redis did before the jobs were enqueued. */
  publish(what: 'rows' | 'all'): void {
    if (this.term === 0 || this.stage !== 'synced' || this.#isEnding) return;
    if (this.#publishRows() && what === 'all') this.#publishJobs();
  }

  /** A write without an answer: it was done, or not, or will be when nobody expects it any more. */
  loseReply(what: 'done' | 'undone' | 'late'): void {
    if (this.term === 0 || this.stage !== 'synced') return;
    const write = this.#nextWrite();
    if (!write) return;
    this.#unanswered = write;
    if (what === 'done') writeCatalog(this.#redis, write);
    if (what === 'late') this.#late.push(write);
  }

  /** What was on its way arrives, even if who sent it has ended. */
  arrive(): void {
    const write = this.#late.shift();
    if (write) writeCatalog(this.#redis, write);
  }

  #publishJobs(): void {
    const { changes, reloads, resumes } = this.clusterState.outbox.takeJobs(Infinity);
    for (const key of changes) this.#redis.enqueue(`c/${idOf(key)}`);
    for (const [key] of reloads) this.#redis.enqueue(`r/${idOf(key)}`);
    for (const key of resumes) {
      const at = this.clusterState.workloads.get(key)?.resumeAt;
      if (at !== undefined) this.#redis.enqueueAt(`p/${idOf(key)}`, at);
    }
  }

  /** What it takes for true and is not: something that is there, and was when its stream was there last, is gone. */
  ghosts(): string[] {
    if (this.stage === 'down' || !this.follows || this.timeline !== this.#api.timeline) return [];
    const { sources, workloads } = this.clusterState;
    const lost = [...this.#api.sources].filter(([id, { exists, createdRv }]) => {
      const row = sources.get(sourceKey(id));
      return exists && row?.exists === false && createdRv <= Number(row.rv);
    });
    const gone = [...this.#api.workloads].filter(
      ([id, { createdRv }]) =>
        this.stage === 'synced' && createdRv <= this.#workloadsRv && !workloads.has(workloadKey(id)),
    );
    return [...lost, ...gone].map(([id]) => id);
  }

  /** The one without an answer, the same again; else the rows of the outbox; null if there are none. */
  #nextWrite(): Write | null {
    const { outbox, sources, workloads } = this.clusterState;
    if (this.#unanswered && this.#protection.repeatsWrites) return this.#unanswered;
    if (!outbox.hasRows) return null;
    const keys = outbox.takeRows(Infinity);
    return {
      term: this.term,
      previous: this.#begins ? null : this.#sequence,
      sequence: this.#sequence + 1,
      sources: keys.sources.map(([key, foundBy]) => [idOf(key), sources.get(key), foundBy] as const),
      workloads: keys.workloads.map((key) => [idOf(key), workloads.get(key)] as const),
    };
  }

  #publishRows(): boolean {
    for (let write = this.#nextWrite(); write; write = this.#nextWrite()) {
      const result = writeCatalog(this.#redis, write);
      this.#unanswered = null;
      if (result.refused) {
        this.end(); // a newer leader has written: this one is none
        return false;
      }
      this.#sequence = write.sequence;
      this.#begins = false;
      for (const key of result.changed) this.clusterState.enqueueChange(sourceKey(key as SourceId));
      if (result.gap) {
        this.gaps += 1;
        this.#gap(write);
      }
    }
    this.#enqueueUntold();
    return true;
  }

  #gap(write?: Write): void {
    this.#begins = true;
    if (!this.#protection.noticesGaps) return;
    this.clusterState.outbox.putBackRows({
      sources: (write?.sources ?? []).map(([id, , foundBy]) => [sourceKey(id as SourceId), foundBy] as const),
      workloads: (write?.workloads ?? []).map(([id]) => workloadKey(id as WorkloadId)),
    });
    this.clusterState.assertAll();
    this.#asksForUntold = true;
  }

  /** Changes that an earlier leader, or this one before a gap, wrote and perhaps enqueued no job for. */
  #enqueueUntold(): void {
    if (!this.#asksForUntold || this.#begins || !this.#protection.tellsUntold) return;
    this.#asksForUntold = false;
    for (const untold of this.#redis.keys('B/'))
      this.clusterState.enqueueChange(sourceKey(idOf(untold) as SourceId));
  }

  #takeOver(): void {
    this.#asksForUntold = true;
    this.clusterState.assertAll();
    for (const _ of this.clusterState.resync());
  }

  #settle(): void {
    if (this.term === 0) this.clusterState.outbox.clear();
  }

  #list(stream: StreamName): void {
    const list = this.#listing.get(stream) ?? this.#openList(stream);
    while (!this.#endSlice(stream, list)) continue;
    this.#ended(stream, list);
  }

  /** Tells all that the list shows, then one slice of its end. True if that was the last. */
  #endSlice(stream: StreamName, list: PendingList): boolean {
    if (!list.ending) {
      if (stream === 'S') this.#foundSources(list.objects as ObservedSource[]);
      else this.#foundWorkloads(list.objects as ObservedWorkload[]);
      list.ending = this.#endOf(stream, list);
    }
    return list.ending.next().done === true;
  }

  #finish(work: Iterator<unknown> | null): void {
    for (let next = work?.next(); next?.done === false; next = work?.next()) continue;
  }

  #openList(stream: StreamName): PendingList {
    const rv = String(this.#api.rv);
    if (stream === 'S') {
      const objects = SOURCES.map((id) => this.#api.observeSource(id, this.key)).filter(
        (seen) => seen !== null,
      );
      return { rv, cursor: this.#api.sourceEvents.length, objects };
    }
    this.clusterState.workloadListBegins(WORKLOAD_SCOPE);
    const objects = WORKLOADS.map((id) => this.#api.observeWorkload(id)).filter((seen) => seen !== null);
    return { rv, cursor: this.#api.workloadEvents.length, objects };
  }

  /** An object that is older than what was known of it before proves that etcd was restored. */
  #looksBack(
    objects: readonly { readonly key: string; readonly rv: string }[],
    ...known: readonly ReadonlyMap<string, { readonly rv: string }>[]
  ): void {
    this.sawRestore ||= objects.some(({ key, rv }) =>
      known.some((rows) => Number(rows.get(key)?.rv ?? 0) > Number(rv)),
    );
  }

  #foundSources(objects: readonly ObservedSource[]): void {
    const catalog = this.#sourceRows();
    this.#looksBack(objects, catalog, this.clusterState.sources);
    for (const seen of objects)
      this.clusterState.sourcesFound({ scope: SOURCE_SCOPE, objects: [seen], catalog });
  }

  #foundWorkloads(objects: readonly ObservedWorkload[]): void {
    const catalog = this.#workloadRows();
    this.#looksBack(objects, catalog, this.clusterState.workloads);
    for (const seen of objects) {
      const entering = this.#entering;
      this.clusterState.workloadsFound({ scope: WORKLOAD_SCOPE, objects: [seen], catalog, entering });
    }
  }

  #endList(stream: StreamName, list: PendingList): void {
    this.#finish(this.#endOf(stream, list));
    this.#ended(stream, list);
  }

  #endOf(stream: StreamName, { rv, objects }: PendingList): Iterator<unknown> {
    const end = { rv, objects: [], found: new Set(objects.map(({ key }) => key)) };
    const rows = stream === 'S' ? this.#sourceRows() : this.#workloadRows();
    const held = stream === 'S' ? this.clusterState.sources : this.clusterState.workloads;
    this.sawRestore ||= [...rows.values(), ...held.values()].some((row) => Number(row.rv) > this.#api.rv);
    return stream === 'S'
      ? this.clusterState.sourceListEnds({ ...end, scope: SOURCE_SCOPE, catalog: this.#sourceRows() })
      : this.#workloadListEnds({ ...end, scope: WORKLOAD_SCOPE, catalog: this.#workloadRows() });
  }

  *#workloadListEnds(list: Listed<ObservedWorkload, WorkloadRow>): Generator<void> {
    for (const absent of this.clusterState.absentWorkloads(list)) {
      for (const key of absent) this.clusterState.workloadDeleted(key);
      yield;
    }
  }

  #ended(stream: StreamName, { rv, cursor }: PendingList): void {
    if (stream === 'W') this.#workloadsRv = Number(rv);
    this.#cursor[stream] = cursor;
    this.#position[stream] = Number(rv);
    this.#listing.delete(stream);
    this.#listed.add(stream);
  }

  #sourceRows(): Map<string, SourceRow> {
    if (this.#listed.has('S')) return new Map();
    return this.#rows<SourceRow>(
      'S',
      SOURCES.map((id) => [id, sourceKey(id)]),
    );
  }

  #workloadRows(): Map<string, WorkloadRow> {
    if (this.#listed.has('W')) return new Map();
    return this.#rows<WorkloadRow>(
      'W',
      WORKLOADS.map((id) => [id, workloadKey(id)]),
    );
  }

  #rows<Row extends SourceRow | WorkloadRow>(
    prefix: string,
    keys: readonly (readonly [string, string])[],
  ): Map<string, Row> {
    const found = keys.flatMap(([id, key]) => pair(key, this.#redis.get<Row>(`${prefix}/${id}`)));
    return new Map(found);
  }

  #source(event: ApiEvent<ObservedSource>): void {
    const seen = event.object;
    if (seen) {
      const hash = hashOf(letterOf(seen.hash) ?? 'A', this.key);
      this.clusterState.sourceWritten({ ...seen, hash }, SOURCE_SCOPE);
    } else this.clusterState.sourceDeleted(sourceKey(event.key as SourceId), String(event.rv), SOURCE_SCOPE);
  }

  #workload(event: ApiEvent<ObservedWorkload>): void {
    this.#workloadsRv = event.rv;
    if (event.object) this.clusterState.workloadWritten(event.object);
    else this.clusterState.workloadDeleted(workloadKey(event.key as WorkloadId));
  }
}

function idOf(key: string): string {
  return key.slice(key.lastIndexOf('/') + 1);
}

function pair<Row>(key: string, row: Row | undefined): [string, Row][] {
  return row === undefined ? [] : [[key, row]];
}
