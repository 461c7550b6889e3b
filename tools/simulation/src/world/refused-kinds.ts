/** One kind cannot be watched for a while, though the others can. A source and its user are created meanwhile; a list shows the user. */
import type { Step } from '../plan.ts';
import type { Random } from '../random.ts';
import { NAMESPACES, type WorkloadRef } from './shapes.ts';

const WORKLOADS = [
  'Deployment/web',
  'StatefulSet/db',
  'DaemonSet/agent',
  'Rollout/shop',
  'CronJob/report',
  'Job/migrate',
] as const satisfies readonly WorkloadRef[];

export interface RefusedKindDeed {
  /** Its watches end, cannot be resumed, and its requests are refused for so many virtual milliseconds. */
  readonly do: 'refuseKind';
  readonly kind: string;
  readonly for: number;
}

const SOURCE_KINDS = ['ConfigMap', 'Secret'] as const;
const SOURCE = 'ConfigMap/app';
/** From the deletion of what was there, in virtual milliseconds. */
const REFUSED = 6_000;
const INSTALLED = 8_000;

/** In a quarter of the runs, and in another quarter a kind of sources. `length`: of the other steps. */
export function refusedKindSteps(random: Random, { length }: { length: number }): Step[] {
  const chance = random.next();
  if (chance >= 0.5) return [];
  const namespace = random.pick(NAMESPACES);
  const workload = random.pick(WORKLOADS);
  const [kind = ''] = workload.split('/');
  const from = Math.floor(random.next() * length);
  const as = (at: number): Pick<Step, 'at' | 'namespace'> => ({ at: from + at, namespace });
  const created = INSTALLED + random.pick([0, 300, 2_000] as const);
  const listed = random.pick([2_500, 5_000] as const);
  if (chance >= 0.25) {
    return [{ ...as(0), do: 'refuseKind', kind: random.pick(SOURCE_KINDS), for: created + listed }];
  }
  return [
    { ...as(0), do: 'deleteWorkload', workload },
    { ...as(0), do: 'deleteSource', source: SOURCE },
    { ...as(REFUSED), do: 'refuseKind', kind, for: created - REFUSED + listed },
    { ...as(INSTALLED), do: 'writeSource', source: SOURCE, letter: 'A' },
    { ...as(created), do: 'createWorkload', workload, refs: [SOURCE], asking: { how: 'auto' } },
  ];
}
