/** Does to the cluster what a plan says that others than Reroll do. */
import type { ObjectId, WorldWriter } from './api/world-writer.ts';
import type { CsiDriver } from './csi-driver.ts';
import type { WaitDeed } from './pods/wait-steps.ts';
import type { Step } from './plan.ts';
import type { BadStep } from './world/bad-data.ts';
import { annotationsOf, FILLER, IGNORE, sourceObject, templateOf, workloadObject } from './world/objects.ts';
import { deploymentOf } from './world/restarts.ts';
import { approvalOf, asksForApproval, holdAnnotations, namespaceHold } from './world/reload-holds.ts';
import { WATCHED } from './world/scope.ts';
import { waveAnnotations } from './world/waves.ts';
import {
  ALL_WORKLOADS,
  INSTALL,
  NAMESPACES,
  SOURCES,
  type KubeObject,
  type PodTemplate,
  type SourceRef,
  type WorkloadRef,
} from './world/shapes.ts';

const MATCH = 'reloader.stakater.com/match';
const OF_PAUSES = 'deployment.reloader.stakater.com/';
const CLASS = 'SecretProviderClass';

type SourceStep = Exclude<Extract<Step, { source: SourceRef }>, BadStep | WaitDeed>;
type WorkloadStep = Extract<Step, { workload: WorkloadRef }>;

/** Labels or annotations to set; `null`: to take away. */
type Changes = Readonly<Record<string, string | null>>;

/** What a step may change. */
interface Copy {
  metadata: { labels?: Record<string, string>; annotations?: Record<string, string> };
  data?: unknown;
  spec: {
    replicas?: number;
    paused?: boolean;
    template?: PodTemplate | undefined;
    restartAt?: string;
    suspend?: boolean;
    jobTemplate?: { spec: { template?: PodTemplate | undefined } };
  };
}

/** A step that does not apply does nothing, so that steps can be left out. */
export class Doer {
  readonly #world: WorldWriter;
  readonly #driver: CsiDriver;
  readonly #now: () => number;
  /** Makes each image and label differ from the last. */
  #turn = 0;

  /** `now`: virtual Unix milliseconds. */
  constructor(world: WorldWriter, driver: CsiDriver, now: () => number) {
    this.#world = world;
    this.#driver = driver;
    this.#now = now;
  }

  source(step: SourceStep): void {
    const id = idOf(step.source, step.namespace);
    const isThere = this.#world.get(id) !== undefined;
    if (step.do === 'writeSource') this.#write(id, step);
    else if (!isThere) return;
    else if (step.do === 'deleteSource') this.#delete(id);
    else if (step.do === 'touchSource') this.#label(id);
    else if (step.do === 'waveSource') this.#annotate(id, waveAnnotations(step.on, step.isBaked));
    else if (step.do === 'labelSource') this.#setLabels(id, step.on);
    else this.#annotate(id, { [step.do === 'ignoreSource' ? IGNORE : MATCH]: String(step.on) });
  }

  #write(id: ObjectId, step: Extract<SourceStep, { do: 'writeSource' }>): void {
    if (id.kind === CLASS) return this.#driver.rotate(id, step.letter, step.pace ?? 0);
    const object = sourceObject(step.source, step.namespace, step.letter);
    if (this.#world.get(id)) this.#change(id, (copy) => (copy.data = object['data']));
    else this.#world.create(id, { ...object });
  }

