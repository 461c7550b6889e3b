/** Data that break pods: those that start with them do not get ready, until the change ends. */
import type { ApiObject } from '../api/api-object.ts';
import type { ObjectId, WorldWriter } from '../api/world-writer.ts';
import type { Option } from '../options.ts';
import type { Step } from '../plan.ts';
import type { Random } from '../random.ts';
import { uses } from './depends-on.ts';
import { dataOf, letterOf, templateOf } from './objects.ts';
import { RESUMED, WAVES } from './waves.ts';
import { CANARY, NAMESPACES, type Letter } from './shapes.ts';

/** How a bad change ends: with other data, because the pods get ready all the same, or somebody lets it go on. */
const ENDS = ['newData', 'recovery', 'resume'] as const;
type End = (typeof ENDS)[number];

/** Their controllers say that they are stuck. */
const TELLING = ['Deployment/web', 'Rollout/shop'] as const;
/** Of these nothing tells but that they do not get ready. */
const SILENT = ['DaemonSet/agent', 'StatefulSet/db'] as const;
type Breakable = (typeof TELLING)[number] | (typeof SILENT)[number];

interface Bad {
  readonly letter: Letter;
  readonly breaks: readonly Breakable[];
  /** How it ends, at the latest when all faults do. */
  readonly end: End;
}

export type BadDeed =
  | ({ readonly do: 'breakSource'; readonly source: typeof CANARY } & Bad)
  | { readonly do: 'mendSource'; readonly source: typeof CANARY; readonly end: End };
export type BadStep = Extract<Step, BadDeed>;

/** From when the workloads are there until the change, in virtual milliseconds. */
const SETTLED = 8_000;

/** Bad changes in most runs that reload in waves. Some of them end before the faults do. `length`: of the other steps. */
export function badSteps(
  random: Random,
  { options, length }: { options: readonly Option[]; length: number },
): Step[] {
  const isHeld = options.some((option) => option === 'dryRun' || option === 'webhook');
  if (isHeld || !options.includes('waves')) return [];
  return NAMESPACES.flatMap((namespace) =>
    random.chance(0.6) ? badChange(namespace, random, Math.floor(random.next() * length)) : [],
  );
}

function badChange(namespace: Step['namespace'], random: Random, from: number): Step[] {
  const end = random.pick(ENDS);
  const isTold = random.chance(end === 'resume' ? 0.8 : 0.4);
  const breaks = [random.pick(isTold ? TELLING : SILENT), random.pick(TELLING)];
  const as = { namespace, source: CANARY } as const;
  const at = from + SETTLED;
  const begin: Step = { ...as, at, do: 'breakSource', letter: random.pick(['B', 'C'] as const), breaks, end };
  const later = at + random.pick([10_000, 25_000, 45_000] as const);
  const mend: Step = { ...as, at: later, do: 'mendSource', end };
  const isBaked = random.chance(0.3);
  return [
    { ...as, at: from, do: 'writeSource', letter: 'A' },
    { ...as, at: from, do: 'waveSource', on: true, isBaked },
    ...usersIn(namespace, from),
    begin,
    ...(random.chance(0.5) ? [mend] : []),
  ];
}

/** Workloads of each kind that use the source. */
function usersIn(namespace: Step['namespace'], at: number): Step[] {
  const as = { at, namespace };
  const [refs, asking] = [[CANARY, 'Secret/token'], { how: 'auto' }] as const;
  return [...TELLING, ...SILENT].flatMap((workload): Step[] => [
    { ...as, do: 'createWorkload', workload, refs, asking },
    { ...as, do: 'editTemplate', workload, refs },
    { ...as, do: 'ask', workload, asking },
  ]);
}

export class BadData {
  readonly #world: WorldWriter;
  readonly #seen: (what: string) => void;
  readonly #bad = new Map<string, { id: ObjectId; bad: Bad }>();
  /** By which source the pods of a workload were broken. By uid of the workload. */
  readonly #broken = new Map<string, string>();

  /** `seen`: counts what happened. */
  constructor(world: WorldWriter, seen: (what: string) => void) {
    this.#world = world;
    this.#seen = seen;
  }

  do(step: BadStep): void {
    const [kind = '', name = ''] = step.source.split('/');
    const id = { kind, name, namespace: step.namespace };
    const key = [kind, step.namespace, name].join('/');
    if (this.#world.get(id) === undefined) return;
    if (step.do === 'mendSource') return this.#end(key, step.end);
    this.#bad.set(key, { id, bad: step });
    this.#write(id, step.letter);
  }

  /** Ends every bad change. Returns whether some were resumed though nothing tells that pods are stuck, but the time. */
  endAll(): boolean {
    for (const [key, { bad }] of this.#bad) if (this.#isBad(key)) this.#end(key, bad.end);
    return [...this.#bad].some(([key, { bad }]) => this.#isBad(key) && bad.breaks.some(isSilent));
  }

  /** The workload has new pods, with the data of now. */
  podsStarted(workload: ApiObject): void {
    const { kind, metadata } = workload;
    const found = [...this.#bad].find(
      ([key, { id, bad }]) =>
        id.namespace === metadata.namespace &&
        bad.breaks.some((ref) => ref === `${kind}/${metadata.name}`) &&
        uses(templateOf(workload), id.kind, id.name) &&
        this.#isBad(key),
    );
    if (found) {
      this.#broken.set(metadata.uid, found[0]);
      this.#seen('a workload broken by a change');
    } else this.#broken.delete(metadata.uid);
  }

  /** Whether the present pods of the workload do not get ready. Their containers start again and again, with the data of then. */
  areBroken({ metadata }: ApiObject): boolean {
    const by = this.#broken.get(metadata.uid);
    if (by === undefined || this.#isBad(by)) return by !== undefined;
    this.#broken.delete(metadata.uid);
    this.#seen('a broken workload recovered');
    return false;
  }

  #end(key: string, end: End): void {
    const found = this.#bad.get(key);
    if (!found || !this.#isBad(key)) return;
    this.#seen(`a bad change ended by ${end}`);
    const { id, bad } = found;
    if (end === 'resume') return this.#resumeAll(id.namespace);
    if (end === 'newData') this.#write(id, bad.letter === 'A' ? 'B' : 'A');
    this.#bad.delete(key);
  }

  #isBad(key: string): boolean {
    const found = this.#bad.get(key);
    const object = found && this.#world.get(found.id);
    return object !== undefined && letterOf(object) === found?.bad.letter;
  }

  #write(id: ObjectId, letter: Letter): void {
    this.#world.update(id, (present) => ({ ...present, data: dataOf(`${id.kind}/${id.name}`, letter) }));
  }

  /** What is broken halts other changes too that it has. */
  #resumeAll(namespace: string): void {
    for (const kind of ['ConfigMap', 'Secret'])
      for (const { metadata } of this.#world.list(kind, namespace))
        if (metadata.annotations?.[WAVES] !== undefined)
          this.#resume({ kind, namespace, name: metadata.name });
  }

  /** As `kubectl reroll resume` does. */
  #resume(id: ObjectId): void {
    this.#world.update(id, (present) => {
      const { annotations, resourceVersion } = present.metadata;
      const resumed = { ...annotations, [RESUMED]: `${resourceVersion}; a test` };
      return { ...present, metadata: { ...present.metadata, annotations: resumed } };
    });
  }
}

function isSilent(workload: Breakable): boolean {
  return SILENT.some((each) => each === workload);
}
