/** Pods of workloads, and what kubelets do with them. Times are in virtual milliseconds. */
import type { ApiObject } from '../api/api-object.ts';
import type { Change } from '../api/etcd.ts';
import { timestamp } from '../api/object-rules.ts';
import type { SimulatedApi } from '../api/simulated-api.ts';
import type { ObjectId, WorldWriter } from '../api/world-writer.ts';
import type { Random } from '../random.ts';
import type { Scheduler } from '../scheduler.ts';
import { isGivenOnce, podSpec, usesOf, type PodUse } from './pod-form.ts';
import type { SourceVersion, SourceVersions } from './source-versions.ts';

/** The longest that a kubelet takes to look at a pod again, by how much what it knows of sources is late, and its clock is off. */
const SYNC = 6_000;
const LAG = 4_000;
const CLOCK = 1_000;
/** Until the node controller takes readiness away from the pods of a lost node. */
const NOTICED = 2_000;
/** So that a pod that is deleted stays until its containers have ended. */
const FINALIZER = 'simulation/kubelet';
/** Pods of a workload at most. */
const REPLICAS = 2;

interface Container {
  readonly name: PodUse['container'];
  state: 'waiting' | 'running' | 'ended';
  startedAt: number;
  /** What it was given at its start. */
  has: ReadonlyMap<PodUse, SourceVersion>;
}

export interface Pod {
  readonly id: ObjectId;
  readonly uid: string;
  readonly workload: string;
  readonly createdAt: number;
  readonly uses: readonly PodUse[];
  readonly containers: readonly Container[];
  readonly lag: number;
  readonly clock: number;
  /** When the kubelet last lost the API server, and has it again: it neither refreshes nor tells anything meanwhile. */
  lost: { readonly from: number; readonly until: number };
  /** What its volumes had when a container was last started, before which a kubelet refreshes them. */
  mounted: ReadonlyMap<PodUse, SourceVersion>;
  isEnding: boolean;
  /** All containers have ended for good. */
  isOver: boolean;
}

/** What a container has that runs, or has run to prepare another. */
export interface Held {
  readonly pod: Pod;
  readonly use: PodUse;
  readonly version: SourceVersion;
  readonly startedAt: number;
}

export interface KubeletsBy {
  readonly scheduler: Scheduler;
  readonly api: SimulatedApi;
  readonly random: Random;
  readonly versions: SourceVersions;
  /** A container has started. */
  readonly started: (held: Held) => void;
  /** A kubelet has the API server again. */
  readonly back: (pod: Pod) => void;
}

export class Kubelets {
  readonly #by: KubeletsBy;
  readonly #world: WorldWriter;
  /** By uid. */
  readonly #pods = new Map<string, Pod>();
  #created = 0;
  #isCalm = false;

