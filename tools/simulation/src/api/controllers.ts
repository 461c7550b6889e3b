import { isDeepStrictEqual } from 'node:util';
import type { Scheduler } from '../scheduler.ts';
import type { ApiObject, Version } from './api-object.ts';
import type { Change } from './etcd.ts';
import { RESOURCE_TYPES } from './resource-types.ts';
import type { SimulatedApi } from './simulated-api.ts';
import type { ObjectId, WorldWriter } from './world-writer.ts';

type Fields = Readonly<Record<string, unknown>>;

/** Milliseconds until something happens. */
export interface ControllerDelays {
  /** A controller sees a write. */
  readonly observe: () => number;
  /** From then until new pods have read their sources. */
  readonly start: () => number;
  /** From then until they are ready. */
  readonly ready: () => number;
  /** From then until a rollout that makes no progress counts as stuck. */
  readonly deadline: () => number;
  /** From one start of the containers of broken pods to the next. */
  readonly restart: () => number;
  /** From then until a Job is complete. */
  readonly complete: () => number;
  /** Dependants of a deleted object are deleted. */
  readonly collect: () => number;
}

export interface ControllersOptions {
  readonly scheduler: Scheduler;
  readonly api: SimulatedApi;
  /** Default: random; seconds at most. */
  readonly delays?: Partial<ControllerDelays>;
  /**
   * New pods of the workload read their sources now, because its template, its `restartAt` or the template that it refers to
   * changed. The object is the version whose template they have.
   */
  readonly onPodsStarted?: (workload: ApiObject) => void;
  /** Whether the present pods of the workload do not get ready. It may end by itself. Default: they do. */
  readonly areBroken?: (workload: ApiObject) => boolean;
}

const ROLLED: ReadonlySet<string> = new Set(['Deployment', 'StatefulSet', 'DaemonSet', 'Rollout']);
/** Nodes on which a DaemonSet runs. */
const NODES = 2;

function fieldsAt(object: Fields, ...path: readonly string[]): Fields {
  const found = path.reduce<unknown>((at, name) => (at as Fields | undefined)?.[name], object);
  return typeof found === 'object' && found !== null ? (found as Fields) : {};
}

function idOf({ kind, metadata }: ApiObject): ObjectId {
  return { kind, namespace: metadata.namespace ?? '', name: metadata.name };
}

/** What replaces pods when it changes. */
function rolloutOf(object: ApiObject): readonly unknown[] {
  const { template, restartAt, workloadRef } = fieldsAt(object, 'spec');
  return [template, restartAt, workloadRef];
}

function isHeld(object: ApiObject): boolean {
  const spec = fieldsAt(object, 'spec');
  return spec['paused'] === true || fieldsAt(spec, 'updateStrategy')['type'] === 'OnDelete';
}

/**
 * The controllers of Kubernetes and of Argo Rollouts, as far as Reroll looks at what they write: status of workloads, Jobs that
 * complete, and dependants that go with their owners.
 */
export class Controllers {
  readonly #options: ControllersOptions;
  readonly #delays: ControllerDelays;
  readonly #writer: WorldWriter;
  /** Of each workload: what its newest pods were started by. By uid. */
  readonly #started = new Map<string, readonly unknown[]>();
  /** Workloads for which an observation is scheduled. By uid. */
  readonly #pending = new Set<string>();
  /** Workloads with broken pods, and when they count as stuck, in virtual milliseconds. By uid. */
  readonly #broken = new Map<string, { readonly stuckAt: number }>();

  constructor(options: ControllersOptions) {
    this.#options = options;
    const { scheduler, api } = options;
    const upTo = (limit: number) => (): number => 1 + Math.floor(scheduler.random() * limit);
    this.#delays = {
      observe: upTo(200),
      start: upTo(1_500),
      ready: upTo(3_000),
      deadline: upTo(10_000),
      restart: upTo(10_000),
      complete: upTo(3_000),
      collect: upTo(500),
      ...options.delays,
    };
    this.#writer = api.as('kube-controller-manager');
    api.onChange((change) => this.#onChange(change));
  }

  /** Whether pods of the present template of every workload have started, unless it is paused or starts none by itself. */
  get isIdle(): boolean {
    return this.#pending.size === 0;
  }

