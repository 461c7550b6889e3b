import type { SourceKey, WorkloadKey } from '../../model.ts';
import { DEFAULT_ANNOTATION_KEYS } from '../../annotations/annotation-keys.ts';
import { RELEASE_ANNOTATION } from '../../state/workloads/conflict.ts';
import type { ObservedSource, ObservedWorkload } from '../../state/rows.ts';
import { envVarName } from '../../marker/env-var-name.ts';
import { DELETED_HASH } from '../../record/record-hash.ts';
import { recordedHashes, writeRecord } from '../../record/record.ts';
import { resumeDueAt } from '../../reload/pause.ts';
import { PLAIN, type Settings } from './settings.ts';

/** Data of a source is one letter; its hash is the letter too, in the record's form. */
export type Letter = 'A' | 'B' | 'C';
export const SOURCES = ['s0', 's1'] as const;
export const WORKLOADS = ['w0', 'w1'] as const;
export type SourceId = (typeof SOURCES)[number];
export type WorkloadId = (typeof WORKLOADS)[number];

/** Under the scheme of a key; 0: without one. */
export const hashOf = (letter: Letter, key = 0): string => (key === 0 ? `1.${letter}` : `k${key}.${letter}`);
/** The data that a hash is of, whatever its scheme; null: none. */
export const letterOf = (hash: string | undefined): Letter | null =>
  hash === undefined || hash === DELETED_HASH ? null : (hash.slice(-1) as Letter);
/** The key of a hash's scheme. */
export const keyNumberOf = (hash: string): number => (hash.startsWith('k') ? Number(hash.slice(1, -2)) : 0);
export const sourceName = (id: SourceId): string => `ConfigMap/${id}`;
export const sourceKey = (id: SourceId): SourceKey => `ConfigMap/ns/${id}`;
export const workloadKey = (id: WorkloadId): WorkloadKey => `Deployment/ns/${id}`;

export const AUTO = { 'reloader.stakater.com/auto': 'true' };

export interface SourceState {
  data: Letter;
  exists: boolean;
  rv: number;
  /** Of the creation of the present one. */
  createdRv: number;
  /** Seconds. */
  createdAt: number;
  modifiedAt: number;
  /** Seconds: when it got the data that it has. */
  dataAt: number;
  /** Deleted before a leader had written anything of it. */
  goneUnseen?: boolean;
  /** It was deleted before. */
  isBack: boolean;
}

/** A workload with what the checker has to know of it: which data its pods run, and what was pending for it. */
export interface WorkloadState {
  uid: string;
  generation: number;
  rv: number;
  createdAt: number;
  refs: readonly SourceId[];
  auto: boolean;
  record: string | undefined;
  /** The last one that it had, stripped or not. */
  lastRecord: string | undefined;
  template: string;
  templateBy: 'owner' | 'us';
  /** As the owner wrote it last: without what we put into it since. */
  ownTemplate: string;
  /** Data of which its containers carry a marker. */
  marks: ReadonlyMap<SourceId, Letter>;
  writtenAt: number;
  createdRv: number;
  /** Created with a record of an earlier life. */
  isRestored: boolean;
  /** Seconds at which another controller took our marker away, since the last edit. */
  strips: number[];
  /** Our reloads since changed the record: one that does not cannot be told from an edit, which ends a conflict. */
  isTold: boolean;
  release: number;
  /** Text of its pause-period. */
  period: string | undefined;
  pausedBy: 'owner' | 'us' | null;
  /** Text of its paused-at. */
  pausedAt: string | undefined;
  /** Its owner paused it while a paused-at of ours was left over: nobody can tell the two apart. */
  ambiguous: boolean;
  /** The data that its pods run, by source; the obligation is judged by it. */
  runs: Map<SourceId, Letter | null>;
  /** Sources that changed away from what the record says: `A` recorded, then `B`, then perhaps `A` again. */
  flipped: Set<SourceId>;
  transitions: number;
  transitionsSinceTemplate: number;
  rollouts: number;
  /** Sources whose entry no watcher of then could compare when the template was written, and which stayed as it was. */
  incomparable: Set<SourceId>;
  /** Rollouts too many because of those. */
  excused: number;
  /** Existed before the install adopted the cluster. */
  preexisting: boolean;
  beforeSync: boolean;
  adopted: Set<SourceId>;
  /** Dependencies that had no record when the leader, Redis or a stream was lost. */
  unrecordedAtGap: Set<SourceId>;
  /** Sources that changed while a watcher went on that did not yet know that etcd was restored. */
  changedUnnoticed: Set<SourceId>;
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
  /** A list that broke is no list. */
  readonly endsLists: boolean;
  /** A resync enqueues the ends of pauses again. */
  readonly resyncsResumes: boolean;
  /** A worker leaves a contested workload alone. */
  readonly yieldsContests: boolean;
  /** A watcher that sees that etcd was restored resets the catalog and begins anew. */
  readonly noticesRestores: boolean;
  /** A leader sends a write without an answer again as it was, before any other. */
  readonly repeatsWrites: boolean;
  /** A leader enqueues change jobs for what its predecessor left untold. */
  readonly tellsUntold: boolean;
}

