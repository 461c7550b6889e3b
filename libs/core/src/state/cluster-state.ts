import { isSameExcess } from '../annotations/annotation-limits.ts';
import { kindOf, namespaceOf, SOURCE_KINDS, type SourceKey, type WorkloadKey } from '../model.ts';
import { RV_UNKNOWN, isNewer, type Rv } from '../rv.ts';
import { work } from '../work.ts';
import { asksTheSame, needsAdvice } from './workloads/advice.ts';
import { changesOf, type Seen, type SourceChanges, UserEvaluation } from './sources/changed-sources.ts';
import { DeletedSources } from './sources/deleted-sources.ts';
import { Dependents } from './dependencies/dependents.ts';
import { DependencyJudging, DependencyMoves } from './dependencies/dependency-judging.ts';
import { decidesTheSame } from './dependencies/dependencies.ts';
import { withExcessOf } from './dependencies/dependency-limits.ts';
import {
  eachAbsent,
  isWithin,
  latest,
  type Listed,
  type Portion,
  type Scope,
  withCatalog,
  Positions,
} from './listed.ts';
import { withDefaults, type ClusterStateSettings } from './settings.ts';
import { MultiMap } from './multi-map.ts';
import {
  absentSource,
  deletedSource,
  hasNewerClass,
  listedSource,
  unwatchedSource,
  writtenSource,
} from './sources/observe-source.ts';
import {
  begunWhileAbsent,
  verifiedBySource,
  withBaselinesFrom,
  workloadRow,
  type Sighting,
} from './workloads/observe-workload.ts';
import { Doubts } from './doubts.ts';
import { Outbox, type Drain, type PendingCause } from './outbox.ts';
import { pendingCauseOf } from './pending.ts';
import { PendingWorkloads, type Pending, type PendingReloads } from './pending-workloads.ts';
import {
  isSameBesidesRv,
  sourceKeyIn,
  sourceNameOf,
  type ObservedSource,
  type ObservedWorkload,
  type SourceName,
  type SourceRow,
  type WorkloadRow,
} from './rows.ts';
import { inOneGo, inSlices, turn } from './slices.ts';
import { isLaterSighting } from './workloads/template-owner.ts';

/**
 * The watcher's view of the cluster: a pure state machine that derives what is pending from the events of the streams. It does no
 * I/O and reads no clock. Rows to write and jobs to enqueue go into its outbox.
 */
export class ClusterState {
  readonly #outbox = new Outbox();
  readonly #sources = new Map<SourceKey, SourceRow>();
  readonly #workloads = new Map<WorkloadKey, WorkloadRow>();
  readonly #pending = new PendingWorkloads();
  readonly outbox: Drain = this.#outbox;
  readonly sources: ReadonlyMap<SourceKey, SourceRow> = this.#sources;
  readonly workloads: ReadonlyMap<WorkloadKey, WorkloadRow> = this.#workloads;
  /** Always a subset of `workloads`. */
  readonly pending: ReadonlyMap<WorkloadKey, Readonly<Pending>> = this.#pending.all;
  readonly #settings: Required<ClusterStateSettings>;
  readonly #dependents: Dependents;
  readonly #byNamespace = new MultiMap<SourceKey>();
  /** Maps a namespace to its workloads of all kinds. */
  readonly #workloadsIn = new MultiMap<WorkloadKey>();
  readonly #positions = new Positions();
  readonly #dependencies: DependencyJudging;
  readonly #deleted: DeletedSources;
  /** Evaluates the users of changed sources; with `evaluatesLater`, the owner drives it. */
  readonly evaluation: UserEvaluation;
  readonly doubts: Doubts;