  /** Not a class: what pods have mounted of it stays known without it. */
  #delete(id: ObjectId): void {
    if (id.kind !== CLASS) this.#world.delete(id);
  }

  namespace({ namespace, on }: { namespace: string; on: boolean }): void {
    this.#setLabels({ kind: 'Namespace', namespace: '', name: namespace }, on);
  }

  holdNamespace({ namespace, isAll, on }: { namespace: string; isAll: boolean; on: boolean }): void {
    const name = isAll ? INSTALL : namespace;
    this.#annotate({ kind: 'Namespace', namespace: '', name }, namespaceHold(name, on));
  }

  /** Every freeze ends, and whatever holds a workload, but approvals only with `approvals`. */
  endHolds({ approvals }: { approvals: boolean }): void {
    for (const name of [INSTALL, ...NAMESPACES])
      this.#annotate({ kind: 'Namespace', namespace: '', name }, namespaceHold(name, false));
    for (const id of allWorkloads()) {
      const object = this.#world.get(id);
      if (object && (approvals || !asksForApproval(object)))
        this.#annotate(id, holdAnnotations(null, this.#now()));
    }
  }

  /** All waves end. */
  endWaves(): void {
    for (const namespace of NAMESPACES)
      for (const source of SOURCES) {
        const id = idOf(source, namespace);
        if (this.#world.get(id)) this.#annotate(id, waveAnnotations(false, false));
      }
  }

  /** Somebody approves whatever waits for it. */
  approveAll(): void {
    for (const id of allWorkloads()) if (this.#world.get(id)) this.#approve(id);
  }

  workload(step: WorkloadStep): void {
    const id = idOf(step.workload, step.namespace);
    const isThere = this.#world.get(id) !== undefined;
    if (step.do === 'createWorkload') {
      if (!isThere) this.#create(id, step);
    } else if (isThere) this.#edit(id, step);
  }

  /** With the Deployment whose pod template it has, unless that is there. */
  #create(id: ObjectId, step: Extract<WorkloadStep, { refs: unknown; asking: unknown }>): void {
    const as = { ...step, version: (this.#turn += 1) };
    const made = workloadObject(id, as);
    const holder = holderOf(made);
    if (holder && !this.#world.get(holder))
      this.#world.create(holder, { ...workloadObject(holder, { ...as, asking: { how: 'nothing' } }) });
    this.#world.create(id, { ...made });
  }

  #edit(id: ObjectId, step: WorkloadStep): void {
    switch (step.do) {
      case 'deleteWorkload':
        return void this.#world.delete(id, { propagationPolicy: 'Background' });
      case 'replaceWorkload':
        this.#world.delete(id, { propagationPolicy: 'Background' });
        return this.#create(id, step);
      case 'touchWorkload':
        return this.#label(id);
      case 'scaleWorkload':
        return this.#scale(id);
      case 'restartWorkload':
        return this.#restart(id);
      case 'ask':
        return this.#ask(id, annotationsOf(step.asking));
      case 'editTemplate':
        return this.#editTemplate(this.#holding(id), step.refs);
      default:
        return this.#hold(id, step);
    }
  }

  /** The annotations of pauses stay. */
  #ask(id: ObjectId, annotations: Readonly<Record<string, string>>): void {
    this.#change(id, ({ metadata }) => {
      const others = Object.entries(metadata.annotations ?? {}).filter(
        ([key]) => key !== FILLER && (!key.includes('stakater') || key.startsWith(OF_PAUSES)),
      );
      metadata.annotations = { ...Object.fromEntries(others), ...annotations };
    });
  }

  #hold(id: ObjectId, step: WorkloadStep): void {
    if (step.do === 'ignoreWorkload') this.#annotate(id, { [IGNORE]: String(step.on) });
    else if (step.do === 'pause') this.#change(id, ({ spec }) => (spec.paused = step.on));
    else if (step.do === 'holdWorkload') this.#annotate(id, holdAnnotations(step.hold, this.#now()));
    else if (step.do === 'approve') this.#approve(id);
    else if (step.do === 'setPeriod') this.#annotate(id, { [`${OF_PAUSES}pause-period`]: step.period });
  }

  #approve(id: ObjectId): void {
    const events = this.#world.list('Event') as readonly KubeObject[];
    const approval = approvalOf(events, [id.kind, id.namespace, id.name].join('/'));
    const { annotations } = this.#world.get(id)?.metadata ?? {};
    const isNew = Object.entries(approval ?? {}).some(([key, value]) => annotations?.[key] !== value);
    if (approval && isNew) this.#annotate(id, approval);
  }

  /** The object that has the workload's pod template. */
  #holding(id: ObjectId): ObjectId {
    const object = this.#world.get(id);
    return (object && holderOf(object)) ?? id;
  }

  /** A CronJob is suspended, or goes on. */
  #scale(id: ObjectId): void {
    if (id.kind === 'Job') return;
    this.#change(id, ({ spec }) => {
      if (id.kind === 'CronJob') spec.suspend = spec.suspend !== true;
      else spec.replicas = 1 + ((spec.replicas ?? 1) % 3);
    });
  }

  /** As `kubectl rollout restart` does or, for a Rollout, Argo's plugin. */
  #restart(id: ObjectId): void {
    if (id.kind === 'Job') return;
    // Whole seconds, and after every pod that is there.
    const at = new Date(Math.ceil(this.#now() / 1000 + 0.001) * 1000).toISOString().replace('.000Z', 'Z');
    this.#change(id, ({ spec }) => {
      if (id.kind === 'Rollout') spec.restartAt = at;
      else if (spec.template) spec.template = restarted(spec.template, at);
    });
  }

  /** With other sources the template is replaced, and with it what Reroll put there; otherwise only the image changes. */
  #editTemplate(id: ObjectId, refs: readonly SourceRef[] | undefined): void {
    const present = this.#world.get(id);
    if (present === undefined) return;
    const as = { refs: refs ?? [], asking: { how: 'nothing' }, version: (this.#turn += 1) } as const;
    const made = templateOf(workloadObject(id, as));
    const template = refs === undefined ? withImageOf(made, templateOf(present)) : made;
    if (id.kind === 'Job') this.#replaceJob(id, template);
    else this.#change(id, ({ spec }) => ((spec.jobTemplate?.spec ?? spec).template = template));
  }

  /** The template of a Job cannot be changed. */
  #replaceJob(id: ObjectId, template: PodTemplate | undefined): void {
    const { apiVersion, metadata } = this.#world.get(id) ?? {};
    const annotations = Object.entries(metadata?.annotations ?? {}).filter(([key]) =>
      key.includes('stakater'),
    );
    this.#world.delete(id, { propagationPolicy: 'Background' });
    this.#world.create(id, {
      apiVersion,
      kind: id.kind,
      metadata: { name: id.name, namespace: id.namespace, annotations: Object.fromEntries(annotations) },
      spec: { template: { ...template, metadata: { labels: { app: id.name } } } },
    });
  }

  #setLabels(id: ObjectId, isWatched: boolean): void {
    this.#change(id, ({ metadata }) => {
      metadata.labels = changed(metadata.labels, { watched: isWatched ? WATCHED.watched : null });
    });
  }

  #label(id: ObjectId): void {
    this.#change(id, ({ metadata }) => {
      metadata.labels = { ...metadata.labels, turn: String((this.#turn += 1)) };
    });
  }

  #annotate(id: ObjectId, annotations: Changes): void {
    this.#change(id, ({ metadata }) => {
      metadata.annotations = changed(metadata.annotations, annotations);
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

