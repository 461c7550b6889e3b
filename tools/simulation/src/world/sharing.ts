/** A second Rollout begins to use the pod template of a Deployment while a reload of the first one is held. Both share one record. */
import type { Step } from '../plan.ts';
import { Random } from '../random.ts';
import type { Asking } from './objects.ts';
import { NAMESPACES, SHARING, type SourceRef } from './shapes.ts';

/** Makes these steps of a seed independent of all else. */
const SHARED = 0x54a4ed;
const SOURCE = 'ConfigMap/app';
const FIRST = 'Rollout/front';
const OWNER = 'Deployment/front';
/** Virtual milliseconds from one step to the next: until the change is pending. */
const PACE = 3_000;

/** Each may also name sources that the other one does not, and the second one may keep its record to itself. */
const ASKING: readonly [Asking, ...Asking[]] = [
  { how: 'auto' },
  { how: 'namedAndAuto', sources: ['ConfigMap/web-env'] },
];
const SECOND: readonly [Asking, ...Asking[]] = [
  { how: 'auto' },
  { how: 'named', sources: [SOURCE, 'Secret/token'] },
  { how: 'auto', restart: true },
];

/** In a sixth of the runs. `length`: of the other steps. */
export function sharingSteps(seed: number, { length }: { length: number }): Step[] {
  const random = new Random(seed ^ SHARED);
  if (!random.chance(1 / 6)) return [];
  const namespace = random.pick(NAMESPACES);
  const refs: readonly SourceRef[] = [SOURCE];
  const asking = random.pick(ASKING);
  let at = Math.floor(random.next() * length);
  const as = (): Pick<Step, 'at' | 'namespace'> => ({ at: (at += PACE), namespace });
  const write = (letter: 'A' | 'B' | 'C'): Step => ({ ...as(), do: 'writeSource', source: SOURCE, letter });
  const hold = (isHeld: boolean): Step => {
    return { ...as(), do: 'holdWorkload', workload: FIRST, hold: isHeld ? 'freeze' : null };
  };
  return [
    write('A'),
    { ...as(), do: 'createWorkload', workload: FIRST, refs, asking },
    { ...as(), do: 'ask', workload: OWNER, asking: { how: 'nothing' } },
    { ...as(), do: 'ask', workload: FIRST, asking },
    { ...as(), do: 'editTemplate', workload: OWNER, refs },
    hold(true),
    write('B'),
    { ...as(), do: 'createWorkload', workload: SHARING, refs, asking: random.pick(SECOND) },
    ...(random.chance(0.3) ? [write('C')] : []),
    ...(random.chance(0.2) ? [{ ...as(), do: 'deleteWorkload', workload: FIRST } as const] : []),
    hold(false),
    ...(random.chance(0.2) ? [{ ...as(), do: 'deleteWorkload', workload: SHARING } as const] : []),
  ];
}
