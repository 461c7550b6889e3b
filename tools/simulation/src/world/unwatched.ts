/** One kind cannot be watched for a while, though the others can. A source and its user are created meanwhile; a list shows the user. */
import type { Step } from '../plan.ts';
import type { Random } from '../random.ts';
import { NAMESPACES, type KubeObject } from './shapes.ts';

const KIND = 'StatefulSet';

export interface UnwatchedDeed {
  /** Its watches end, cannot be resumed, and its requests are refused for so many virtual milliseconds. */
  readonly do: 'refuseKind';
  readonly kind: typeof KIND;
  readonly for: number;
}

const WORKLOAD = `${KIND}/db` as const;
const SOURCE = 'ConfigMap/app';
/** From the deletion of what was there, in virtual milliseconds. */
const REFUSED = 6_000;
const INSTALLED = 8_000;

/** Whether the watch of the workload may be one that cannot be resumed. */
export function isListedAgain({ kind }: KubeObject): boolean {
  return kind === KIND;
}

/** In a quarter of the runs. `length`: of the other steps. */
export function unwatchedSteps(random: Random, { length }: { length: number }): Step[] {
  if (!random.chance(0.25)) return [];
  const namespace = random.pick(NAMESPACES);
  const from = Math.floor(random.next() * length);
  const as = (at: number): Pick<Step, 'at' | 'namespace'> => ({ at: from + at, namespace });
  const created = INSTALLED + random.pick([0, 300, 2_000] as const);
  const listed = random.pick([2_500, 5_000] as const);
  return [
    { ...as(0), do: 'deleteWorkload', workload: WORKLOAD },
    { ...as(0), do: 'deleteSource', source: SOURCE },
    { ...as(REFUSED), do: 'refuseKind', kind: KIND, for: created - REFUSED + listed },
    { ...as(INSTALLED), do: 'writeSource', source: SOURCE, letter: 'A' },
    { ...as(created), do: 'createWorkload', workload: WORKLOAD, refs: [SOURCE], asking: { how: 'auto' } },
  ];
}
