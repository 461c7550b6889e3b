/**
 * What is true, whatever Reroll believes: the data that the pods of each workload were started with, and what has changed since.
 * It is told of every write that the API server commits.
 */
import { isHashOf } from '@reroll/core/record/record-hash';
import { RECORD_ANNOTATION, recordedHashes } from '@reroll/core/record/record';
import { dependsOn } from './depends-on.ts';
import { letterOf, templateOf } from './objects.ts';
import { keyOf, type KubeObject, type Letter } from './shapes.ts';

/** Of one workload and one source that it depends on, since its pods were started. */
interface Since {
  /** The data that the pods have. `undefined`: the source did not exist. */
  inPods: Letter | undefined;
  /**
   * `no`: nothing to do. `must`: they have to be restarted. `may`: a restart is as right as none, for a reason that the documentation
   * states.
   */
  due: 'no' | 'must' | 'may';
  why: string;
  /** How often the source was changed in the present gap. */
  inGap: number;
  /** When it ceased to be a dependency, in virtual milliseconds: who has decided before may still reload for it. */
  endedAt: number;
}

/** Virtual milliseconds from a decision to its patch. */
const ON_ITS_WAY = 5_000;

export interface Commit {
  readonly before: KubeObject | undefined;
  readonly after: KubeObject | undefined;
  /** Name of the process of Reroll that wrote; `undefined`: somebody else. */
  readonly by: string | undefined;
}

export interface Violation {
  readonly kind: 'lost' | 'doubled' | 'held' | 'unstable' | 'leaked' | 'unbounded' | 'failed';
  readonly text: string;
}

interface Workload {
  object: KubeObject;
  /** When its pods were started, in virtual milliseconds. */
  startedAt: number;
  readonly since: Map<string, Since>;
  reloads: number;
}

const SOURCE_KINDS: ReadonlySet<string> = new Set(['ConfigMap', 'Secret']);
const WORKLOAD_KINDS: ReadonlySet<string> = new Set(['Deployment', 'StatefulSet', 'DaemonSet']);

export class Truth {
  readonly violations: Violation[] = [];
  readonly sources = new Map<string, KubeObject>();
  readonly workloads = new Map<string, Workload>();
  reloads = 0;
  /** Nobody watches, or Redis has lost what it had: what is not recorded is in doubt until the watchers are in sync again. */
  isGap = false;
  /** When a source was written last. */
  readonly #writtenAt = new Map<string, number>();
  readonly #log: (line: string) => void;
  readonly #now: () => number;

  constructor(by: { now: () => number; log: (line: string) => void }) {
    this.#now = by.now;
    this.#log = by.log;
  }

  commit(commit: Commit): void {
    const object = commit.after ?? commit.before;
    if (!object) return;
    if (SOURCE_KINDS.has(object.kind)) this.#source(keyOf(object), commit);
    else if (WORKLOAD_KINDS.has(object.kind)) this.#workload(keyOf(object), commit);
  }

  /** From now on what is not recorded is in doubt. */
  gap(): void {
    for (const { object, since } of this.workloads.values())
      for (const [source, each] of since) {
        if (!this.isGap) each.inGap = 0;
        if (!isRecorded(object, source)) each.due = 'may';
      }
    this.isGap = true;
  }

  /** The one who leads now has not seen what was written since: in which order is in doubt. */
  missed(from: number): void {
    this.gap();
    for (const { startedAt, since } of this.workloads.values())
      for (const [source, each] of since)
        if (startedAt >= from && (this.#writtenAt.get(source) ?? 0) >= from) each.due = 'may';
  }

  /** Adds what was lost: call it when all is calm and in order again. */
  judge(): void {
    for (const [key, workload] of this.workloads)
      for (const [source, { due, why, inPods }] of workload.since) {
        if (due !== 'must' || !dependsOn(workload.object, this.sources.get(source), source)) continue;
        const now = letterAt(this.sources.get(source));
        this.violations.push({
          kind: 'lost',
          text: `${key} runs ${source}=${inPods}, which is ${now}: ${why}`,
        });
      }
  }

  #source(key: string, commit: Commit): void {
    const { before, after } = commit;
    if (after) this.sources.set(key, after);
    else this.sources.delete(key);
    this.#writtenAt.set(key, this.#now());
    const namespace = (after ?? before)?.metadata.namespace;
    for (const workload of this.workloads.values())
      if (workload.object.metadata.namespace === namespace) this.#sourceOf(workload, key, commit);
  }

  #sourceOf(workload: Workload, key: string, { before, after }: Commit): void {
    const since = this.#sinceOf(workload, key);
    const is = dependsOn(workload.object, after, key);
    const was = before === undefined ? is : dependsOn(workload.object, before, key);
    if (was && !is) since.endedAt = this.#now();
    const to = letterAt(after);
    if (to === undefined || to === since.inPods) {
      // Who reads it now finds nothing to reload for, but somebody may have read what it was in between.
      if (since.due === 'must') since.due = 'may';
    } else if (since.inPods === undefined) since.inPods = to;
    else changed(since, { isDependency: was && is, from: letterAt(before), to });
    if (this.isGap) inGap(since, isRecorded(workload.object, key));
  }

