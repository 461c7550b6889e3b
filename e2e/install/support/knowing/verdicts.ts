import type { KubeObject, Space } from '../../../support/kube.ts';
import type { RerollCli } from '../../../support/admin/reroll-cli.ts';
import {
  isInPlace,
  KINDS,
  type PlannedContainer,
  type PlannedUse,
  type PodPlan,
  type SourceName,
} from './plans.ts';
import type { Witness } from './witness.ts';
import type { Sources, Written } from './written.ts';

/** The kubelet of this node needs 15 s at most. */
export const DELAY_S = 30;
export const DELAY = ['--kubelet-delay', `${DELAY_S}s`];

export type State = 'current' | 'stale' | 'unknown';

interface Consumer {
  readonly pod: string;
  readonly container: string | null;
  readonly source: { readonly kind: string; readonly name: string };
  readonly use: PlannedUse['by'] | 'csiVolume' | 'imagePull';
  readonly state: State;
  readonly why: string;
}

/** A use as the process of its container has it. */
interface Seen {
  readonly key: string;
  readonly pod: PodPlan;
  readonly container: PlannedContainer;
  readonly use: PlannedUse;
  readonly id: string;
  readonly value: string;
  readonly createdAt: number;
  readonly startedAt: number;
  readonly hasRestarted: boolean;
  /** Whether its pod is ready and not about to end. */
  readonly isKept: boolean;
  /** When the kubelet last wrote the status of the pod. */
  readonly toldAt: number;
}

/** A verdict that was held against what the process sees. */
export interface Held extends Seen {
  readonly state: State;
  readonly isPresent: boolean;
}

export interface Look {
  readonly held: readonly Held[];
  /** What is wrong, in words. */
  readonly wrong: readonly string[];
  /** Uses that were seen, of which nothing was said. */
  readonly missed: readonly string[];
  /** By pod: those without a container that runs. */
  readonly imagePulls: ReadonlyMap<string, State>;
  readonly csiVolumes: ReadonlyMap<string, State>;
}

export interface Surroundings {
  readonly cli: RerollCli;
  readonly space: Space;
  readonly witness: Witness;
  readonly sources: Sources;
  /** By the name of the pod. */
  readonly plans: ReadonlyMap<string, PodPlan>;
}

/** Asks `stale` once. Nothing is held against a container that started again meanwhile, a file that was refreshed, or a source that was written. */
export async function look(around: Surroundings): Promise<Look> {
  const names = Object.keys(KINDS) as SourceName[];
  const written = new Map(names.map((name) => [name, around.sources.of(name)] as const));
  const [at, before] = [Date.now(), await seenUses(around)];
  const { items } = await around.cli.json<{ items: readonly Consumer[] }>('stale', '--all', ...DELAY);
  const after = await seenUses(around);
  const said = new Map(items.map((item) => [keyOf(item), item]));
  const held: Held[] = [];
  const wrong: string[] = [];
  const missed: string[] = [];
  for (const [key, seen] of before) {
    const source = written.get(seen.use.source);
    const isSame = sameAs(seen, after.get(key)) && around.sources.of(seen.use.source) === source;
    if (source === undefined || !isSame) continue;
    const state = said.get(key)?.state;
    if (state === undefined) {
      missed.push(key);
      continue;
    }
    const each = { ...seen, state, isPresent: seen.value === source.value };
    const isKept = seen.isKept && after.get(key)?.isKept === true;
    const fault = faultOf({ ...each, isKept }, source, at);
    if (fault !== undefined) wrong.push(`${key} ${state}: ${fault}; ${detail(each, source, said.get(key))}`);
    held.push(each);
  }
  const statesOf = (use: Consumer['use']): ReadonlyMap<string, State> =>
    new Map(items.filter((item) => item.use === use).map(({ pod, state }) => [pod, state]));
  return { held, wrong, missed, imagePulls: statesOf('imagePull'), csiVolumes: statesOf('csiVolume') };
}

function sameAs(before: Seen, after: Seen | undefined): boolean {
  return before.id === after?.id && before.value === after.value;
}

function detail(seen: Held, source: Written, said: Consumer | undefined): string {
  const { value, createdAt, startedAt, isKept } = seen;
  return JSON.stringify({ value, createdAt, startedAt, isKept, source, why: said?.why });
}