export const FULL_PROTECTION: Protection = {
  testsGeneration: true,
  noticesGaps: true,
  endsLists: true,
  resyncsResumes: true,
  yieldsContests: true,
  noticesRestores: true,
  repeatsWrites: true,
  tellsUntold: true,
};

export const KEYS = DEFAULT_ANNOTATION_KEYS;
/** So many strips within so many seconds end it. */
const STRIPS = 3;
const STRIPS_WITHIN = 600;

/** Facts about the rest of the world that the checker needs. */
export interface Surroundings {
  seconds(): number;
  adopted(): boolean;
  synced(): boolean;
  watched(): boolean;
  /** Whether the catalog has a row of the source that is not older than a revision. */
  isInCatalog(id: SourceId, since: number): boolean;
  /** Every watcher that is in sync knows the workload as it is. */
  hasSeen(workload: WorkloadState): boolean;
  hardFault(): boolean;
  /** Some watcher goes on that does not know yet that etcd was restored. */
  isRestoreUnnoticed(): boolean;
  /** Some watcher has another key than a hash of the record is under. */
  cannotCompare(hash: string): boolean;
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
  /** Whether the labels of the namespace are those that are followed. */
  inScope = true;
  /** How often its etcd was restored. */
  timeline = 0;
  rollouts = 0;
  #uid = 0;
  #template = 0;
  readonly #world: Surroundings;
  readonly #protection: Protection;
  readonly #settings: Settings;

  constructor(world: Surroundings, protection: Protection, settings: Settings = PLAIN) {
    this.#world = world;
    this.#protection = protection;
    this.#settings = settings;
  }

  /** What a backup of its etcd holds, and what the checker knew then of what is in it. */
  backup(): Backup {
    const { sources, workloads, rv } = this;
    return structuredClone({ sources, workloads, rv });
  }

  /** `bump`: the revision goes on above that of before; objects keep theirs. */
  restore(backup: Backup, bump: boolean): void {
    const { sources, workloads, rv } = structuredClone(backup);
    this.timeline += 1;
    this.rv = bump ? this.rv + BUMP : rv;
    replace(this.sources, sources);
    replace(this.workloads, workloads);
    this.#world.log(`etcd is restored to revision ${rv}${bump ? ', with a bump' : ''}`);
  }

  data(id: SourceId): Letter | null {
    const source = this.sources.get(id);
    return source?.exists ? source.data : null;
  }