  #workload(key: string, { before, after, by }: Commit): void {
    if (!after) {
      this.workloads.delete(key);
      return;
    }
    const workload = this.workloads.get(key) ?? newWorkload(after);
    const isNew = !this.workloads.has(key);
    this.workloads.set(key, workload);
    const isRestart = isNew || !before || templateText(before) !== templateText(after);
    if (by !== undefined && isRestart && !isNew) this.#reloaded(key, { workload, by });
    const old = workload.object;
    workload.object = after;
    if (isRestart) this.#restarted(workload);
    else if (by === undefined) this.#asked(workload, old);
    else this.#recorded(workload);
  }

  #reloaded(key: string, { workload, by }: { workload: Workload; by: string }): void {
    this.reloads += 1;
    workload.reloads += 1;
    const earliest = this.#now() - ON_ITS_WAY;
    const due = [...workload.since].filter(
      ([source, { due: how, endedAt }]) =>
        how !== 'no' && (endedAt > earliest || dependsOn(workload.object, this.sources.get(source), source)),
    );
    this.#log(
      `${by} reloaded ${key} for ${due.map(([source, { due: how }]) => `${source} (${how})`).join(', ')}`,
    );
    if (due.length === 0)
      this.violations.push({ kind: 'doubled', text: `${by} reloaded ${key}, for which nothing was due` });
  }

  /** Its pods begin with the data of now. */
  #restarted(workload: Workload): void {
    // Nobody saw which came first, the change or the template.
    const inDoubt = this.isGap ? [...workload.since].filter(([, { due }]) => due !== 'no') : [];
    workload.since.clear();
    workload.startedAt = this.#now();
    for (const [key, { inGap: count }] of inDoubt)
      workload.since.set(key, {
        inPods: letterAt(this.sources.get(key)),
        due: 'may',
        why: '',
        inGap: count,
        endedAt: -Infinity,
      });
    for (const [key, { metadata }] of this.sources)
      if (metadata.namespace === workload.object.metadata.namespace) this.#sinceOf(workload, key);
  }

  /** Its annotations were written: what it depends on from now on is judged from now on. */
  #asked(workload: Workload, old: KubeObject): void {
    for (const [source, since] of workload.since) {
      const object = this.sources.get(source);
      const was = dependsOn(old, object, source);
      const is = dependsOn(workload.object, object, source);
      if (was && !is) since.endedAt = this.#now();
      if (was !== is && letterAt(object) !== since.inPods) since.due = 'may';
    }
  }

  /** Where nobody can tell what the pods have, the record says what they are held to have from now on. */
  #recorded({ object, since }: Workload): void {
    for (const [source, each] of since)
      if (each.due === 'may' && recordsPresent(object, this.sources.get(source))) {
        each.inPods = letterAt(this.sources.get(source));
        each.due = 'no';
      }
  }

  #sinceOf(workload: Workload, source: string): Since {
    const known = workload.since.get(source);
    if (known) return known;
    const since: Since = {
      inPods: letterAt(this.sources.get(source)),
      due: 'no',
      why: '',
      inGap: 0,
      endedAt: -Infinity,
    };
    workload.since.set(source, since);
    return since;
  }
}

/** To and fro in a gap looks like a write of the metadata, and what is not recorded cannot be told from what is new. */
function inGap(since: Since, isKnown: boolean): void {
  since.inGap += 1;
  if (since.due === 'must' && (!isKnown || since.inGap > 1)) since.due = 'may';
}

/** The source has other data than the pods were started with. */
function changed(
  since: Since,
  { isDependency, from, to }: { isDependency: boolean; from: Letter | undefined; to: Letter },
): void {
  if (isDependency && from !== to) {
    since.due = 'must';
    since.why = `it was changed from ${from ?? 'nothing'} to ${to}`;
  } else if (since.due === 'no') since.due = 'may';
}

function newWorkload(object: KubeObject): Workload {
  return { object, startedAt: 0, since: new Map(), reloads: 0 };
}

function letterAt(source: KubeObject | undefined): Letter | undefined {
  return source && letterOf(source);
}

function templateText(object: KubeObject): string {
  return JSON.stringify(templateOf(object));
}

/** Whether the record has the hash of the data that the source has now. */
function recordsPresent({ metadata }: KubeObject, source: KubeObject | undefined): boolean {
  if (!source) return false;
  const record = recordedHashes(metadata.annotations?.[RECORD_ANNOTATION]);
  const entry = record[`${source.kind}/${source.metadata.name}`];
  return entry !== undefined && isHashOf(entry, { data: source['data'] as Record<string, string> }, []);
}

function isRecorded({ metadata }: KubeObject, source: string): boolean {
  const [kind = '', , name = ''] = source.split('/');
  return metadata.annotations?.[RECORD_ANNOTATION]?.includes(`"${kind}/${name}"`) === true;
}