/** What is wrong with a verdict, if anything, by what the process has and by what the guide says. */
function faultOf(held: Held, source: Written, at: number): string | undefined {
  const { state, isPresent, use } = held;
  if (state === 'current') return isPresent ? undefined : 'it has older data';
  if (state === 'unknown')
    return mayBeUnknown(held, source, at) ? undefined : 'the guide says that it is known';
  // A volume of what has the field `immutable` counts as given at the start.
  const isLimit = use.by === 'volume' && source.isImmutable;
  return isPresent && !isLimit ? 'it has the current data' : undefined;
}

/** Whether a kubelet may not have noticed a write yet. */
export function isBeingNoticed({ endedAt }: Written, at: number): boolean {
  return at < endedAt + (DELAY_S + 2) * 1_000;
}

const second = (time: number): number => Math.floor(time / 1_000);

function mayBeUnknown(held: Held, source: Written, at: number): boolean {
  const { container, use, createdAt, startedAt, isKept, toldAt } = held;
  if (source.value === '') return true;
  const [began, ended] = [second(source.beganAt), second(source.endedAt)];
  const isCreatedAfter = second(createdAt) > ended;
  const isWithin = (time: number, most: number): boolean => second(time) >= began && second(time) <= most;
  if (isCreatedAfter) return false;
  if (isInPlace(container, use) && !source.isImmutable) {
    const mayBeBack = at < toldAt + (DELAY_S + 2) * 1_000;
    return isBeingNoticed(source, at) || !isKept || mayBeBack || isWithin(startedAt, ended);
  }
  return isWithin(startedAt, ended + DELAY_S);
}

interface ContainerStatus {
  readonly name: string;
  readonly containerID?: string;
  readonly restartCount: number;
  readonly state: {
    readonly running?: { readonly startedAt: string };
    readonly terminated?: { readonly startedAt: string; readonly exitCode: number };
  };
}

type Uses = ReadonlyMap<string, Seen>;

/** Of each container that runs, or of an init container that has ended, if its status is of the process that is seen. */
export async function seenUses(around: Surroundings): Promise<Uses> {
  const found = new Map<string, Seen>();
  for (const object of await around.space.list('Pod')) {
    const plan = around.plans.get(object.metadata.name);
    if (plan !== undefined)
      for (const seen of seenIn(object, plan, around.witness)) found.set(seen.key, seen);
  }
  return found;
}

function seenIn({ metadata, status = {} }: KubeObject, pod: PodPlan, witness: Witness): Seen[] {
  if (status['phase'] === 'Succeeded' || status['phase'] === 'Failed') return [];
  const statuses = ['containerStatuses', 'initContainerStatuses'].flatMap(
    (key) => (status[key] ?? []) as readonly ContainerStatus[],
  );
  const conditions = (status['conditions'] ?? []) as readonly { type: string; status: string }[];
  const isReady = conditions.some((each) => each.type === 'Ready' && each.status === 'True');
  const of = {
    pod,
    createdAt: Date.parse(metadata.creationTimestamp),
    isKept: isReady && !('deletionTimestamp' in metadata),
    toldAt: toldAt(metadata),
  };
  return pod.containers.flatMap((container) => {
    const found = statuses.find(({ name }) => name === container.name);
    const { running, terminated } = found?.state ?? {};
    // An init container that could not cope with a signal is started again.
    const { startedAt } = running ?? (terminated?.exitCode === 0 ? terminated : {});
    if (found?.containerID === undefined || startedAt === undefined) return [];
    const id = found.containerID.replace('containerd://', '');
    const run = { id, startedAt: Date.parse(startedAt), hasRestarted: found.restartCount > 0 };
    return container.uses.flatMap((use): Seen[] => {
      const value = witness.seenBy(id, use);
      if (value === undefined) return [];
      return [{ ...of, ...run, key: useKey(metadata.name, container.name, use), container, use, value }];
    });
  });
}

function toldAt(metadata: object): number {
  const { managedFields = [] } = metadata as {
    managedFields?: readonly { readonly time: string; readonly subresource?: string }[];
  };
  const times = managedFields.filter(({ subresource }) => subresource === 'status');
  return Math.max(0, ...times.map(({ time }) => Date.parse(time)));
}

export function useKey(pod: string, container: string, { by, source }: PlannedUse): string {
  return `${pod}/${container} ${by} ${KINDS[source]}/${source}`;
}

function keyOf({ pod, container, use, source }: Consumer): string {
  return `${pod}/${container ?? ''} ${use} ${source.kind}/${source.name}`;
}
