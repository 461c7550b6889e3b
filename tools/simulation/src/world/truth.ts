/**
 * What is true, whatever Reroll believes: the data that the pods of each workload were started with, and what has changed since.
 * It is told of every write that the API server commits.
 */
import { hasVariable } from './marks.ts';
import { isClass, letterAt } from './objects.ts';
import { isRecorded, recordedLetter, records, recordsDeletion } from './recorded.ts';
import { Recreations } from './recreations.ts';
import {
  cronJobOf,
  hasTemplateOf,
  isRestartUntested,
  isRestartedByField,
  isSuspended,
  isWorkload,
  shownOf,
  standsFor,
  startsPods,
  type Shown,
} from './restarts.ts';
import { SourceWrites } from './source-writes.ts';
import { SeenClasses } from './seen-classes.ts';
import { keyOf, type KubeObject } from './shapes.ts';
import type { Commit, Violation } from './commit.ts';
import { copyOf, isOfNamespace, isStuck, newSince, newWorkload, refill } from './known.ts';
import type { TruthBackup, TruthBy, Workload } from './known.ts';
import {
  begun,
  deleted,
  held,
  inGap,
  isUnclear,
  startedInDoubt,
  startedUnwatched,
  written,
  type Since,
} from './since.ts';
import { Forms } from './forms.ts';
import { isBackUnseen, isCreationUnseen, ON_ITS_WAY, UnseenChanges } from './unseen-changes.ts';

const SOURCE_KINDS: ReadonlySet<string> = new Set(['ConfigMap', 'Secret']);

/** What a write did to a workload: to the object itself, or to the one that has its template. */
interface Move {
  readonly key: string;
  readonly workload: Workload;
  /** What it was before; `undefined`: it did not exist. */
  readonly before: Shown | undefined;
  readonly isRestart: boolean;
}

export class Truth {
  readonly violations: Violation[] = [];
  readonly sources = new Map<string, KubeObject>();
  readonly workloads = new Map<string, Workload>();
  /** By kind. */
  readonly reloads = new Map<string, number>();
  readonly #objects = new Map<string, KubeObject>();
  readonly #by: TruthBy;
  #recreations: Recreations;
  #classes = new SeenClasses();
  /** Nobody watches, or Redis has lost what it had: what is not recorded is in doubt until the watchers are in sync again. */
  isGap = false;
  /** When the last gap began, in virtual milliseconds. */
  #gapFrom = 0;
  readonly #writes = new SourceWrites();
  readonly #unseen = new UnseenChanges();
  readonly #forms = new Forms();
  /** etcd was restored, and not every watcher knows. */
  #restored: { readonly reusesRevisions: boolean } | undefined;

  constructor(by: TruthBy) {
    this.#by = by;
    this.#recreations = new Recreations(by.now);
  }

  commit(commit: Commit): void {
    const object = commit.after ?? commit.before;
    if (!object) return;
    const seen = this.#classes.see(commit);
    if (seen?.after) this.#source(keyOf(seen.after), seen);
    else if (SOURCE_KINDS.has(object.kind)) this.#source(keyOf(object), commit);
    else if (isWorkload(object)) this.#workload(keyOf(object), commit);
    if (object.kind === 'Job') this.#job(commit);
  }

  /** A dry run has told what it would reload, and will not tell of it again. */
  reported(key: string, by: string): void {
    const workload = this.workloads.get(key);
    if (!workload) return;
    this.#reloaded([{ key, workload, before: workload.shown, isRestart: true }], { by, isAsked: false });
    for (const [source, each] of workload.since) {
      // What was written last may have come after it had read, and is then told of too.
      const isSure = this.#writes.lastAt(source) < this.#by.now() - ON_ITS_WAY;
      each.inPods = isSure ? letterAt(this.sources.get(source)) : undefined;
      each.due = isSure ? 'no' : 'may';
      each.isUnsure = !isSure;
    }
  }

  /** From now on what is not recorded is in doubt. */
  gap(): void {
    for (const { shown, since } of this.workloads.values())
      for (const [source, each] of since) {
        if (!this.isGap) each.inGap = 0;
        if (!isRecorded(shown, source)) each.due = 'may';
        // What is gone by now may never be known to have been there.
        if (each.due === 'must' && !this.sources.has(source)) each.due = 'may';
      }
    if (!this.isGap) this.#gapFrom = this.#by.now();
    this.isGap = true;
  }