  constructor(by: KubeletsBy) {
    this.#by = by;
    this.#world = by.api.as('kubelet');
    by.api.onChange((change) => this.#seen(change));
  }

  /** New pods of the workload take the place of those before. `sources`: those that its template uses. */
  replace(workload: ApiObject, sources: readonly string[]): void {
    const { random } = this.#by;
    for (const pod of this.#of(workload.metadata.uid)) this.#after(2_500, () => this.#delete(pod));
    for (let count = random.between(1, REPLICAS); count > 0; count -= 1)
      this.#create(workload, usesOf(sources, random));
  }

  /** From now on nothing starts again but for a write, and no node is lost. */
  calm(): void {
    this.#isCalm = true;
    for (const pod of this.#pods.values()) if (this.#isLost(pod)) this.#find(pod);
  }

  /** Everything that containers have of the source. */
  held(source: string): Held[] {
    return [...this.#pods.values()].flatMap((pod) =>
      pod.isOver
        ? []
        : pod.uses.filter((use) => use.source === source).flatMap((use) => this.#heldBy(pod, use)),
    );
  }

  #heldBy(pod: Pod, use: PodUse): Held[] {
    const container = pod.containers.find(({ name }) => name === use.container);
    if (container === undefined || container.state === 'waiting' || use.by === 'imagePull') return [];
    const given = container.has.get(use) ?? 0;
    const version = isGivenOnce(use) ? given : Math.max(pod.mounted.get(use) ?? 0, this.#inFiles(pod, use));
    return [{ pod, use, version, startedAt: container.startedAt }];
  }

  /** A kubelet that starts a pod knows what was written before the pod was created. */
  #inFiles(pod: Pod, { source }: PodUse): SourceVersion {
    const now = this.#by.scheduler.now();
    const { from, until } = pod.lost;
    const due = now - ((now - pod.createdAt) % SYNC);
    const synced = due > from && due < until ? from : due;
    return this.#by.versions.knownAt(source, Math.max(pod.createdAt, synced - pod.lag));
  }

  #create(workload: ApiObject, uses: readonly PodUse[]): void {
    const { random, scheduler } = this.#by;
    const { name: owner, namespace = '', uid } = workload.metadata;
    const { apiVersion, kind } = workload;
    const name = `${kind.toLowerCase()}-${owner}-${(this.#created += 1)}`;
    const ownerReferences = [{ apiVersion, kind, name: owner, uid, controller: true }];
    const id = { kind: 'Pod', namespace, name };
    const names = (['setup', 'proxy', 'main'] as const).filter(
      (each) => each === 'main' || uses.some(({ container }) => container === each),
    );
    const made = this.#world.create(id, {
      metadata: { name, ownerReferences, finalizers: [FINALIZER] },
      spec: podSpec(uses),
    });
    const pod: Pod = {
      id,
      uid: made.metadata.uid,
      workload: uid,
      createdAt: scheduler.now(),
      uses,
      containers: names.map((each) => ({ name: each, state: 'waiting', startedAt: 0, has: new Map() })),
      lag: random.between(0, LAG),
      clock: random.between(-CLOCK, CLOCK),
      lost: { from: 0, until: 0 },
      mounted: new Map(),
      isEnding: false,
      isOver: false,
    };
    this.#pods.set(pod.uid, pod);
    this.#after(2_500, () => this.#begin(pod));
  }

