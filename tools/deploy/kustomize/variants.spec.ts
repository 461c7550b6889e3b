import { expect, it } from 'vitest';
import { at, workload } from '../look.ts';
import { manifestsWith } from '../render.ts';
import { OVERLAYS } from './variants.ts';

it.each(['watcher', 'worker', 'admin'])(
  'high-availability: the spread of %s over nodes counts none whose taints it does not tolerate',
  async (component) => {
    const { pod } = workload(await manifestsWith(OVERLAYS['high-availability']?.values), component);
    const spread = at(pod, 'topologySpreadConstraints') as readonly unknown[];
    const strict = spread.filter((each) => at(each, 'whenUnsatisfiable') === 'DoNotSchedule');
    expect(strict.map((each) => at(each, 'nodeTaintsPolicy'))).toEqual(['Honor']);
  },
);