  /** Looks at everything again, as controllers do when they start: after etcd was restored. */
  resync(): void {
    for (const kind of ROLLED) for (const object of this.#writer.list(kind)) this.#observe(object);
    for (const job of this.#writer.list('Job')) this.#onJob(job);
  }

  #onChange({ type, before, after }: Change): void {
    if (after === undefined) return this.#onGone(before);
    if (after.object.metadata.deletionTimestamp !== undefined) return this.#onDeleting(after);
    if (type.kind === 'Job') return this.#onJob(after.object);
    if (!ROLLED.has(type.kind)) return;
    this.#observe(after.object);
    if (type.kind === 'Deployment') this.#observeReferring(after.object);
  }

  /** Rollouts that use the Deployment's template. */
  #observeReferring({ metadata }: ApiObject): void {
    for (const rollout of this.#writer.list('Rollout', metadata.namespace))
      if (fieldsAt(rollout, 'spec', 'workloadRef')['name'] === metadata.name) this.#observe(rollout);
  }

  #observe(object: ApiObject): void {
    const { uid } = object.metadata;
    if (this.#pending.has(uid) || !this.#isBehind(object)) return;
    this.#pending.add(uid);
    this.#after(this.#delays.observe(), () => {
      this.#pending.delete(uid);
      const present = this.#present(object);
      if (present !== undefined && this.#isBehind(present)) this.#roll(present);
    });
  }

