import { recordedHashes, writeRecord } from '../../record/record.ts';
import type { ObservedSource, ObservedWorkload } from '../../ledger/rows.ts';

/** Data of a source is one letter; its hash is the letter too, in the record's form. */
export type Letter = 'A' | 'B' | 'C';
export const SOURCES = ['s0', 's1'] as const;
export const WORKLOADS = ['w0', 'w1'] as const;
export type SourceId = (typeof SOURCES)[number];
export type WorkloadId = (typeof WORKLOADS)[number];

export const hashOf = (letter: Letter): string => `1.${letter}`;
export const sourceName = (id: SourceId): string => `ConfigMap/${id}`;
export const sourceKey = (id: SourceId): string => `ConfigMap/ns/${id}`;
export const workloadKey = (id: WorkloadId): string => `Deployment/ns/${id}`;

export const AUTO = { 'reloader.stakater.com/auto': 'true' };

export interface SourceState {
  data: Letter;
  exists: boolean;
  rv: number;
  modifiedAt: number;
}

/** A workload with what the checker has to know of it: which data its pods run, and what it was owed. */
export interface WorkloadState {
  uid: string;
  generation: number;
  rv: number;
  createdAt: number;
  refs: readonly SourceId[];
  auto: boolean;
  record: string | undefined;
  template: number;
  templateBy: 'owner' | 'us';
  /** The data that its pods run, by source; the obligation is judged by it. */
  runs: Map<SourceId, Letter | null>;
  /** Sources that changed away from what the record says: `A` recorded, then `B`, then perhaps `A` again. */
  flipped: Set<SourceId>;
  transitions: number;
  transitionsSinceTemplate: number;
  rollouts: number;
  /** Existed before the install adopted the cluster. */
  preexisting: boolean;
  beforeSync: boolean;
  adopted: Set<SourceId>;
  /** Edges that had no record when the leader, Redis or a stream was lost. */
  unrecordedAtGap: Set<SourceId>;
  exact: boolean;
  /** The owner wrote the template when no watcher could see it. */
  blind: boolean;
  everBlind: boolean;
}

export interface ApiEvent<T> {
  readonly rv: number;
  readonly type: 'A' | 'M' | 'D';
  readonly key: string;
  readonly object: T | null;
}

export interface Violation {
  readonly kind: string;
  readonly text: string;
}

/** What the protocol rests on; taken away one by one to see that the checker notices. */
export interface Protection {
  readonly testsGeneration: boolean;
  /** A leader that finds the catalog set back in time asserts it anew. */
  readonly noticesGaps: boolean;
}

export const FULL_PROTECTION: Protection = {
  testsGeneration: true,
  noticesGaps: true,
};

/** Facts about the rest of the world that the checker needs. */
export interface Surroundings {
  seconds(): number;
  adopted(): boolean;
  synced(): boolean;
  watched(): boolean;
  hardFault(): boolean;
  op(): number;
  violation(violation: Violation): void;
  log(line: string): void;
}

/** The API server: objects, events, resourceVersions; and the book-keeping of what is true. */
export class SimulatedApi {
  readonly sources = new Map<SourceId, SourceState>();
  readonly workloads = new Map<WorkloadId, WorkloadState>();
  readonly sourceEvents: ApiEvent<ObservedSource>[] = [];
  readonly workloadEvents: ApiEvent<ObservedWorkload>[] = [];
  readonly graves: [WorkloadId, string | undefined][] = [];
  rv = 10;
  rollouts = 0;
  #uid = 0;
  #template = 0;
  readonly #world: Surroundings;
  readonly #protection: Protection;

  constructor(world: Surroundings, protection: Protection) {
    this.#world = world;
    this.#protection = protection;
  }

  data(id: SourceId): Letter | null {
    const source = this.sources.get(id);
    return source?.exists ? source.data : null;
  }