  writeSource(id: SourceId, data: Letter): void {
    this.rv += 1;
    const old = this.sources.get(id);
    const changed = old?.data !== data;
    const createdRv = old?.exists ? old.createdRv : this.rv;
    const now = this.#world.seconds();
    const createdAt = old?.exists ? old.createdAt : now;
    const isBack = old !== undefined && (!old.exists || old.isBack);
    const dataAt = old?.exists && !changed ? old.dataAt : now;
    const source = { data, exists: true, rv: this.rv, createdRv, createdAt, modifiedAt: now, dataAt, isBack };
    this.sources.set(id, old?.goneUnseen ? { ...source, goneUnseen: true } : source);
    for (const workload of this.workloads.values())
      if (workload.refs.includes(id))
        this.#owe(workload, id, { data, changed, created: createdRv === this.rv });
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
    source.goneUnseen = !this.#world.isInCatalog(id, source.createdRv);
    for (const workload of this.workloads.values())
      if (workload.refs.includes(id) && this.losesBy(workload, id)) this.#change(workload);
    this.#world.log(`delete ${id}`);
    this.#emitSource(id, 'D');
  }

  createWorkload(
    id: WorkloadId,
    how: {
      refs: readonly SourceId[];
      auto: boolean;
      record?: string | undefined;
      period?: string | undefined;
    },
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
      lastRecord: how.record,
      template: '',
      templateBy: 'owner',
      ownTemplate: '',
      marks: new Map(),
      writtenAt: this.#world.seconds(),
      createdRv: this.rv,
      isRestored: how.record !== undefined,
      strips: [],
      isTold: true,
      release: 0,
      period: how.period,
      pausedBy: null,
      pausedAt: undefined,
      ambiguous: false,
      runs: new Map(),
      flipped: new Set(),
      transitions: 0,
      transitionsSinceTemplate: 0,
      rollouts: 0,
      incomparable: new Set(),
      excused: 0,
      preexisting: !this.#world.adopted(),
      beforeSync: true,
      adopted: new Set(),
      unrecordedAtGap: new Set(),
      changedUnnoticed: new Set(),
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
    workload.strips = [];
    workload.isTold = true;
    this.#writeTemplate(workload, 'owner');
    this.#world.log(`owner edits template of ${id} refs=${workload.refs.join()}`);
    this.#emitWorkload(id, 'M');
  }