  #isBehind(object: ApiObject): boolean {
    const observed = Number(fieldsAt(object, 'status')['observedGeneration'] ?? 0);
    return (
      observed < (object.metadata.generation ?? 0) ||
      fieldsAt(object, 'status')['workloadObservedGeneration'] !== this.#ownerGeneration(object) ||
      this.#hasNewTemplate(object)
    );
  }

  #hasNewTemplate(object: ApiObject): boolean {
    return !isHeld(object) && !this.#hasPresentPods(object);
  }

  #hasPresentPods(object: ApiObject): boolean {
    return isDeepStrictEqual(this.#started.get(object.metadata.uid), this.#wanted(object));
  }

  #wanted(object: ApiObject): readonly unknown[] {
    const owner = this.#ownerOf(object);
    return [...rolloutOf(object), owner && fieldsAt(owner, 'spec')['template']];
  }

  /** The Deployment whose template a Rollout uses. */
  #ownerOf(object: ApiObject): ApiObject | undefined {
    const { name } = fieldsAt(object, 'spec', 'workloadRef');
    if (typeof name !== 'string') return undefined;
    return this.#writer.get({ kind: 'Deployment', namespace: object.metadata.namespace ?? '', name });
  }

  #ownerGeneration(object: ApiObject): string | undefined {
    return this.#ownerOf(object)?.metadata.generation?.toString();
  }

  #roll(object: ApiObject): void {
    const isNew = this.#hasNewTemplate(object);
    if (!isNew && !isHeld(object)) return this.#reportPods(object);
    if (!isNew) return this.#report(object, this.#hasPresentPods(object) ? 'unchanged' : 'held');
    this.#broken.delete(object.metadata.uid);
    this.#pending.add(object.metadata.uid);
    this.#report(object, 'started');
    this.#after(this.#delays.start(), () => {
      this.#pending.delete(object.metadata.uid);
      const present = this.#present(object);
      if (present === undefined) return;
      if (isHeld(present)) return this.#observe(present);
      this.#started.set(object.metadata.uid, this.#wanted(present));
      this.#options.onPodsStarted?.(present);
      this.#after(this.#delays.ready(), () => {
        const last = this.#present(object);
        if (last !== undefined && !this.#pending.has(object.metadata.uid)) this.#reportPods(last);
      });
    });
  }

  /** They are ready, or broken. */
  #reportPods(object: ApiObject): void {
    const { uid } = object.metadata;
    const { scheduler, areBroken } = this.#options;
    if (areBroken?.(object) !== true) {
      this.#broken.delete(uid);
      return this.#report(object, 'ready');
    }
    const known = this.#broken.get(uid);
    const broken = known ?? { stuckAt: scheduler.now() + this.#delays.deadline() };
    this.#report(object, scheduler.now() < broken.stuckAt ? 'started' : 'stuck');
    if (known) return;
    this.#broken.set(uid, broken);
    this.#restartLater(object, broken);
  }

  #restartLater(object: ApiObject, broken: { readonly stuckAt: number }): void {
    const { uid } = object.metadata;
    this.#after(this.#delays.restart(), () => {
      const present = this.#present(object);
      if (present === undefined || this.#broken.get(uid) !== broken) return;
      if (!this.#pending.has(uid)) this.#reportPods(present);
      if (this.#broken.get(uid) === broken) this.#restartLater(object, broken);
    });
  }

  #report(object: ApiObject, phase: Phase): void {
    const workloadObservedGeneration = this.#ownerGeneration(object);
    const owner = workloadObservedGeneration === undefined ? {} : { workloadObservedGeneration };
    const status = { ...fieldsAt(object, 'status'), ...statusOf(object, phase), ...owner };
    this.#writer.setStatus(idOf(object), status);
  }

  #onJob(job: ApiObject): void {
    const { uid } = job.metadata;
    const isDone = fieldsAt(job, 'status')['conditions'] !== undefined;
    if (
      isDone ||
      fieldsAt(job, 'spec')['suspend'] === true ||
      this.#pending.has(uid) ||
      this.#started.has(uid)
    )
      return;
    this.#pending.add(uid);
    this.#after(this.#delays.observe() + this.#delays.start(), () => {
      this.#pending.delete(uid);
      const present = this.#present(job);
      if (present === undefined || fieldsAt(present, 'spec')['suspend'] === true) return;
      this.#started.set(uid, rolloutOf(present));
      this.#options.onPodsStarted?.(present);
      this.#writer.setStatus(idOf(present), { active: 1, ready: 1 });
      this.#after(this.#delays.complete(), () => {
        if (this.#present(job) === undefined) return;
        const conditions = [{ type: 'Complete', status: 'True' }];
        this.#writer.setStatus(idOf(job), { active: 0, ready: 0, succeeded: 1, conditions });
      });
    });
  }

  #onGone(gone: Version | undefined): void {
    if (gone === undefined) return;
    const { uid } = gone.object.metadata;
    this.#started.delete(uid);
    this.#broken.delete(uid);
    this.#after(this.#delays.collect(), () => {
      for (const dependant of this.#dependants(gone.object))
        this.#writer.delete(idOf(dependant), { propagationPolicy: 'Background' });
    });
  }

  /** Does what the finalizers of a deletion with `Foreground` or `Orphan` ask for, and takes them away. */
  #onDeleting({ object }: Version): void {
    if (object.kind === 'Namespace') return this.#onNamespaceDeleting(object);
    const { uid, finalizers = [] } = object.metadata;
    const own = finalizers.filter((name) => ['foregroundDeletion', 'orphan'].includes(name));
    if (own.length === 0 || this.#pending.has(uid)) return;
    this.#pending.add(uid);
    this.#after(this.#delays.collect(), () => {
      this.#pending.delete(uid);
      if (this.#present(object) === undefined) return;
      for (const dependant of this.#dependants(object)) {
        if (own.includes('orphan')) this.#orphan(dependant, uid);
        else this.#writer.delete(idOf(dependant), { propagationPolicy: 'Background' });
      }
      this.#writer.update(idOf(object), (present) => {
        const rest = (present.metadata.finalizers ?? []).filter((name) => !own.includes(name));
        return { ...present, metadata: { ...present.metadata, finalizers: rest } };
      });
    });
  }

  #onNamespaceDeleting({ metadata }: ApiObject): void {
    if (this.#pending.has(metadata.uid)) return;
    this.#pending.add(metadata.uid);
    this.#after(this.#delays.collect(), () => {
      this.#pending.delete(metadata.uid);
      for (const { kind, isNamespaced } of RESOURCE_TYPES) {
        const content = isNamespaced ? this.#writer.list(kind, metadata.name) : [];
        for (const object of content) this.#writer.delete(idOf(object), { propagationPolicy: 'Background' });
      }
      this.#writer.finishNamespace(metadata.name);
    });
  }

  #orphan(dependant: ApiObject, owner: string): void {
    this.#writer.update(idOf(dependant), (present) => {
      const ownerReferences = (present.metadata.ownerReferences ?? []).filter(({ uid }) => uid !== owner);
      return { ...present, metadata: { ...present.metadata, ownerReferences } };
    });
  }

  #dependants({ metadata }: ApiObject): ApiObject[] {
    return RESOURCE_TYPES.filter((type) => type.isNamespaced)
      .flatMap((type) => this.#writer.list(type.kind, metadata.namespace))
      .filter((object) => object.metadata.ownerReferences?.some(({ uid }) => uid === metadata.uid));
  }

  /** The object as it is now; undefined if it is gone, or another one has its name. */
  #present(object: ApiObject): ApiObject | undefined {
    const present = this.#writer.get(idOf(object));
    return present?.metadata.uid === object.metadata.uid ? present : undefined;
  }

  #after(milliseconds: number, action: () => void): void {
    this.#options.scheduler.after(milliseconds, undefined, action);
  }
}