function withImageOf(
  made: PodTemplate | undefined,
  present: PodTemplate | undefined,
): PodTemplate | undefined {
  const copy = structuredClone(present);
  const [container, fresh] = [copy?.spec.containers[0], made?.spec.containers[0]];
  if (container && fresh) container.image = fresh.image;
  return copy;
}

function restarted(template: PodTemplate, at: string): PodTemplate {
  const annotations = { ...template.metadata?.annotations, 'kubectl.kubernetes.io/restartedAt': at };
  return { ...template, metadata: { ...template.metadata, annotations } };
}

/** Where the Deployment is whose pod template the workload has. */
function holderOf(workload: KubeObject): ObjectId | undefined {
  const key = deploymentOf(workload);
  const [kind = '', namespace = '', name = ''] = key?.split('/') ?? [];
  return key === undefined ? undefined : { kind, namespace, name };
}

function changed(present: Readonly<Record<string, string>> = {}, changes: Changes): Record<string, string> {
  const entries = Object.entries({ ...present, ...changes });
  return Object.fromEntries(entries.filter((entry): entry is [string, string] => entry[1] !== null));
}

function allWorkloads(): ObjectId[] {
  return NAMESPACES.flatMap((namespace) => ALL_WORKLOADS.map((ref) => idOf(ref, namespace)));
}

function idOf(ref: string, namespace: string): ObjectId {
  const [kind = '', name = ''] = ref.split('/');
  return { kind, namespace, name };
}