  toggleAuto(id: WorkloadId): void {
    const workload = this.#bump(id);
    if (!workload) return;
    workload.auto = !workload.auto;
    workload.strips = [];
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

  /** Another controller goes back to the template as its owner wrote it: a rollout, with the data of now. */
  stripMarker(id: WorkloadId, record: boolean): void {
    if (this.workloads.get(id)?.templateBy !== 'us') return;
    const workload = this.#bump(id);
    if (!workload) return;
    if (record) workload.record = undefined;
    this.#writeTemplate(workload, 'owner', workload.ownTemplate);
    if (workload.isTold) workload.strips.push(this.#world.seconds());
    workload.isTold = true;
    this.#world.log(`the marker of ${id} is taken away${record ? ', and its record' : ''}`);
    this.#emitWorkload(id, 'M');
  }

  release(id: WorkloadId): void {
    const workload = this.#bump(id);
    if (!workload) return;
    workload.release += 1;
    workload.strips = [];
    this.#world.log(`release ${id}`);
    this.#emitWorkload(id, 'M');
  }

  /** Its owner pauses it, or lets it go on; what tells since when we paused it stays. */
  setPaused(id: WorkloadId, paused: boolean): void {
    const old = this.workloads.get(id);
    if (!old || (old.pausedBy !== null) === paused) return;
    const workload = this.#bump(id);
    if (!workload) return;
    workload.generation += 1;
    workload.pausedBy = paused ? 'owner' : null;
    workload.ambiguous = paused && workload.pausedAt !== undefined;
    this.#world.log(`the owner ${paused ? 'pauses' : 'resumes'} ${id}`);
    this.#emitWorkload(id, 'M');
  }

  setPeriod(id: WorkloadId, period: string | undefined): void {
    const workload = this.#bump(id);
    if (!workload) return;
    if (workload.period !== period) workload.strips = [];
    workload.period = period;
    this.#world.log(`${id} asks for a pause of ${period}`);
    this.#emitWorkload(id, 'M');
  }

  /** A worker ends a pause. False if a `test` of the patch fails. */
  resume(id: WorkloadId, read: { uid: string; paused: boolean; pausedAt: string }): boolean {
    const old = this.workloads.get(id);
    if (old?.uid !== read.uid || old.pausedAt !== read.pausedAt) return false;
    if ((old.pausedBy !== null) !== read.paused) return false;
    const workload = this.#bump(id);
    if (!workload) return false;
    if (workload.pausedBy === 'owner' && !workload.ambiguous)
      this.#world.violation({ kind: 'P', text: `${id}: its owner's pause is ended` });
    if (workload.pausedBy !== null) workload.generation += 1;
    workload.pausedBy = null;
    workload.pausedAt = undefined;
    this.#world.log(`PATCH ${id} resumed`);
    this.#emitWorkload(id, 'M');
    return true;
  }

  /** Whether another controller takes our markers away so often that we are to stop. */
  isInConflict({ strips }: WorkloadState): boolean {
    const [first = 0, , third] = strips.slice(-STRIPS);
    return third !== undefined && third - first <= STRIPS_WITHIN;
  }

  /** Whether the deletion of a source counts for a workload whose pods have its data. */
  losesBy(workload: WorkloadState, id: SourceId): boolean {
    const { onDelete } = this.#settings.triggers;
    if (onDelete === 'never' || (workload.runs.get(id) ?? null) === null) return false;
    return onDelete === 'always' || workload.marks.has(id);
  }

  /** False if a `test` of the patch fails. */
  patch(id: WorkloadId, read: ObservedWorkload, write: Rolled): boolean {
    const workload = this.workloads.get(id);
    if (workload?.uid !== read.uid) return false;
    if (this.#protection.testsGeneration && workload.generation !== read.generation) return false;
    if (workload.record !== read.record) return false;
    this.#bump(id);
    const record = writeRecord(write.hashes);
    if (write.roll.length > 0) this.#conflict(workload, record === workload.record);
    const before = recordedHashes(workload.record);
    for (const ref of SOURCES)
      if (before[sourceName(ref)] !== write.hashes[sourceName(ref)]) workload.incomparable.delete(ref);
    workload.record = record;
    workload.lastRecord = record;
    if (write.roll.length > 0) this.#roll(id, workload, write);
    else if (workload.preexisting) this.#adopt(workload, write.hashes);
    for (const ref of SOURCES) if (sourceName(ref) in write.hashes) workload.adopted.add(ref);
    this.#world.log(`PATCH ${id} ${write.roll.length > 0 ? 'ROLL' : 'record only'} ${workload.record}`);
    this.#emitWorkload(id, 'M');
    return true;
  }

  checkRollouts(id: WorkloadId, workload: WorkloadState): void {
    if (workload.rollouts <= workload.transitions + workload.excused) return;
    const kind = workload.everBlind || this.#world.hardFault() ? 'D1f' : 'D1';
    this.#world.violation({
      kind,
      text: `${id} rolled ${workload.rollouts} for ${workload.transitions} changes`,
    });
  }

  /** Hashed under a key. */
  observeSource(id: SourceId, key = 0): ObservedSource | null {
    const source = this.sources.get(id);
    if (!source?.exists) return null;
    const { createdAt, modifiedAt, rv, data } = source;
    return {
      key: sourceKey(id),
      rv: String(rv),
      hash: hashOf(data, key),
      modifiedAt,
      annotations: {},
      ...(createdAt === modifiedAt ? { asCreated: true } : {}),
    };
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
      template: workload.template,
      hasContainers: true,
      uses: [...workload.refs].sort().map(sourceName),
      mentions: [],
      marks:
        this.#settings.triggers.onDelete === 'always' ? [] : [...workload.marks.keys()].sort().map(variable),
      annotations: annotationsOf(workload),
      podAnnotations: {},
      record: workload.record,
      resumeAt: this.dueOf(workload),
      writtenAt: workload.writtenAt,
    };
  }

