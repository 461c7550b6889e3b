/** Does to the cluster what a plan says that others than Reroll do. */
import type { ObjectId, WorldWriter } from './api/world-writer.ts';
import type { Step } from './plan.ts';
import { annotationsOf, sourceObject, templateOf, workloadObject } from './world/objects.ts';
import type { KubeObject, SourceRef, WorkloadRef } from './world/shapes.ts';

const IGNORE = 'reloader.stakater.com/ignore';
const MATCH = 'reloader.stakater.com/match';

type SourceStep = Extract<Step, { source: SourceRef }>;
type WorkloadStep = Extract<Step, { workload: WorkloadRef }>;

/** What a step may change. */
interface Copy {
  metadata: { labels?: Record<string, string>; annotations?: Record<string, string> };
  data?: unknown;
  spec: { replicas?: number; template?: unknown };
}

/** A step that does not apply does nothing, so that steps can be left out. */
export class Doer {
  readonly #world: WorldWriter;
  /** Makes each image and label differ from the last. */
  #turn = 0;

  constructor(world: WorldWriter) {
    this.#world = world;
  }

  source(step: SourceStep): void {
    const id = idOf(step.source, step.namespace);
    const isThere = this.#world.get(id) !== undefined;
    if (step.do === 'writeSource') {
      const object = sourceObject(step.source, step.namespace, step.letter);
      if (isThere) this.#change(id, (copy) => (copy.data = object['data']));
      else this.#world.create(id, { ...object });
    } else if (!isThere) return;
    else if (step.do === 'deleteSource') this.#world.delete(id);
    else if (step.do === 'touchSource') this.#label(id);
    else this.#annotate(id, { [step.do === 'ignoreSource' ? IGNORE : MATCH]: String(step.on) });
  }

  workload(step: WorkloadStep): void {
    const id = idOf(step.workload, step.namespace);
    const isThere = this.#world.get(id) !== undefined;
    if (step.do === 'createWorkload') {
      if (isThere) return;
      const as = { ...step, version: (this.#turn += 1) };
      this.#world.create(id, { ...workloadObject(step.workload, step.namespace, as) });
    } else if (isThere) this.#edit(id, step);
  }

  #edit(id: ObjectId, step: WorkloadStep): void {
    switch (step.do) {
      case 'deleteWorkload':
        return void this.#world.delete(id);
      case 'touchWorkload':
        return this.#label(id);
      case 'scaleWorkload':
        return this.#change(id, ({ spec }) => (spec.replicas = 1 + ((spec.replicas ?? 1) % 3)));
      case 'ask':
        return this.#change(id, ({ metadata }) => {
          const others = Object.entries(metadata.annotations ?? {}).filter(
            ([key]) => !key.includes('stakater'),
          );
          metadata.annotations = { ...Object.fromEntries(others), ...annotationsOf(step.asking) };
        });
      case 'editTemplate':
        return this.#editTemplate(id, step);
      default:
        return;
    }
  }

  /** With other sources the template is replaced, and with it what Reroll put there; otherwise only the image changes. */
  #editTemplate(id: ObjectId, step: Extract<WorkloadStep, { do: 'editTemplate' }>): void {
    const as = { refs: step.refs ?? [], asking: { how: 'nothing' }, version: (this.#turn += 1) } as const;
    const made = templateOf(workloadObject(step.workload, step.namespace, as));
    this.#change(id, (copy) => {
      if (step.refs !== undefined) copy.spec.template = made;
      else {
        const [present, fresh] = [templateOf(copy as unknown as KubeObject), made].map(
          ({ spec }) => spec.containers[0],
        );
        if (present && fresh) present.image = fresh.image;
      }
    });
  }

  #label(id: ObjectId): void {
    this.#change(id, ({ metadata }) => {
      metadata.labels = { ...metadata.labels, turn: String((this.#turn += 1)) };
    });
  }

  #annotate(id: ObjectId, annotations: Readonly<Record<string, string>>): void {
    this.#change(id, ({ metadata }) => {
      metadata.annotations = { ...metadata.annotations, ...annotations };
    });
  }

  #change(id: ObjectId, change: (copy: Copy) => void): void {
    this.#world.update(id, (present) => {
      const copy = structuredClone(present);
      change(copy as unknown as Copy);
      return copy;
    });
  }
}

function idOf(ref: string, namespace: string): ObjectId {
  const [kind = '', name = ''] = ref.split('/');
  return { kind, namespace, name };
}
