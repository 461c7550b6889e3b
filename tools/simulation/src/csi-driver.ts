/** The Secrets Store CSI Driver: it writes a status for each pod that mounts a class, and rotates what the pods have mounted. */
import type { ApiObject } from './api/api-object.ts';
import type { ObjectId, WorldWriter } from './api/world-writer.ts';
import type { Scheduler } from './scheduler.ts';
import { dataOf, templateOf } from './world/objects.ts';
import { uses } from './world/depends-on.ts';
import { deploymentOf } from './world/restarts.ts';
import type { Letter } from './world/shapes.ts';

const API_VERSION = 'secrets-store.csi.x-k8s.io/v1';
const STATUS = 'SecretProviderClassPodStatus';
/** Pods that nobody rolls mount each class too. */
const OTHER_PODS = ['other-1', 'other-2'];

export class CsiDriver {
  readonly #world: WorldWriter;
  readonly #scheduler: Scheduler;
  /** What the provider has now, by `<namespace>/<class>`. */
  readonly #letters = new Map<string, Letter>();
  /** Makes the names of pods differ. */
  #pods = 0;

  constructor(world: WorldWriter, scheduler: Scheduler) {
    this.#world = world;
    this.#scheduler = scheduler;
  }

  /** The provider has this from now on. The pods follow, each so many virtual milliseconds after the last. */
  rotate(id: ObjectId, letter: Letter, pace: number): void {
    const { namespace, name, kind } = id;
    this.#letters.set(`${namespace}/${name}`, letter);
    if (this.#world.get(id) === undefined) {
      this.#world.create(id, { apiVersion: API_VERSION, kind, metadata: { name, namespace }, spec: {} });
      for (const pod of OTHER_PODS) this.#mount(id, pod);
    }
    for (const [at, status] of this.#statuses(id).entries())
      this.#scheduler.after(at * pace, undefined, () => this.#update(id, status.metadata.name));
  }

  /** New pods mount what the provider has now; those before are gone. */
  podsStarted(workload: ApiObject): void {
    const { namespace = '', name } = workload.metadata;
    const holder = this.#holding(workload);
    const pods = `${workload.kind.toLowerCase()}-${name}-`;
    for (const { metadata } of this.#world.list('SecretProviderClass', namespace)) {
      const id = { kind: 'SecretProviderClass', namespace, name: metadata.name };
      const old = this.#statuses(id).filter((status) => status.metadata.name.startsWith(pods));
      if (holder && uses(templateOf(holder), id.kind, id.name)) this.#mount(id, pods + (this.#pods += 1));
      for (const { metadata: each } of old) this.#world.delete({ kind: STATUS, namespace, name: each.name });
    }
  }

  #holding(workload: ApiObject): ApiObject | undefined {
    const [kind = '', namespace = '', name = ''] = deploymentOf(workload)?.split('/') ?? [];
    return kind === '' ? workload : this.#world.get({ kind, namespace, name });
  }

  #mount(id: ObjectId, pod: string): void {
    const metadata = { name: `${pod}-${id.name}`, namespace: id.namespace };
    const status = {
      podName: pod,
      secretProviderClassName: id.name,
      mounted: true,
      objects: this.#objects(id),
    };
    this.#world.create({ ...id, kind: STATUS }, { apiVersion: API_VERSION, kind: STATUS, metadata, status });
  }

  #update(id: ObjectId, name: string): void {
    const status = { ...id, kind: STATUS, name };
    if (this.#world.get(status) === undefined) return;
    this.#world.update(status, (present) => {
      const before = present['status'] as object;
      return { ...present, status: { ...before, objects: this.#objects(id) } };
    });
  }

  #statuses({ namespace, name }: ObjectId): ApiObject[] {
    const classOf = ({ status }: ApiObject): unknown =>
      (status as { secretProviderClassName: string }).secretProviderClassName;
    return this.#world.list(STATUS, namespace).filter((status) => classOf(status) === name);
  }

  #objects({ kind, namespace, name }: ObjectId): { id: string; version: string | undefined }[] {
    const letter = this.#letters.get(`${namespace}/${name}`) ?? 'A';
    return [{ id: 'value', version: dataOf(`${kind}/${name}`, letter)['value'] }];
  }
}