  /** Unix milliseconds. */
  dueOf({ period, pausedAt, pausedBy }: WorkloadState): number | undefined {
    const annotations = {
      ...pauseAnnotations(period),
      ...(pausedAt === undefined ? {} : { [KEYS.pausedAt]: pausedAt }),
    };
    return resumeDueAt({ paused: pausedBy !== null, annotations }, KEYS);
  }

  #owe(
    workload: WorkloadState,
    id: SourceId,
    { data, changed, created }: { data: Letter; changed: boolean; created: boolean },
  ): void {
    if (this.#world.isRestoreUnnoticed()) workload.changedUnnoticed.add(id);
    const { onCreate } = this.#settings.triggers;
    if ((workload.runs.get(id) ?? null) === null) {
      if (onCreate) this.#change(workload);
      else workload.runs.set(id, data); // its pods waited for the source
      return;
    }
    if (!changed) {
      // A creation may count unless it is known that its pods have this very data.
      const isKnown = letterOf(recordedHashes(workload.record)[sourceName(id)]) === data;
      if (created && onCreate && !(isKnown && this.#world.hasSeen(workload))) this.#change(workload);
      return;
    }
    if (letterOf(recordedHashes(workload.lastRecord)[sourceName(id)]) === data) workload.flipped.add(id);
    else workload.flipped.delete(id);
    this.#change(workload);
  }

  #change(workload: WorkloadState): void {
    workload.transitions += 1;
    workload.transitionsSinceTemplate += 1;
  }

  #roll(id: WorkloadId, workload: WorkloadState, write: Rolled): void {
    this.#checkRoll(id, workload, write);
    if (this.#isSync(workload, write)) this.#change(workload);
    if (this.#isByKey(workload, write)) {
      workload.excused += 1;
      this.#world.violation({ kind: 'D2k', text: `${id} rolled by an entry that could not be compared` });
    } else if (workload.templateBy === 'owner' && workload.transitionsSinceTemplate === 0) {
      const isExcused = (workload.blind || this.#world.hardFault()) && !this.#isInstall(workload, write);
      const kind = isExcused ? 'D2f' : 'D2';
      this.#world.violation({ kind, text: `vacuous rollout of ${id} at op ${this.#world.op()}` });
    }
    workload.rollouts += 1;
    this.rollouts += 1;
    const marks = new Map(workload.marks);
    for (const ref of SOURCES) {
      const letter = letterOf(write.hashes[sourceName(ref)]);
      if (!write.roll.includes(sourceName(ref))) continue;
      if (letter === null) marks.delete(ref);
      else marks.set(ref, letter);
    }
    this.#writeTemplate(workload, 'us');
    workload.marks = marks;
    if (write.pausedAt === undefined) return;
    workload.pausedBy = 'us';
    workload.pausedAt = write.pausedAt;
    workload.ambiguous = false;
  }

  /** Workload and sources are as they were first created, the sources before it, and nothing of them was recorded. */
  #isInstall({ createdRv, generation, adopted, isRestored }: WorkloadState, { roll }: Rolled): boolean {
    if (isRestored || adopted.size > 0 || generation > 1 || this.#settings.triggers.onCreate) return false;
    return SOURCES.filter((ref) => roll.includes(sourceName(ref))).every((ref) => {
      const source = this.sources.get(ref);
      return source?.exists && !source.isBack && source.rv === source.createdRv && source.rv < createdRv;
    });
  }

  #isByKey({ transitionsSinceTemplate, incomparable }: WorkloadState, { roll }: Rolled): boolean {
    return transitionsSinceTemplate === 0 && [...incomparable].some((ref) => roll.includes(sourceName(ref)));
  }

  #conflict(workload: WorkloadState, sameRecord: boolean): void {
    if (!sameRecord) return;
    workload.strips = [];
    workload.isTold = false;
  }

  /** `--sync-after-restart`: what was there at the start counts as created, once, for who was there too. */
  #isSync(workload: WorkloadState, { roll }: Rolled): boolean {
    const { onCreate, afterRestart } = this.#settings.triggers;
    if (!onCreate || !afterRestart || workload.exact || workload.templateBy === 'us') return false;
    return SOURCES.some((ref) => roll.includes(sourceName(ref)) && !workload.adopted.has(ref));
  }

  #checkRoll(id: WorkloadId, workload: WorkloadState, write: Rolled): void {
    const hard = this.#world.hardFault() ? 'f' : '';
    if (this.isInConflict(workload))
      this.#world.violation({ kind: `C${hard}`, text: `${id} is rolled though it is in conflict` });
    if (write.pausedAt !== undefined && workload.pausedBy !== null)
      this.#world.violation({ kind: 'P', text: `${id} is paused twice` });
  }

  /** What was there before the install may be recorded as it is found, once. */
  #adopt(workload: WorkloadState, hashes: Readonly<Record<string, string>>): void {
    const lenient = this.#world.hardFault() || !this.#world.synced() || workload.beforeSync;
    for (const ref of workload.refs) {
      const hash = hashes[sourceName(ref)];
      if (hash === undefined || workload.adopted.has(ref) || workload.exact || !lenient) continue;
      workload.runs.set(ref, letterOf(hash));
    }
  }

  #bump(id: WorkloadId): WorkloadState | undefined {
    const workload = this.workloads.get(id);
    if (!workload) return undefined;
    this.rv += 1;
    workload.rv = this.rv;
    workload.writtenAt = this.#world.seconds();
    return workload;
  }

  #writeTemplate(workload: WorkloadState, by: 'owner' | 'us', back?: string): void {
    this.#template += 1;
    workload.template = back ?? `t${this.#template}`;
    if (by === 'owner') workload.ownTemplate = workload.template;
    if (back !== undefined) workload.marks = new Map();
    workload.generation += 1;
    workload.templateBy = by;
    workload.transitionsSinceTemplate = 0;
    workload.runs = new Map(workload.refs.map((ref) => [ref, this.data(ref)]));
    workload.incomparable = new Set(SOURCES.filter((ref) => this.#isIncomparable(workload, ref)));
    workload.exact = this.#world.synced();
    if (by === 'us') return;
    workload.blind = !this.#world.watched();
    workload.everBlind ||= workload.blind;
  }

  #isIncomparable({ record }: WorkloadState, ref: SourceId): boolean {
    const hash = recordedHashes(record)[sourceName(ref)];
    return hash !== undefined && hash !== DELETED_HASH && this.#world.cannotCompare(hash);
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

/** Copies of what etcd held at one revision. */
export interface Backup {
  readonly sources: ReadonlyMap<SourceId, SourceState>;
  readonly workloads: ReadonlyMap<WorkloadId, WorkloadState>;
  readonly rv: number;
}

/** How far the revision is raised at a restore with a bump. */
const BUMP = 1_000;

function replace<K, V>(map: Map<K, V>, by: ReadonlyMap<K, V>): void {
  map.clear();
  for (const [key, value] of by) map.set(key, value);
}

/** What a patch of a worker writes. */
export interface Rolled {
  readonly hashes: Readonly<Record<string, string>>;
  /** Names of the sources for which the pods are replaced. */
  readonly roll: readonly string[];
  /** Given if it holds the rollout back. */
  readonly pausedAt?: string | undefined;
}

function variable(id: SourceId): string {
  return envVarName('ConfigMap', id);
}

function pauseAnnotations(period: string | undefined): Record<string, string> {
  return period === undefined ? {} : { [KEYS.pausePeriod]: period };
}

function annotationsOf({ auto, period, release }: WorkloadState): Record<string, string> {
  const released = release === 0 ? {} : { [RELEASE_ANNOTATION]: String(release) };
  return { ...(auto ? AUTO : {}), ...pauseAnnotations(period), ...released };
}
