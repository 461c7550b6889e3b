/** Others who undo what Reroll writes, as a controller does that knows neither marker nor record. */
import type { SimulatedApi } from './api/simulated-api.ts';
import type { Change } from './api/etcd.ts';
import type { ObjectId, WorldWriter } from './api/world-writer.ts';
import { RECORD_ANNOTATION } from '@reroll/core/record/record';
import type { Step } from './plan.ts';
import type { Events } from './scheduler.ts';
import { templateOf } from './world/objects.ts';
import type { KubeObject, PodTemplate } from './world/shapes.ts';

type StripStep = Extract<Step, { do: 'strip' }>;

interface Order {
  readonly what: StripStep['what'];
  times: number;
}

/** Kinds whose pod template can be written. */
const ROLLED: ReadonlySet<string> = new Set(['Deployment', 'StatefulSet', 'DaemonSet']);
/** The longest time until somebody notices what Reroll wrote, in virtual milliseconds. */
const NOTICED = 1_500;

interface Copy {
  metadata: { annotations?: Record<string, string> };
  spec: { template?: PodTemplate };
}

export class Strippers {
  readonly #events: Events;
  readonly #world: WorldWriter;
  readonly #count: (what: string) => void;
  /** By namespace. */
  readonly #orders = new Map<string, Order>();

  constructor(by: { events: Events; api: SimulatedApi; count: (what: string) => void }) {
    this.#events = by.events;
    this.#world = by.api.as('gitops');
    this.#count = by.count;
    by.api.onChange((change) => this.#changed(change));
  }

  /** Strips workloads of the namespace the next times that Reroll writes one. */
  begin({ namespace, what, times }: StripStep): void {
    this.#orders.set(namespace, { what, times });
  }

  end(): void {
    this.#orders.clear();
  }

  #changed({ author, before, after }: Change): void {
    if (author.owner === undefined || !before || !after || !ROLLED.has(after.object.kind)) return;
    const was = before.object as unknown as KubeObject;
    const is = after.object as unknown as KubeObject;
    const order = this.#orders.get(is.metadata.namespace ?? '');
    if (!order) return;
    if (order.what === 'marker' && !hasNewTemplate(was, is)) return;
    this.#events.after(this.#events.random() * NOTICED, undefined, () => this.#strip(order, { was, is }));
  }

  /** Only if nobody has written the template since. */
  #strip(order: Order, { was, is }: { was: KubeObject; is: KubeObject }): void {
    const id = idOf(is);
    const present = this.#world.get(id) as unknown as KubeObject | undefined;
    if (order.times <= 0 || !present || present.metadata.uid !== is.metadata.uid) return;
    if (hasNewTemplate(present, is)) return;
    order.times -= 1;
    this.#count(`stripped ${order.what}`);
    this.#world.update(id, (object) => {
      const copy = structuredClone(object);
      const { metadata, spec } = copy as unknown as Copy;
      const template = templateOf(was);
      if (template && order.what !== 'record') spec.template = template;
      if (order.what !== 'marker') delete metadata.annotations?.[RECORD_ANNOTATION];
      return copy;
    });
  }
}

function hasNewTemplate(before: KubeObject, after: KubeObject): boolean {
  return JSON.stringify(templateOf(before)) !== JSON.stringify(templateOf(after));
}

function idOf({ kind, metadata }: KubeObject): ObjectId {
  return { kind, namespace: metadata.namespace ?? '', name: metadata.name };
}
