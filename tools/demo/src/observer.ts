import type { KubeClient } from '@reroll/kube/client/connection';
import type { EventHandler } from '@reroll/kube/reflector/delivery';
import { collectionPath, type KubeObject, type KubeResource, PODS } from '@reroll/kube/objects';
import { Reflector } from '@reroll/kube/reflector/reflector';
import { RECORD_ANNOTATION } from '@reroll/core/record/record';
import { NAMESPACE, WORKLOADS, resourceOf, type Workload } from './shop.ts';

/** What the demo itself saw of one workload since `begin`. Times are of the monotonic clock. */
export interface Rollout {
  /** How often its pod template was written with something new. */
  readonly count: number;
  readonly patchedAt: number | undefined;
  /** When no pod of before was left and all new ones were Ready. */
  readonly replacedAt: number | undefined;
  /** Pods that were created. */
  readonly newPods: number;
}

interface Seen {
  readonly key: string;
  readonly uid: string;
  readonly app: string;
  /** Its pod template. Not its generation, which for a Deployment moves with its annotations too. */
  readonly template: string;
  readonly isRecorded: boolean;
  readonly isReady: boolean;
}

interface Running {
  readonly pods: ReadonlySet<string>;
  readonly created: Set<string>;
  template: string;
  count: number;
  patchedAt: number | undefined;
  replacedAt: number | undefined;
}

type WorkloadOrPod = KubeObject & {
  readonly spec?: { readonly template?: unknown };
  readonly status?: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] };
};

/** The demo's own watch of the shop's workloads and pods; it does not ask Reroll what happened. */
export class Observer {
  readonly #streams: Reflector<Seen>[];
  readonly #workloads = new Map<string, Seen>();
  readonly #pods = new Map<string, Seen>();
  #running = new Map<string, Running>();
  #lastEventAt = performance.now();

  constructor(client: KubeClient) {
    const resources = new Map(WORKLOADS.map((workload) => [workload.kind, resourceOf(workload)]));
    this.#streams = [
      ...[...resources.values()].map((resource) => this.#follow(client, resource, this.#workloads)),
      this.#follow(client, PODS, this.#pods),
    ];
  }

  async start(): Promise<void> {
    for (const stream of this.#streams) stream.start();
    await Promise.all(this.#streams.map(async (stream) => await stream.waitSynced(30_000)));
  }

  async stop(): Promise<void> {
    await Promise.all(this.#streams.map(async (stream) => await stream.stop(1_000)));
  }

  /** Milliseconds since anything was last written to a workload or a pod. */
  get quietMs(): number {
    return performance.now() - this.#lastEventAt;
  }

  get readyPods(): number {
    return [...this.#pods.values()].filter(({ isReady }) => isReady).length;
  }

  /** How many workloads carry Reroll's record. */
  get recorded(): number {
    return [...this.#workloads.values()].filter(({ isRecorded }) => isRecorded).length;
  }

  podsOf(app: string): ReadonlySet<string> {
    return new Set([...this.#pods.values()].filter((pod) => pod.app === app).map(({ uid }) => uid));
  }

  /** From now on rollouts are counted anew. */
  begin(): void {
    this.#running = new Map();
    for (const { app, template } of this.#workloads.values()) {
      const pods = this.podsOf(app);
      const nothing = { created: new Set<string>(), count: 0, patchedAt: undefined, replacedAt: undefined };
      this.#running.set(app, { template, pods, ...nothing });
    }
  }

  rollout({ name }: Workload): Rollout {
    const running = this.#running.get(name);
    return {
      count: running?.count ?? 0,
      patchedAt: running?.patchedAt,
      replacedAt: running?.replacedAt,
      newPods: running?.created.size ?? 0,
    };
  }

  #follow(client: KubeClient, resource: KubeResource, into: Map<string, Seen>): Reflector<Seen> {
    let listed = new Map<string, Seen>();
    const handler: EventHandler<Seen> = {
      replace: () => void (listed = new Map()),
      upsert: (objects, by) => {
        for (const seen of objects) {
          (by === 'list' ? listed : into).set(seen.key, seen);
          if (by !== 'list') this.#note(seen);
        }
      },
      delete: (seen) => {
        into.delete(seen.key);
        this.#note(seen);
      },
      synced: () => {
        into.clear();
        for (const [key, seen] of listed) into.set(key, seen);
      },
    };
    const path = collectionPath(resource, NAMESPACE);
    return new Reflector({ client, path, handler, convert: (raw) => seenOf(raw, resource) });
  }

  #note({ app, template }: Seen): void {
    const now = performance.now();
    this.#lastEventAt = now;
    const running = this.#running.get(app);
    const workload = WORKLOADS.find(({ name }) => name === app);
    if (!running || !workload) return;
    if (template !== '' && template !== running.template) {
      running.template = template;
      running.count += 1;
      running.patchedAt ??= now;
    }
    const present = [...this.#pods.values()].filter((pod) => pod.app === app);
    for (const { uid } of present) if (!running.pods.has(uid)) running.created.add(uid);
    if (isReplaced(present, running.pods, workload.pods)) running.replacedAt ??= now;
  }
}

function isReplaced(present: readonly Seen[], old: ReadonlySet<string>, wanted: number): boolean {
  const isNew = ({ uid, isReady }: Seen): boolean => isReady && !old.has(uid);
  return present.length === wanted && present.every(isNew);
}

function seenOf(raw: WorkloadOrPod, { plural }: KubeResource): Seen {
  const { metadata, spec, status } = raw;
  const isReady = status?.conditions?.some((each) => each.type === 'Ready' && each.status === 'True');
  return {
    key: `${plural}/${metadata.name}`,
    uid: metadata.uid,
    app: metadata.labels?.['app'] ?? '',
    template: spec?.template === undefined ? '' : JSON.stringify(spec.template),
    isRecorded: metadata.annotations?.[RECORD_ANNOTATION] !== undefined,
    isReady: isReady === true,
  };
}
