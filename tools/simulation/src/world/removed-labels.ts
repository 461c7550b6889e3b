/** A source loses the labels of the watched ones while a reload for it is held, and in some runs it has them again later. */
import type { Option } from '../options.ts';
import type { Step } from '../plan.ts';
import { Random } from '../random.ts';
import { NAMESPACES } from './shapes.ts';

/** Makes these steps of a seed independent of all else. */
const REMOVED_LABELS = 0x1abe1;
const SOURCE = 'ConfigMap/app';
const WORKLOAD = 'Deployment/web';
/** Virtual milliseconds from one step to the next: until the change is pending, and what a watcher left of it is outdated. */
const PACE = 3_000;

/** In the runs in which sources are watched by their labels. `length`: of the other steps. */
export function removedLabelSteps(
  seed: number,
  { options, length }: { options: readonly Option[]; length: number },
): Step[] {
  if (!options.includes('sourceLabels')) return [];
  const random = new Random(seed ^ REMOVED_LABELS);
  const namespace = random.pick(NAMESPACES);
  let at = Math.floor(random.next() * length);
  const as = (): Pick<Step, 'at' | 'namespace'> => ({ at: (at += PACE), namespace });
  const write = (letter: 'A' | 'B' | 'C'): Step => ({ ...as(), do: 'writeSource', source: SOURCE, letter });
  const label = (on: boolean): Step => ({ ...as(), do: 'labelSource', source: SOURCE, on });
  const hold = (isHeld: boolean): Step => {
    return { ...as(), do: 'holdWorkload', workload: WORKLOAD, hold: isHeld ? 'freeze' : null };
  };
  return [
    write('A'),
    label(true),
    { ...as(), do: 'createWorkload', workload: WORKLOAD, refs: [SOURCE], asking: { how: 'auto' } },
    { ...as(), do: 'editTemplate', workload: WORKLOAD, refs: [SOURCE] },
    hold(true),
    write('B'),
    { ...as(), do: 'touchSource', source: SOURCE },
    label(false),
    hold(false),
    ...(random.chance(0.3) ? [write('C')] : []),
    ...(random.chance(0.5) ? [label(true)] : []),
  ];
}