  writeSource(id: SourceId, data: Letter): void {
    this.rv += 1;
    const old = this.sources.get(id);
    const changed = old?.data !== data;
    this.sources.set(id, { data, exists: true, rv: this.rv, modifiedAt: this.#world.seconds() });
    for (const workload of this.workloads.values())
      if (workload.refs.includes(id)) this.#owe(workload, id, data, changed);
    this.#world.log(`${old?.exists ? 'write' : 'create'} ${id}=${data}`);
    this.#emitSource(id, old?.exists ? 'M' : 'A');
  }

  touchSource(id: SourceId): void {
    const source = this.sources.get(id);
    if (!source?.exists) return;
    this.rv += 1;
    source.rv = this.rv;
    source.modifiedAt = this.#world.seconds();
    this.#world.log(`metadata write of ${id}`);
    this.#emitSource(id, 'M');
  }

  deleteSource(id: SourceId): void {
    const source = this.sources.get(id);
    if (!source?.exists) return;
    this.rv += 1;
    source.exists = false;
    this.#world.log(`delete ${id}`);
    this.#emitSource(id, 'D');
  }

  createWorkload(
    id: WorkloadId,
    how: { refs: readonly SourceId[]; auto: boolean; record?: string | undefined },
  ): void {
    if (this.workloads.has(id)) return;
    this.rv += 1;
    this.#uid += 1;
    const workload: WorkloadState = {
      uid: `u${this.#uid}`,
      generation: 0,
      rv: this.rv,
      createdAt: this.#world.seconds(),
      refs: how.refs,
      auto: how.auto,
      record: how.record,
      template: 0,
      templateBy: 'owner',
      runs: new Map(),
      flipped: new Set(),
      transitions: 0,
      transitionsSinceTemplate: 0,
      rollouts: 0,
      preexisting: !this.#world.adopted(),
      beforeSync: true,
      adopted: new Set(),
      unrecordedAtGap: new Set(),
      exact: false,
      blind: false,
      everBlind: false,
    };
    this.workloads.set(id, workload);
    this.#writeTemplate(workload, 'owner');
    this.#world.log(`create ${id} refs=${how.refs.join()} auto=${how.auto} record=${how.record}`);
    this.#emitWorkload(id, 'A');
  }

  deleteWorkload(id: WorkloadId): void {
    const workload = this.workloads.get(id);
    if (!workload) return;
    this.workloads.delete(id);
    this.rv += 1;
    this.checkRollouts(id, workload);
    this.graves.push([id, workload.record]);
    this.#world.log(`delete ${id}`);
    this.workloadEvents.push({ rv: this.rv, type: 'D', key: id, object: null });
  }

  /** The owner edits the pod template: a rollout of its own. */
  editTemplate(id: WorkloadId, refs?: readonly SourceId[]): void {
    const workload = this.#bump(id);
    if (!workload) return;
    if (refs) workload.refs = refs;
    this.#writeTemplate(workload, 'owner');
    this.#world.log(`owner edits template of ${id} refs=${workload.refs.join()}`);
    this.#emitWorkload(id, 'M');
  }

  toggleAuto(id: WorkloadId): void {
    const workload = this.#bump(id);
    if (!workload) return;
    workload.auto = !workload.auto;
    const record = recordedHashes(workload.record);
    // Opting in: the obligation starts with the data of now.
    if (workload.auto) {
      for (const ref of workload.refs)
        if (!(sourceName(ref) in record)) workload.runs.set(ref, this.data(ref));
    }
    this.#world.log(`${id} auto=${workload.auto}`);
    this.#emitWorkload(id, 'M');
  }

  /** A write that changes neither template nor annotations: `generations` 1 for a scaling, 0 for a status. */
  touchWorkload(id: WorkloadId, generations: 0 | 1): void {
    const workload = this.#bump(id);
    if (!workload) return;
    workload.generation += generations;
    this.#emitWorkload(id, 'M');
  }

  stripRecord(id: WorkloadId): boolean {
    if (this.workloads.get(id)?.record === undefined) return false;
    const workload = this.#bump(id);
    if (!workload) return false;
    workload.record = undefined;
    this.#world.log(`strip the record of ${id}`);
    this.#emitWorkload(id, 'M');
    return true;
  }

  /** False if a `test` of the patch fails. */
  patch(
    id: WorkloadId,
    read: ObservedWorkload,
    write: { hashes: Readonly<Record<string, string>>; roll: boolean },
  ): boolean {
    const workload = this.workloads.get(id);
    if (workload?.uid !== read.uid) return false;
    if (this.#protection.testsGeneration && workload.generation !== read.generation) return false;
    if (workload.record !== read.record) return false;
    this.#bump(id);
    workload.record = writeRecord(write.hashes);
    if (write.roll) this.#roll(id, workload);
    else if (workload.preexisting) this.#adopt(workload, write.hashes);
    for (const ref of SOURCES) if (sourceName(ref) in write.hashes) workload.adopted.add(ref);
    this.#world.log(`PATCH ${id} ${write.roll ? 'ROLL' : 'record only'} ${workload.record}`);
    this.#emitWorkload(id, 'M');
    return true;
  }

  checkRollouts(id: WorkloadId, workload: WorkloadState): void {
    if (workload.rollouts <= workload.transitions) return;
    const kind = workload.everBlind || this.#world.hardFault() ? 'D1f' : 'D1';
    this.#world.violation({
      kind,
      text: `${id} rolled ${workload.rollouts} for ${workload.transitions} changes`,
    });
  }

  observeSource(id: SourceId): ObservedSource | null {
    const source = this.sources.get(id);
    if (!source?.exists) return null;
    const { modifiedAt, rv, data } = source;
    return { key: sourceKey(id), rv: String(rv), hash: hashOf(data), modifiedAt, annotations: {} };
  }

  observeWorkload(id: WorkloadId): ObservedWorkload | null {
    const workload = this.workloads.get(id);
    if (!workload) return null;
    return {
      key: workloadKey(id),
      kind: 'Deployment',
      namespace: 'ns',
      uid: workload.uid,
      generation: workload.generation,
      rv: String(workload.rv),
      createdAt: workload.createdAt,
      template: String(workload.template),
      hasContainers: true,
      uses: [...workload.refs].sort().map(sourceName),
      mentions: [],
      marks: [],
      annotations: workload.auto ? AUTO : {},
      podAnnotations: {},
      record: workload.record,
      resumeAt: undefined,
    };
  }

  #owe(workload: WorkloadState, id: SourceId, data: Letter, changed: boolean): void {
    if ((workload.runs.get(id) ?? null) === null) {
      workload.runs.set(id, data); // its pods waited for the source
      return;
    }
    if (!changed) return;
    if (recordedHashes(workload.record)[sourceName(id)] === hashOf(data)) workload.flipped.add(id);
    else workload.flipped.delete(id);
    workload.transitions += 1;
    workload.transitionsSinceTemplate += 1;
  }

