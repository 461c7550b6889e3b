import { Random } from '../../../../tools/simulation/src/random.ts';

/**
 * What pods use, by name:
 * - `db`, `settings`: written again and again.
 * - `sealed`: immutable, and never written. `closing`: becomes immutable with its one write.
 * - `extra`: optional, and not there at first.
 */
export const KINDS = {
  db: 'Secret',
  settings: 'ConfigMap',
  sealed: 'Secret',
  closing: 'ConfigMap',
  extra: 'Secret',
} as const;
export type SourceName = keyof typeof KINDS;

export interface PlannedUse {
  readonly by: 'env' | 'envFrom' | 'volume' | 'subPath';
  readonly source: SourceName;
  readonly isProjected: boolean;
}

export interface PlannedContainer {
  readonly name: string;
  /** `init` ends as soon as it was seen. */
  readonly role: 'app' | 'init' | 'sidecar';
  readonly uses: readonly PlannedUse[];
}

/** `unready`: its readiness probe fails. `imagePull`: its image is never had. `csiVolume`: there is no such driver. */
const FORMS = { single: 40, two: 16, init: 14, sidecar: 14, unready: 6, imagePull: 6, csiVolume: 4 } as const;
type Form = keyof typeof FORMS;

export interface PodPlan {
  readonly name: string;
  readonly form: Form;
  /** Without those that never run. */
  readonly containers: readonly PlannedContainer[];
  /** Milliseconds from the first write; undefined: long before it. */
  readonly createdAt: number | undefined;
  /** When its container of this name is killed. */
  readonly kill: { readonly at: number; readonly container: string } | undefined;
  /** Whether its containers run on for a while when it is deleted. */
  readonly lingers: boolean;
}

export interface PlannedWrite {
  readonly source: SourceName | 'pull';
  /** Milliseconds from the first write. */
  readonly at: number;
}

type DrawnUse = readonly [PlannedUse['by'], SourceName];

/** A source that is drawn more often is there more often. A subPath of a file that is not there keeps the volume from being refreshed. */
const USES: readonly [DrawnUse, ...DrawnUse[]] = [
  ...(['env', 'envFrom', 'volume', 'subPath'] as const).flatMap((by): DrawnUse[] => [
    [by, 'db'],
    [by, 'db'],
    [by, 'closing'],
  ]),
  ...(['env', 'envFrom', 'volume'] as const).map((by): DrawnUse => [by, 'extra']),
  ['env', 'settings'],
  ['volume', 'settings'],
  ['volume', 'settings'],
  ['subPath', 'settings'],
  ['volume', 'sealed'],
  ['envFrom', 'sealed'],
] as unknown as [DrawnUse, ...DrawnUse[]];

/** A hundred pods of every form. */
export function plansOf(random: Random): readonly PodPlan[] {
  const forms = Object.entries(FORMS).flatMap(([form, count]) => Array<Form>(count).fill(form as Form));
  return forms.map((form, index) => planOf(`${form.toLowerCase()}-${index}`, form, random));
}

function planOf(name: string, form: Form, random: Random): PodPlan {
  const containers = containersOf(form, random);
  const killable = containers.filter(({ role }) => role !== 'init');
  const [first, ...others] = killable;
  if (first === undefined)
    return { name, form, containers, createdAt: undefined, kill: undefined, lingers: false };
  return {
    name,
    form,
    containers,
    createdAt: random.chance(0.3) ? random.between(-6_000, 12_000) : undefined,
    kill: random.chance(0.35)
      ? { at: random.between(-5_000, 13_000), container: random.pick([first, ...others]).name }
      : undefined,
    lingers: random.chance(0.15),
  };
}

function containersOf(form: Form, random: Random): PlannedContainer[] {
  const container = (name: string, role: PlannedContainer['role'] = 'app'): PlannedContainer => ({
    name,
    role,
    uses: usesOf(random),
  });
  switch (form) {
    case 'imagePull':
    case 'csiVolume':
      return [];
    case 'two':
      return [container('app'), container('other')];
    case 'init':
      return [container('first', 'init'), container('app')];
    case 'sidecar':
      return [container('beside', 'sidecar'), container('app')];
    default:
      return [container('app')];
  }
}

/** One to three, each kind of use of a source once. */
function usesOf(random: Random): PlannedUse[] {
  const found = new Map<string, PlannedUse>();
  for (let left = random.between(1, 3); left > 0; left -= 1) {
    const [by, source] = random.pick(USES);
    found.set(`${by}/${source}`, { by, source, isProjected: random.chance(0.4) });
  }
  return [...found.values()];
}

/** What is written while pods come and containers start again; the first at 0. */
export function writesOf(random: Random): readonly PlannedWrite[] {
  const at = (): number => random.between(0, 9_000);
  return [
    { source: 'db', at: 0 },
    { source: 'db', at: random.between(3_500, 9_000) },
    { source: 'settings', at: at() },
    { source: 'closing', at: at() },
    { source: 'extra', at: at() },
    { source: 'pull', at: at() },
  ];
}

/** Whether the kubelet refreshes what is used while it is used, before the source is immutable. */
export function isInPlace({ role }: PlannedContainer, { by }: PlannedUse): boolean {
  return by === 'volume' && role !== 'init';
}

/** Whether a pod keeps older data of a source, or nothing tells that it does not, until it is replaced. */
export function keepsOlder({ form, containers }: PodPlan, source: SourceName): boolean {
  return containers.some((container) =>
    container.uses.some((use) => use.source === source && (form === 'unready' || !isInPlace(container, use))),
  );
}