  constructor(settings: ClusterStateSettings) {
    this.#dependents = new Dependents(settings.decision.keys);
    this.#settings = withDefaults(settings);
    this.#deleted = new DeletedSources(this, this.#dependents, this.#settings);
    const rows = { sources: this.#sources, workloads: this.#workloads };
    this.#dependencies = new DependencyJudging({
      ...rows,
      decision: settings.decision,
      byNamespace: this.#byNamespace,
      dependents: this.#dependents,
      replace: (key, row) => this.#replace(key, row),
    });
    this.evaluation = new UserEvaluation({
      perSlice: this.#settings.rowsPerSlice,
      evaluate: (key, changes) => this.#evaluateUsersOf(key, changes),
      judge: (isOver) => this.#judgeSome(isOver),
      hasUnjudged: () => !this.#dependencies.isDone,
    });
    this.doubts = new Doubts({ ...rows, pending: this.pending }, (...of) => void this.#evaluate(...of));
  }

  /**
   * What is as old as the time that has passed gets older: how long workloads have been pending, and sources deleted. To be called at
   * every interval, also by a standby, and not when a resync comes early.
   */
  intervalPassed(): void {
    this.#pending.intervalPassed();
    this.#deleted.intervalPassed();
  }

  /** `interval`: milliseconds between two calls of `intervalPassed`. */
  pendingReloads(interval: number): PendingReloads {
    return this.#pending.reloads(interval);
  }