  #roll(id: WorkloadId, workload: WorkloadState): void {
    if (workload.templateBy === 'owner' && workload.transitionsSinceTemplate === 0) {
      const kind = workload.blind || this.#world.hardFault() ? 'D2f' : 'D2';
      this.#world.violation({ kind, text: `vacuous rollout of ${id} at op ${this.#world.op()}` });
    }
    workload.rollouts += 1;
    this.rollouts += 1;
    this.#writeTemplate(workload, 'us');
  }

  /** What was there before the install may be recorded as it is found, once. */
  #adopt(workload: WorkloadState, hashes: Readonly<Record<string, string>>): void {
    const lenient = this.#world.hardFault() || !this.#world.synced() || workload.beforeSync;
    for (const ref of workload.refs) {
      const hash = hashes[sourceName(ref)];
      if (hash === undefined || workload.adopted.has(ref) || workload.exact || !lenient) continue;
      workload.runs.set(ref, hash.slice(2) as Letter);
    }
  }

  #bump(id: WorkloadId): WorkloadState | undefined {
    const workload = this.workloads.get(id);
    if (!workload) return undefined;
    this.rv += 1;
    workload.rv = this.rv;
    return workload;
  }

  #writeTemplate(workload: WorkloadState, by: 'owner' | 'us'): void {
    this.#template += 1;
    workload.template = this.#template;
    workload.generation += 1;
    workload.templateBy = by;
    workload.transitionsSinceTemplate = 0;
    workload.runs = new Map(workload.refs.map((ref) => [ref, this.data(ref)]));
    workload.exact = this.#world.synced();
    if (by === 'us') return;
    workload.blind = !this.#world.watched();
    workload.everBlind ||= workload.blind;
  }

  #emitSource(id: SourceId, type: 'A' | 'M' | 'D'): void {
    this.sourceEvents.push({
      rv: this.rv,
      type,
      key: id,
      object: type === 'D' ? null : this.observeSource(id),
    });
  }

  #emitWorkload(id: WorkloadId, type: 'A' | 'M'): void {
    this.workloadEvents.push({ rv: this.rv, type, key: id, object: this.observeWorkload(id) });
  }
}