  /** The one who leads now has not seen what was written since: in which order is in doubt, and whether pods were started after it. */
  missed(from: number): void {
    this.gap();
    for (const { startedAt, since } of this.workloads.values())
      for (const [source, each] of since)
        if (startedAt >= from && (each.wasDue || this.#writes.lastAt(source) >= from)) each.due = 'may';
  }

  /** The one who leads now has seen what was written between these times in a list, and so in no order. */
  listed({ from, to }: { from: number; to: number }): void {
    const written = this.#writes.between({ from, to });
    const workloads = [...this.workloads.values()];
    for (const workload of workloads.filter(({ startedAt }) => startedAt >= from && startedAt <= to))
      for (const source of written)
        if (isOfNamespace(source, workload)) this.#sinceOf(workload, source).isUnordered = true;
  }

  /** The next write of a workload may show its template in another form, which looks as if it had not been written. */
  upgraded(isMixed: boolean): void {
    this.#forms.upgraded({ now: this.#by.now(), isMixed });
    const from = this.#by.watchedUntil(0);
    for (const workload of this.workloads.values())
      if (workload.startedAt >= from) startedInDoubt(workload.since);
  }

  backUp(): TruthBackup {
    const [objects, recreations, classes] = [this.#objects, this.#recreations, this.#classes];
    return copyOf({ sources: this.sources, workloads: this.workloads, objects, recreations, classes });
  }

  /**
   * Everything is as it was, and the pods have the data that they had. Until every watcher has noticed, a change may be taken for one that
   * the pods have if its resourceVersion was in use before, and what was decided before the restore is still on its way.
   */
  restore(backup: TruthBackup, restored: { reusesRevisions: boolean }): void {
    const { sources, workloads, objects, recreations, classes } = copyOf(backup);
    refill(this.sources, sources);
    refill(this.workloads, workloads);
    refill(this.#objects, objects);
    this.#recreations = recreations;
    this.#classes = classes;
    this.#restored = restored;
    this.#writes.forgetAllBut(this.sources);
  }

  /** Every watcher has noticed that etcd was restored. */
  noticed(): void {
    this.#restored = undefined;
  }

  /** Whether a source that there is can reload the workload as it is. */
  hasDependency(key: string): boolean {
    const workload = this.workloads.get(key);
    if (workload === undefined || isStuck(workload)) return false;
    return this.#dependenciesOf(workload.shown).length > 0;
  }

  /** Whether the catalog has had the time to know the workload. */
  isKnown(key: string): boolean {
    const created = this.workloads.get(key)?.shown.object.metadata.creationTimestamp;
    return !this.isGap && created !== undefined && Date.parse(created) < this.#by.now() - ON_ITS_WAY;
  }

  /** The sources that there are, and that can reload the workload. */
  #dependenciesOf(workload: Shown): string[] {
    const { namespace } = workload.object.metadata;
    if (this.#by.rules.isInDoubt(namespace)) return [];
    return [...this.sources]
      .filter(([, { metadata }]) => metadata.namespace === namespace)
      .filter(([source, object]) => this.#by.rules.dependsOn(workload, object, source))
      .map(([source]) => source);
  }

  /** Adds what was lost: call it when all is calm and in order again. */
  judge(): void {
    this.violations.push(...this.#recreations.judge(this.#by.rules.isInDoubt));
    for (const [key, workload] of this.workloads)
      for (const [source, { due, why, inPods }] of workload.since) {
        if (due !== 'must' || !this.#by.rules.dependsOn(workload.shown, this.sources.get(source), source))
          continue;
        if (isStuck(workload)) continue;
        const now = letterAt(this.sources.get(source));
        this.violations.push({
          kind: 'lost',
          text: `${key} runs ${source}=${inPods}, which is ${now}: ${why}`,
        });
      }
  }

  /** Whatever came to pass, the records are right in the end. Returns where they are not. */
  notRecorded(): string[] {
    const workloads = [...this.workloads].filter(([, workload]) => !isStuck(workload));
    return workloads.flatMap(([key, { shown }]) =>
      this.#dependenciesOf(shown)
        .filter((source) => !this.#recordsPresent(shown, source))
        .map((source) => `${key} does not record the current data of ${source}`),
    );
  }

  #source(key: string, commit: Commit): void {
    const { before, after } = commit;
    if (after) this.sources.set(key, after);
    else this.sources.delete(key);
    const isForgotten = this.#writes.written(key, this.#by.now());
    const unseenAt = this.#unseen.see(commit, this.#by.now());
    const namespace = (after ?? before)?.metadata.namespace;
    for (const workload of this.workloads.values()) {
      if (workload.shown.object.metadata.namespace !== namespace) continue;
      this.#sourceOf(workload, key, { ...commit, unseenAt });
      const since = this.#sinceOf(workload, key);
      // It looks as if it had always been there.
      if (isSuspended(workload.shown) || (isForgotten && this.#recordsPresent(workload.shown, key)))
        held(since);
      if (!this.#isUnsure(workload, key, before === undefined)) continue;
      since.isUnordered = this.#isOfGap(workload.startedAt);
      since.due = 'may';
    }
  }

  /**
   * What a gap may cost: a dependency without a record, one that was created in it with other data than recorded, or one of pods that were
   * started in it too, may be rolled once too often.
   */
  #isUnsure({ shown, startedAt, since }: Workload, source: string, isNew: boolean): boolean {
    if (!this.isGap) return false;
    const isOther = isNew && !this.#recordsPresent(shown, source);
    const isDone = since.get(source)?.due === 'no';
    return !isRecorded(shown, source) || (isDone && (isOther || this.#isOfGap(startedAt)));
  }

  #sourceOf(workload: Workload, key: string, change: Commit & { unseenAt: number }): void {
    const { before, after, unseenAt } = change;
    const since = this.#sinceOf(workload, key, { inPods: letterAt(before) });
    const is = this.#by.rules.dependsOn(workload.shown, after, key);
    const was = this.#by.rules.dependsOn(workload.shown, before ?? after, key);
    if (was && !is) since.endedAt = this.#by.now();
    if (!after && was && this.#isDeletionShown(workload, key)) deleted(since, is);
    else {
      const isNew = this.#isCreationShown(key);
      const isBack = isBackUnseen(workload, after, this.#by);
      const isLate = isCreationUnseen(change, this.#by);
      written(since, { isDependency: was && is, isNew, isBack, isLate, from: letterAt(before), after });
    }
    this.#doubt(since, { isKnown: isRecorded(workload.shown, key), isThere: after !== undefined }, key);
    if (since.isUnsure === true || this.#isInDoubt(workload, { was, is, unseenAt })) since.due = 'may';
  }

  /**
   * What is written while nobody can tell. etcd does not have what pods mount of a class: those that are replaced because their template
   * was set back have the present versions.
   */
  #doubt(since: Since, known: { isKnown: boolean; isThere: boolean }, source: string): void {
    if (known.isKnown) since.isUnsure = false;
    if (this.isGap) inGap(since, known);
    const isInDoubt = this.#restored && (this.#restored.reusesRevisions || isClass(source));
    if (isInDoubt && since.due === 'must') since.due = 'may';
  }

  /** Data of a source that was not there counts. */
  #isCreationShown(source: string): boolean {
    return this.#by.rules.onCreate && !isClass(source);
  }

  /** A source that is watched only now looks like one that was created, and when its data was changed before is not known. */
  #isInDoubt(workload: Workload, write: { was: boolean; is: boolean; unseenAt: number }): boolean {
    const isOnlyNow = !write.was && write.is;
    const isUnseen = workload.startedAt >= write.unseenAt;
    return this.#isOutside(workload) || (isOnlyNow && (this.#by.rules.onCreate || isUnseen));
  }

  #isOutside({ shown }: Workload): boolean {
    return this.#by.rules.isInDoubt(shown.object.metadata.namespace);
  }

  /** The namespace is not watched any more, or again: what was done outside may be repeated. */
  scopeChanged(namespace: string): void {
    for (const { shown, since } of this.workloads.values())
      if (shown.object.metadata.namespace === namespace) for (const each of since.values()) each.due = 'may';
  }

  /** Whether a reload can show that the source is gone. */
  #isDeletionShown({ shown }: Workload, source: string): boolean {
    const { onDelete } = this.#by.rules;
    const [kind = '', , name = ''] = source.split('/');
    return onDelete === 'always' || (onDelete === 'marked' && hasVariable(shown.template, `${kind}/${name}`));
  }

  #workload(key: string, { before, after, by }: Commit): void {
    if (after) this.#objects.set(key, after);
    else {
      this.#objects.delete(key);
      this.workloads.delete(key);
    }
    const others = [...this.workloads].filter(([, { shown }]) => hasTemplateOf(shown, key));
    const moves = others.map(([other, { shown }]) => this.#moved(other, shown.object));
    if (after) moves.unshift(this.#moved(key, after));
    const reloaded = moves.filter((move) => move.before !== undefined && move.isRestart);
    if (by !== undefined && reloaded.length > 0)
      this.#reloaded(reloaded, { by, isAsked: this.#by.isAsked(before, after) });
    for (const move of moves) this.#noted(move, { written: key, by });
  }

  #noted(move: Move, { written: key, by }: { written: string; by: string | undefined }): void {
    const { before, workload, isRestart } = move;
    const now = this.#by.now();
    if (before) workload.conflict.written(before, { after: workload.shown, by, now });
    if (isRestart) this.#restarted(move, key);
    else if (before && by === undefined) this.#asked(workload, before);
    else this.#recorded(workload);
    if (isRestart && by === undefined && this.#forms.isInDoubt(workload.writtenAt))
      startedInDoubt(workload.since);
    workload.writtenAt = now;
  }

  /** Its list and that of a source that was written in the gap too may come in any order, and a deletion may be earlier or later. */
  #startedInGap(workload: Workload): void {
    if (!this.isGap) return;
    for (const [source, at] of this.#writes.last)
      if (isOfNamespace(source, workload) && (this.#isOfGap(at) || !this.sources.has(source)))
        Object.assign(this.#sinceOf(workload, source), { due: 'may', isUnordered: true });
  }

  /** Whether nobody saw what was written then, or when. */
  #isOfGap(time: number): boolean {
    return this.isGap && time >= this.#gapFrom - ON_ITS_WAY;
  }

  /** A Job that Reroll creates: from a CronJob, or to keep what a Job is to become that it is going to delete. */
  #job(commit: Commit): void {
    this.violations.push(...this.#recreations.see(commit));
    const { before, after, by } = commit;
    if (before || !after || by === undefined) return;
    const uid = cronJobOf(after) ?? standsFor(after)?.uid;
    const found = [...this.workloads].find(([, { shown }]) => shown.object.metadata.uid === uid);
    if (uid === undefined || !found) return;
    const [key, workload] = found;
    this.#reloaded([{ key, workload, before: workload.shown, isRestart: true }], { by, isAsked: false });
    if (cronJobOf(after) !== undefined) this.#ran(workload, after);
  }

  /** What the Job is recorded for counts as the data that the CronJob ran with, even if its pods read later data. */
  #ran(workload: Workload, job: KubeObject): void {
    for (const [source, since] of workload.since) {
      since.overtakenAt = this.#seenLaterAt(source);
      const letter = recordedLetter(job, source, this.#by.rules.hashKeys);
      if (recordsDeletion(job, source)) Object.assign(since, { inPods: undefined, due: 'no' });
      if (letter === undefined) continue;
      const now = letterAt(this.sources.get(source)) ?? letter;
      since.inPods = letter;
      since.due = now === letter ? 'no' : 'must';
      since.why = `it was changed to ${now} before the Job for ${letter} was created`;
      if ((this.isGap || this.#restored) && since.due === 'must') since.due = 'may';
    }
  }

  #moved(key: string, object: KubeObject): Move {
    const shown = shownOf(object, (each) => this.#objects.get(each));
    const workload = this.workloads.get(key);
    if (!workload) {
      const created = newWorkload(shown, this.#by.now());
      this.workloads.set(key, created);
      return { key, workload: created, before: undefined, isRestart: true };
    }
    const before = workload.shown;
    workload.shown = shown;
    return { key, workload, before, isRestart: startsPods(before, shown, workload.startedAt) };
  }

  /** One write can start the pods of two workloads: it has to be due for one of them. */
  #reloaded(moves: readonly Move[], { by, isAsked }: { by: string; isAsked: boolean }): void {
    const keys = moves.map(({ key }) => key).join(' and ');
    const all = moves.map((move) => this.#dueFor(move));
    this.#by.log(`${by} reloaded ${keys} for ${all.flat().join(', ')}`);
    if (all.flat().length === 0 && !isAsked && !this.#restored)
      this.violations.push({ kind: 'doubled', text: `${by} reloaded ${keys}, for which nothing was due` });
    for (const [at, { before }] of moves.entries()) if (isAsked || all[at]?.length !== 0) this.#count(before);
  }

  #count(reloaded: Shown | undefined): void {
    const kind = reloaded?.object.kind ?? '';
    this.reloads.set(kind, (this.reloads.get(kind) ?? 0) + 1);
  }

  /** Notes what the workload was to be reloaded for, and returns it as texts. */
  #dueFor({ workload, before }: Move): string[] {
    const earliest = this.#by.knownUntil(ON_ITS_WAY);
    const due = [...workload.since].filter(([source, each]) => {
      const object = this.sources.get(source);
      if (each.overtakenAt > earliest || isUnclear(each, object)) return true;
      const isAsked = before && this.#by.rules.dependedOn(before, object, source);
      return each.due !== 'no' && (each.endedAt > earliest || isAsked);
    });
    workload.reloadedFor = due.flatMap(([source, { inPods }]) =>
      inPods === this.#presentOf(source).inPods ? [] : source,
    );
    return due.map(([source, { due: how }]) => `${source} (${how})`);
  }

  /** Its pods begin with the data of now. `by`: the key of the object that was written. */
  #restarted({ key, workload, before }: Move, by: string): void {
    const due = [...workload.since].filter(([, since]) => this.#restored || since.due !== 'no');
    const isUntested = before && isRestartUntested(before, workload.shown, key === by);
    const overtakenAt = isUntested ? this.#by.now() : -Infinity;
    workload.since.clear();
    workload.startedAt = this.#by.now();
    for (const [source, { inGap: count }] of due) {
      const since = this.#sinceOf(workload, source);
      Object.assign(since, { overtakenAt, wasDue: true });
      if (this.#isUnordered(workload)) Object.assign(since, { due: 'may', inGap: count });
    }
    for (const [source, { metadata }] of this.sources)
      if (metadata.namespace === workload.shown.object.metadata.namespace) this.#sinceOf(workload, source);
    this.#restartedUnwatched(workload);
    this.#restartedByField(workload);
    this.#startedInGap(workload);
  }

  #restartedByField({ shown, since }: Workload): void {
    if (!isRestartedByField(shown.object)) return;
    for (const [key, each] of since) each.overtakenAt = Math.max(each.overtakenAt, this.#seenLaterAt(key));
  }

  /**
   * No watch shows a creation, or what was written to the workload since, nor what a watch that cannot be resumed has missed: nothing but a
   * list dates it, and what was written meanwhile looks later. Nor does one show the versions of a class, which a list dates by the newest status.
   */
  #restartedUnwatched({ shown, since, createdAt }: Workload): void {
    const watched = this.#by.watchedUntil(0);
    if (watched > this.#by.now() - ON_ITS_WAY) return;
    const from = watched - ON_ITS_WAY;
    const { onCreate, afterRestart } = this.#by.rules;
    const isLater = (source: string): boolean => afterRestart || this.#writes.lastAt(source) > from;
    for (const [source, each] of since)
      if (
        (createdAt > from || this.#by.isListedAgain(shown.object.kind) || isClass(source)) &&
        isLater(source)
      )
        startedUnwatched(each, { workload: shown.object, source: this.sources.get(source), onCreate });
  }

  /**
   * Workers know the versions of a class from the catalog only. What was written there lately may come after a restart that no
   * resourceVersion dates, and then looks later than the pods.
   */
  #seenLaterAt(source: string): number {
    return isClass(source) ? this.#writes.lastAt(source) : -Infinity;
  }

  /** Nobody saw which came first, a change or the template. */
  #isUnordered(workload: Workload): boolean {
    return this.isGap || this.#restored !== undefined || this.#isOutside(workload);
  }

  /** Its annotations were written: what it depends on from now on is judged from now on. */
  #asked(workload: Workload, old: Shown): void {
    for (const [source, since] of workload.since) {
      if (isSuspended(old) || isSuspended(workload.shown)) held(since);
      const object = this.sources.get(source);
      const was = this.#by.rules.dependsOn(old, object, source);
      const is = this.#by.rules.dependsOn(workload.shown, object, source);
      if (!was && is) begun(since, letterAt(object));
      if (!was || is) continue;
      since.endedAt = this.#by.now();
      if (letterAt(object) !== since.inPods) since.due = 'may';
    }
  }

  /** Where nobody can tell what the pods have, the record says what they are held to have from now on. */
  #recorded({ shown, since }: Workload): void {
    for (const [source, each] of since) {
      if (each.due === 'must' || !this.#recordsPresent(shown, source)) continue;
      each.isListed = false;
      if (each.due === 'may') Object.assign(each, { ...this.#presentOf(source), due: 'no' });
    }
  }

  #recordsPresent(shown: Shown, source: string): boolean {
    return records(shown, source, { present: this.sources.get(source), keys: this.#by.rules.hashKeys });
  }

  #presentOf(source: string): Pick<Since, 'inPods'> {
    return { inPods: letterAt(this.sources.get(source)) };
  }

  /** `inPods`: if nothing is known of the source yet. */
  #sinceOf(workload: Workload, source: string, { inPods } = this.#presentOf(source)): Since {
    const known = workload.since.get(source);
    if (known) return known;
    const since = newSince(inPods);
    workload.since.set(source, since);
    return since;
  }
}