  /** Takes some sources of a list that has not ended. They stay valid even if the list breaks. */
  sourcesFound({ objects, catalog }: Portion<ObservedSource, SourceRow>): void {
    for (const seen of objects) {
      const held = this.#sources.get(seen.key);
      if (held && isNewer(held.rv, seen.rv)) continue;
      this.#putSource(seen.key, listedSource(seen, latest(held, catalog.get(seen.key))), {
        at: seen.rv,
        by: 'list',
      });
    }
  }

  /** Takes a complete list of sources of one scope, or its last portion. */
  sourcesListed(list: Listed<ObservedSource, SourceRow>): void {
    inOneGo(this.sourceListEnds(list));
  }

  /**
   * `sourcesListed` in slices. Other streams may be observed between slices, but not this scope's stream. That is safe: each object
   * is judged by itself, a source is not taken for deleted before the list ends, and the position of the scope moves with the last
   * slice. Stop early only if the scope is forgotten.
   */
  *sourceListEnds(list: Listed<ObservedSource, SourceRow>): Generator<void, void, void> {
    if (this.#positions.isFirstList(list.scope)) yield* this.#adoptDependencies(list);
    this.sourcesFound(list);
    const known = withCatalog(this.sourcesIn(list.scope), this.#sources, list);
    const each = (key: SourceKey): void => this.#sourceAbsent(key, list);
    yield* eachAbsent(known, list, { size: this.#settings.rowsPerSlice, each });
    this.#positions.sourcesListed(list.scope, list.rv);
  }

  #sourceAbsent(key: SourceKey, list: Listed<ObservedSource, SourceRow>): void {
    const known = this.#sources.get(key) ?? list.catalog.get(key);
    // A leader may have written the row after this list was taken; the stream will then show the later write.
    if (!known || isNewer(known.rv, list.rv)) return;
    const row = list.unwatched?.has(key) ? unwatchedSource(known) : absentSource(known, list.rv);
    this.#putSource(key, row, { at: list.rv, by: 'list', known });
  }

  sourceWritten(seen: ObservedSource, scope: Scope): void {
    this.#positions.advance(scope, seen.rv);
    const known = this.#sources.get(seen.key);
    if (known && !isNewer(seen.rv, known.rv) && !hasNewerClass(seen, known)) return;
    const listRv = this.#positions.listOf(scope);
    // The first pod that mounts a SecretProviderClass does not create the class.
    const onCreate = this.#settings.triggers.onCreate && !seen.providerClass;
    const row = writtenSource(seen, known, { listRv, onCreate });
    this.#leaveReading(seen, known);
    // A dependency that begins because its source was created counts as a creation too.
    this.#putSource(seen.key, row, { at: onCreate && !known ? RV_UNKNOWN : seen.rv, by: 'event', known });
  }

  /** Keeps the hashes of a source that an event shows with other data, so that no worker has to read it. */
  #leaveReading({ key, rv, hash, markerHash }: ObservedSource, known: SourceRow | undefined): void {
    if (!markerHash || !known?.exists || known.hash === hash || !this.#dependents.hasUsers(key)) return;
    this.#outbox.leaveReading(key, { rv, hash, markerHash: markerHash() });
  }

  /** Takes a live deletion of a source; `rv` is the resourceVersion of the deletion. */
  sourceDeleted(key: SourceKey, rv: Rv, scope: Scope): void {
    this.#positions.advance(scope, rv);
    const known = this.#sources.get(key);
    if (!known || !isNewer(rv, known.rv)) return;
    this.#putSource(key, deletedSource(known, rv), { at: rv, by: 'event', known });
  }

  /** Takes that a source exists, but lost the labels of the watched ones; `rv` is the resourceVersion of that write. */
  sourceUnwatched(key: SourceKey, rv: Rv): void {
    const known = this.#sources.get(key);
    if (!known?.exists || !isNewer(rv, known.rv)) return;
    this.#putSource(key, unwatchedSource(known), { at: rv, by: 'event', known });
  }

  /**
   * Notes the position of the sources, which dates the dependencies of the workloads in the list. Call it before requesting the
   * list.
   */
  workloadListBegins(scope: Scope): void {
    this.#positions.workloadListBegins(scope);
  }

  /** Takes some workloads of a list that has begun and not ended. */
  workloadsFound({ scope, objects, catalog, entering }: Portion<ObservedWorkload, WorkloadRow>): void {
    const sourcesRv = this.#positions.sourcesAtListOf(scope);
    const adoptedAt = entering === true ? Number.POSITIVE_INFINITY : this.#settings.adoptedAt;
    for (const seen of objects) {
      const known = latest(this.#workloads.get(seen.key), catalog.get(seen.key));
      const isScopeNew = this.#settings.isScopeNew && !this.#workloads.has(seen.key) && !entering;
      this.#see(seen, { live: false, known, sourcesRv, adoptedAt, isScopeNew });
    }
  }

  /** Takes a complete list of workloads of one scope, or its last portion. */
  workloadsListed(list: Listed<ObservedWorkload, WorkloadRow>): void {
    this.workloadsFound(list);
    inOneGo(this.eachAbsentWorkload(list, (key) => this.workloadDeleted(key)));
  }

  /**
   * Calls `each` for the workloads that are absent from a complete list and so are deleted, in slices. `each` is to delete them.
   */
  eachAbsentWorkload(
    list: Listed<ObservedWorkload, WorkloadRow>,
    each: (key: WorkloadKey) => void,
  ): Iterable<void> {
    const known = withCatalog(this.#workloadsOf(list.scope.namespace), this.#workloads, list);
    return eachAbsent(known, list, { size: this.#settings.rowsPerSlice, each });
  }

  workloadWritten(seen: ObservedWorkload): void {
    const known = this.#workloads.get(seen.key);
    if (known && !isLaterSighting(seen, known)) return;
    this.#see(seen, { live: true, known, sourcesRv: RV_UNKNOWN, adoptedAt: this.#settings.adoptedAt });
  }

  workloadDeleted(key: WorkloadKey): void {
    const row = this.#workloads.get(key);
    if (row) this.#dependencies.forget(key, row);
    this.#workloads.delete(key);
    this.#workloadsIn.delete(namespaceOf(key), key);
    this.#pending.forget(key);
    this.#outbox.writeWorkload(key);
  }

  /**
   * Forgets a namespace that left the scope, here and in the catalog, and drops its jobs, in slices. This is not a deletion. If the
   * namespace comes back, its objects are treated as seen for the first time. Events of other namespaces may be observed in between;
   * do not list this namespace again before the last slice. Workloads go first, so that a workload is always judged with all its
   * sources.
   */
  *leave(namespace: string): Generator<void, void, void> {
    yield* this.#inSlices(this.#workloadsIn.get(namespace), (key) => {
      this.workloadDeleted(key);
      this.#outbox.dropReloadOf(key);
    });
    for (const kindIn of SOURCE_KINDS.map((kind) => `${kind}/${namespace}`))
      yield* this.#inSlices(this.#byNamespace.get(kindIn), (key) => this.#forgetSource(key, kindIn));
    this.#positions.forget(namespace);
  }

  /**
   * Drops the rows of sources that were deleted some intervals ago and that no record and no dependency names, here and in the
   * catalog, in slices. A workload that names such a source later counts from that moment, so no date of the deletion is needed.
   * Then queues some of the workloads that exceed a limit of dependencies to be counted again.
   */
  *prune(): Generator<void, void, void> {
    const deleted = this.#deleted.longGone();
    while (this.#pruneSome(deleted)) yield;
    this.#dependencies.countExceedingAgain();
    this.evaluation.onWork();
  }

  /** Drops some of the sources, in one slice. Returns false if none is left. */
  #pruneSome(deleted: Iterator<SourceKey>): boolean {
    const isOver = turn();
    const unneeded: SourceKey[] = [];
    const moves = new DependencyMoves();
    let next = deleted.next();
    for (let pairs = 0; next.done !== true; next = deleted.next()) {
      const key = next.value;
      const users = this.#dependents.usersOf(key);
      if (this.#deleted.isUnneeded(key)) {
        unneeded.push(key);
        moves.noteGone(key, users, this.#workloads);
      }
      pairs += 1 + users.length;
      if (pairs >= this.#settings.rowsPerSlice || isOver()) break;
    }
    for (const move of moves.moved()) this.#dependencies.move(move);
    for (const key of unneeded) this.#forgetSource(key, `${kindOf(key)}/${namespaceOf(key)}`);
    return next.done !== true;
  }

  #forgetSource(key: SourceKey, kindIn: string): void {
    this.#deleted.forget(key);
    this.#byNamespace.delete(kindIn, key);
    this.#sources.delete(key);
    this.evaluation.drop(key);
    this.#outbox.dropChangeOf(key);
    this.#outbox.writeSource(key);
  }

  sourcesIn({ kind, namespace }: Scope): Iterable<SourceKey> {
    return namespace === '' ? this.#sources.keys() : this.#byNamespace.get(`${kind}/${namespace}`);
  }

  /**
   * Queues every row for writing, forgets what was enqueued, and enqueues the workloads whose owners need advice. Called when this
   * watcher begins to lead and when the catalog was lost. With `evaluatesLater`, `evaluation` does the enqueueing.
   */
  assertAll(): void {
    this.#outbox.writeAll(this.#byNamespace, this.#workloadsIn);
    this.#pending.beginAnew();
    if (this.#settings.evaluatesLater) this.evaluation.afterwards(this.#adviseAll());
    else inOneGo(this.#adviseAll());
  }

  /** Returns the sources under which a workload is indexed: those it uses, names, mentions or has recorded. */
  sourcesOf(key: WorkloadKey): readonly SourceKey[] {
    const row = this.#workloads.get(key);
    return row ? this.#dependents.sourcesOf(key, row) : [];
  }

  /**
   * Evaluates every workload and enqueues what is pending and has waited long enough, in slices. Events may be observed in between,
   * because each workload is judged by itself and by the current rows.
   */
  *resync(): Generator<void, void, void> {
    this.#pending.beginResync();
    yield* this.#inSlices(this.#workloads.keys(), (key) => this.#resyncOne(key));
  }

  #resyncOne(key: WorkloadKey): void {
    this.#evaluate(key);
    const cause = this.#pending.takeTurn(key);
    if (cause) this.#outbox.enqueueReload(key, cause);
    this.#resume(key);
  }

  #see(
    sighted: ObservedWorkload,
    how: Omit<Sighting, 'dependencies' | 'triggers' | 'earlier' | 'sourceOf'>,
  ): void {
    const old = this.#workloads.get(sighted.key);
    const known = how.known === old ? old : undefined;
    const seen = withExcessOf(known, sighted);
    // Its sources report on their own when they begin or end a dependency.
    const isDecided = known !== undefined && decidesTheSame(known, seen);
    const sighting = {
      ...how,
      triggers: this.#settings.triggers,
      earlier: isDecided ? undefined : this.#dependencies.take(seen.key),
      sourceOf: this.#sourceOf(seen.namespace),
    };
    const dependencies = isDecided ? known.dependencies : this.#dependencies.dependencies(seen, sighting);
    const row = this.#dependencies.admit(seen.key, old, workloadRow(seen, { ...sighting, dependencies }));
    this.#workloads.set(seen.key, row);
    if (!old) this.#workloadsIn.add(seen.namespace, seen.key);
    // Only the status or something irrelevant changed: no row to write, no reload job.
    if (old && isSameBesidesRv(old, row)) return;
    this.#dependents.put(seen.key, old, row);
    this.#outbox.writeWorkload(seen.key);
    this.#touch(seen.key);
    this.#resume(seen.key);
    if (!old || !asksTheSame(old, row)) this.#advise(seen.key, row);
  }

  #resume(key: WorkloadKey): void {
    if (this.#workloads.get(key)?.resumeAt !== undefined) this.#outbox.enqueueResume(key);
  }

  *#adviseAll(): Generator<void, void, void> {
    for (const [key, row] of this.#workloads) {
      this.#advise(key, row);
      yield;
    }
  }

  /** Enqueues, with low priority, a workload that asks for something it cannot get, so that a worker tells its owner why. */
  #advise(key: WorkloadKey, row: WorkloadRow): void {
    const { keys } = this.#settings.decision;
    const sourceOf = this.#sourceOf(namespaceOf(key));
    const isSeen = (source: SourceName): boolean => sourceOf(source)?.exists ?? false;
    if (needsAdvice({ ...row, kind: kindOf(key) }, { keys, isSeen }))
      this.#outbox.enqueueReload(key, 'correct');
  }

  #putSource(key: SourceKey, row: SourceRow, how: Seen): void {
    const old = this.#sources.get(key);
    this.#sources.set(key, row);
    this.#deleted.observe(key, row.exists);
    if (!old) this.#byNamespace.add(`${kindOf(key)}/${namespaceOf(key)}`, key);
    const changes = changesOf({ old, row, ...how }, this.#settings.triggers);
    // Spares the many sources of a first list, which arrive before any workload, the wait for the next evaluation.
    const isAtOnce =
      changes.rulesRv !== undefined && changes.job === undefined && !this.#dependents.mayHaveUsers(key);
    if (!this.#settings.evaluatesLater || isAtOnce) inOneGo(this.#evaluateUsersOf(key, changes));
    else this.evaluation.note(key, changes);
  }

  /** Enqueues a change job for a change whose row is written, unless one is waiting or the evaluation will enqueue one. */
  enqueueChange(key: SourceKey): void {
    if (this.#sources.has(key) && !this.evaluation.bringsJob(key)) this.#outbox.enqueueWritten(key);
  }

  enqueueRequested(keys: Iterable<WorkloadKey>): void {
    for (const key of keys) if (this.#workloads.has(key)) this.#outbox.enqueueReload(key, 'owed');
  }

  /** Removes rows from the catalog that the cluster state does not have, and rewrites those that it has. */
  removeLeftOver(left: { sources: Iterable<SourceKey>; workloads: Iterable<WorkloadKey> }): void {
    for (const key of left.workloads) this.#outbox.writeWorkload(key);
    for (const key of left.sources) this.#outbox.writeSource(key);
  }

  #needsJob(key: SourceKey, job: SourceChanges['job']): boolean {
    return job === 'always' || (job === 'used' && this.#dependents.hasUsers(key));
  }

  /** Writes the row of the source before any reload job of its users, and enqueues its change job after all their rows. */
  *#evaluateUsersOf(key: SourceKey, changes: SourceChanges): Generator<void, void, void> {
    const { job, by, absentAt } = changes;
    if (absentAt !== undefined) yield* this.#beginAt(key, absentAt);
    this.#outbox.writeSource(key);
    const needsJob = this.#needsJob(key, job);
    // The row may be written before the last slice, and carries how its change was found.
    if (needsJob) this.#outbox.found(key, by);
    // If the source is gone by now, a change job finds no workload to reload.
    const jobComes = changes.jobReloads && needsJob && this.#sources.get(key)?.exists === true;
    if (changes.touches) yield* this.#evaluateEach(key, changes, jobComes);
    if (needsJob) this.#outbox.enqueueChange(key);
    else if (this.#needsJob(key, job)) {
      this.#outbox.enqueueChange(key);
      this.#outbox.found(key, by);
    }
  }

  *#evaluateEach(key: SourceKey, changes: SourceChanges, jobComes: boolean): Generator<void, void, void> {
    const { rulesRv, states, isNew } = changes;
    const users = this.#dependents;
    for (const workload of rulesRv === undefined ? users.usersOf(key) : users.maybeUsersOf(key)) {
      const isMoved =
        rulesRv !== undefined &&
        this.#dependencies.judge({ workload, source: key, isNew, begin: () => ({ rv: rulesRv }) });
      if (isMoved || rulesRv === undefined || users.isUser(key, workload)) {
        this.#change(workload, (row) => verifiedBySource(row, sourceNameOf(key), states));
        this.#touch(workload, jobComes);
      }
      yield;
    }
  }

  *#beginAt(key: SourceKey, absentAt: Rv): Generator<void, void, void> {
    for (const workload of this.#dependents.usersOf(key)) {
      this.#change(workload, (row) => begunWhileAbsent(row, sourceNameOf(key), absentAt));
      yield;
    }
  }

  #change(workload: WorkloadKey, change: (row: WorkloadRow) => WorkloadRow): void {
    const row = this.#workloads.get(workload);
    const changed = row && change(row);
    if (changed && changed !== row) this.#replace(workload, changed);
  }

  #judgeSome(isOver: () => boolean): void {
    for (const workload of this.#dependencies.judgeSome(isOver)) this.#touch(workload);
    this.#dependencies.countSome(turn());
  }

  #inSlices<T>(items: Iterable<T>, each: (item: T) => void): Generator<void, void, void> {
    return inSlices(items, { size: this.#settings.rowsPerSlice, each });
  }

  #workloadsOf(namespace: string): Iterable<WorkloadKey> {
    return namespace === '' ? this.#workloads.keys() : this.#workloadsIn.get(namespace);
  }

  /**
   * Dates the dependencies on sources of a kind that is listed for the first time while workloads are already known, because its
   * API came later. A dependency without a record is judged from this list on, as if both had been there at the start.
   */
  *#adoptDependencies(list: Listed<ObservedSource, SourceRow>): Generator<void, void, void> {
    const { scope, rv, catalog } = list;
    yield* this.#inSlices(this.#workloadsOf(scope.namespace), (key) => {
      const isNew = (name: SourceName): boolean => {
        const source = sourceKeyIn(namespaceOf(key), name);
        return isWithin(scope, source) && !catalog.has(source);
      };
      this.#change(key, (row) => withBaselinesFrom(row, rv, isNew));
    });
  }

  #replace(key: WorkloadKey, row: WorkloadRow): void {
    const before = this.#workloads.get(key)?.excess;
    this.#workloads.set(key, row);
    this.#outbox.writeWorkload(key);
    if (row.excess && !isSameExcess(row.excess, before)) this.#advise(key, row);
  }

  /** Evaluates a workload after an event; enqueues it unless a change job will. */
  #touch(key: WorkloadKey, changeJobComes = false): void {
    this.#pending.touched(key);
    const cause = this.#evaluate(key);
    if (cause && !changeJobComes) this.#outbox.enqueueReload(key, cause);
  }

  #evaluate(key: WorkloadKey, row = this.#workloads.get(key)): PendingCause | null {
    const cause = row ? pendingCauseOf(row, this.#sourceOf(namespaceOf(key)), this.#settings.triggers) : null;
    this.#pending.evaluated(key, cause);
    return cause;
  }

  #sourceOf(namespace: string): (name: SourceName) => SourceRow | undefined {
    return (name) => {
      work.sourceLookups += 1;
      return this.#sources.get(sourceKeyIn(namespace, name));
    };
  }
}
