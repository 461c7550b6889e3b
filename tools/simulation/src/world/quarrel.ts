import type { Step } from '../plan.ts';
import type { Random } from '../random.ts';
import { LETTERS, NAMESPACES } from './shapes.ts';

/** Somebody puts back what Reroll changes in a workload, and the source that it uses goes on changing. */
export function quarrel(random: Random, from: number): Step[] {
  const namespace = random.pick(NAMESPACES);
  const ref = random.pick(['ConfigMap/app', 'Secret/token'] as const);
  const as = { at: from, namespace };
  const pace = random.pick([3_000, 6_000] as const);
  const of = random.pick(['Deployment/web', 'StatefulSet/db', 'DaemonSet/agent'] as const);
  const asking = { how: 'auto' } as const;
  return [
    { ...as, do: 'createWorkload', workload: of, refs: [ref], asking },
    { ...as, do: 'editTemplate', workload: of, refs: [ref] },
    { ...as, do: 'ask', workload: of, asking },
    { ...as, do: 'strip', what: 'marker', times: 10 },
    ...LETTERS.concat(LETTERS).map((each, at): Step => ({
      namespace,
      at: from + at * pace,
      do: 'writeSource',
      source: ref,
      letter: each,
    })),
  ];
}