  #begin(pod: Pod): void {
    const mounted = this.#read(pod, pod.uses);
    if (mounted === undefined) return this.#after(2_000, () => this.#begin(pod));
    pod.mounted = mounted;
    for (const container of pod.containers) this.#start(pod, container);
    if (this.#by.random.chance(0.6)) this.#restartLater(pod);
    if (this.#by.random.chance(0.3)) this.#loseLater(pod);
  }

  /** Undefined: one of the sources does not exist, as far as the kubelet knows. */
  #read({ createdAt, lag }: Pod, uses: readonly PodUse[]): Map<PodUse, SourceVersion> | undefined {
    const until = Math.max(createdAt, this.#by.scheduler.now() - lag);
    const read = new Map<PodUse, SourceVersion>();
    for (const use of uses) {
      const version = this.#by.versions.at(use.source, until);
      if (version === undefined) return undefined;
      read.set(use, version);
    }
    return read;
  }

  /**
   * It starts a while after what it is given was read. A kubelet that has lost the API server starts none: docs/guide/change-safely.md
   * lists that as something that nobody can judge.
   */
  #start(pod: Pod, container: Container): void {
    const uses = pod.uses.filter((use) => use.container === container.name);
    const read = this.#isLost(pod) ? undefined : this.#read(pod, uses);
    if (read === undefined) return this.#after(2_000, () => this.#start(pod, container));
    this.#after(1_000, () => {
      if (pod.isOver) return;
      if (this.#isLost(pod)) return this.#start(pod, container);
      pod.mounted = new Map([...pod.mounted, ...read]);
      container.state = container.name === 'setup' ? 'ended' : 'running';
      container.startedAt = this.#by.scheduler.now();
      container.has = read;
      for (const [use, version] of read)
        if (isGivenOnce(use) || use.by === 'imagePull')
          this.#by.started({ pod, use, version, startedAt: container.startedAt });
      this.#report(pod);
    });
  }

  /** For another reason than a write. */
  #restartLater(pod: Pod): void {
    const { random } = this.#by;
    this.#after(15_000, () => {
      if (this.#isCalm || !this.#pods.has(pod.uid)) return;
      const container = random.pick(['main', 'proxy'] as const);
      const running = pod.containers.find(({ name, state }) => name === container && state === 'running');
      if (running && !pod.isOver && !this.#isLost(pod)) {
        running.state = 'waiting';
        this.#report(pod);
        this.#after(5_000, () => this.#start(pod, running));
      }
      this.#restartLater(pod);
    });
  }

  /** The API server learns of it a little later. */
  #report(pod: Pod): void {
    this.#after(800, () => {
      if (this.#pods.has(pod.uid) && !this.#isLost(pod)) this.#world.setStatus(pod.id, statusOf(pod, true));
    });
  }

  /** For a minute at most, again and again. */
  #loseLater(pod: Pod): void {
    const { api, random, scheduler } = this.#by;
    this.#after(30_000, () => {
      if (this.#isCalm || !this.#pods.has(pod.uid)) return;
      const from = scheduler.now();
      pod.lost = { from, until: from + random.between(2_000, 60_000) };
      this.#after(NOTICED, () => {
        const isLost = this.#pods.has(pod.uid) && this.#isLost(pod);
        if (isLost) api.as('node-controller').setStatus(pod.id, statusOf(pod, false));
      });
      scheduler.after(pod.lost.until - from, undefined, () => this.#find(pod));
    });
  }

  /** The kubelet makes it ready before it refreshes its files. */
  #find(pod: Pod): void {
    const { from, until } = pod.lost;
    pod.lost = { from, until: Math.min(until, this.#by.scheduler.now()) };
    this.#report(pod);
    this.#by.back(pod);
    this.#loseLater(pod);
  }

  #isLost({ lost }: Pod): boolean {
    return this.#by.scheduler.now() < lost.until;
  }

  #seen({ type, after }: Change): void {
    if (after === undefined) return;
    const { uid, deletionTimestamp } = after.object.metadata;
    if (type.kind === 'Job' && (after.object['status'] as { succeeded?: number } | undefined)?.succeeded)
      for (const pod of this.#of(uid)) this.#after(500, () => this.#succeed(pod));
    const pod = type.kind === 'Pod' && deletionTimestamp !== undefined ? this.#pods.get(uid) : undefined;
    if (pod === undefined || pod.isEnding) return;
    pod.isEnding = true;
    this.#after(5_000, () => this.#end(pod));
  }

  #succeed(pod: Pod): void {
    if (pod.isOver || this.#isLost(pod)) return;
    pod.isOver = true;
    this.#report(pod);
  }

  #delete({ id, uid }: Pod): void {
    if (this.#pods.has(uid)) this.#world.delete(id);
  }

  #end(pod: Pod): void {
    if (this.#isLost(pod)) return this.#after(5_000, () => this.#end(pod));
    pod.isOver = true;
    this.#pods.delete(pod.uid);
    this.#world.update(pod.id, ({ metadata, ...rest }) => ({
      ...rest,
      metadata: { ...metadata, finalizers: [] },
    }));
  }

  #of(workload: string): Pod[] {
    return [...this.#pods.values()].filter((pod) => pod.workload === workload);
  }

  /** Within so many milliseconds, and later than now. */
  #after(limit: number, action: () => void): void {
    this.#by.scheduler.after(this.#by.random.between(1, limit), undefined, action);
  }
}

function statusOf({ containers, clock, isOver }: Pod, isSeen: boolean): object {
  const isReady = isSeen && containers.every(({ state }) => state !== 'waiting') && !isOver;
  const statuses = (isInit: boolean): object[] =>
    containers
      .filter(({ name }) => (name !== 'main') === isInit)
      .map(({ name, state, startedAt }) => {
        const at = { startedAt: timestamp(startedAt + clock) };
        const shown = {
          waiting: { waiting: {} },
          running: { running: at },
          ended: { terminated: { ...at, exitCode: 0 } },
        };
        return { name, state: isOver ? shown.ended : shown[state] };
      });
  return {
    phase: isOver ? 'Succeeded' : 'Running',
    conditions: [{ type: 'Ready', status: isReady ? 'True' : 'False' }],
    containerStatuses: statuses(false),
    initContainerStatuses: statuses(true),
  };
}