/**
 * `held`: the pods of an earlier template stay, because the rollout is paused, or waits for somebody to delete pods. `unchanged`: so do
 * those of the present one. `stuck`: its pods do not get ready in time.
 */
type Phase = 'started' | 'ready' | 'stuck' | 'held' | 'unchanged';

interface WorkloadSpec {
  readonly replicas?: number;
  readonly restartAt?: string;
}

const STATUS: Readonly<
  Record<string, (object: ApiObject, phase: Exclude<Phase, 'held' | 'unchanged'>) => Fields>
> = {
  Deployment: (object, phase) => ({ ...countsOf(object, phase), conditions: [PROGRESS[phase]] }),
  DaemonSet: (_object, phase) => {
    const ready = phase === 'ready' ? NODES : 0;
    const scheduled = { desiredNumberScheduled: NODES, updatedNumberScheduled: NODES };
    return { ...scheduled, numberReady: ready, numberAvailable: ready };
  },
  StatefulSet: (object, phase) => {
    const revision = `${object.metadata.name}-${object.metadata.generation}`;
    const current = phase === 'ready' ? { currentRevision: revision } : {};
    return { ...countsOf(object, phase), ...current, updateRevision: revision };
  },
  Rollout: (object, phase) => {
    const { restartAt } = object['spec'] as WorkloadSpec;
    const restarted = phase !== 'started' && restartAt !== undefined ? { restartedAt: restartAt } : {};
    return { ...countsOf(object, phase), phase: ROLLOUT_PHASES[phase], ...restarted };
  },
};

const PROGRESS = {
  started: { type: 'Progressing', status: 'True', reason: 'ReplicaSetUpdated' },
  ready: { type: 'Progressing', status: 'True', reason: 'NewReplicaSetAvailable' },
  stuck: { type: 'Progressing', status: 'False', reason: 'ProgressDeadlineExceeded' },
  paused: { type: 'Progressing', status: 'Unknown', reason: 'DeploymentPaused' },
} as const;
const ROLLOUT_PHASES = { started: 'Progressing', ready: 'Healthy', stuck: 'Degraded' } as const;

function countsOf(object: ApiObject, phase: Phase): Fields {
  const { replicas = 1 } = object['spec'] as WorkloadSpec;
  const ready = phase === 'ready' ? replicas : 0;
  return { replicas, updatedReplicas: replicas, readyReplicas: ready, availableReplicas: ready };
}

/** Of each kind one of the fields. */
const NONE_UPDATED = { updatedReplicas: 0, updatedNumberScheduled: 0 };

function statusOf(object: ApiObject, phase: Phase): Fields {
  const { generation = 0 } = object.metadata;
  const observedGeneration = object.kind === 'Rollout' ? String(generation) : generation;
  if (phase === 'unchanged') return { observedGeneration, ...pausedStatus(object) };
  const counts =
    phase === 'held' ? { ...NONE_UPDATED, ...pausedStatus(object) } : STATUS[object.kind]?.(object, phase);
  return { observedGeneration, ...counts };
}

/** What the controller reports of a paused Deployment, unless its deadline has passed before: that stays. */
function pausedStatus(object: ApiObject): Fields {
  if (object.kind !== 'Deployment' || fieldsAt(object, 'spec')['paused'] !== true) return {};
  const { conditions } = fieldsAt(object, 'status') as { conditions?: readonly { reason: string }[] };
  return conditions?.[0]?.reason === PROGRESS.stuck.reason ? {} : { conditions: [PROGRESS.paused] };
}
