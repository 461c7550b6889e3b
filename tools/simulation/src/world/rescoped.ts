/**
 * The installation gets another scope: its processes are restarted, and the Lease says that the leader before had another one. The real
 * flags stay, so that what is owed stays the same: no change in a scope that both leaders have may be missed.
 */
import type { SimulatedApi } from '../api/simulated-api.ts';
import type { Places } from '../places.ts';
import type { Step } from '../plan.ts';
import { Random } from '../random.ts';
import { NAMESPACES } from './shapes.ts';

export interface RescopeDeed {
  readonly do: 'rescope';
  /** Virtual milliseconds from the restart of one process to that of the next. */
  readonly pace: number;
}

const SCOPE = 'reroll.dev/scope';
/** Makes these steps of a seed independent of all else. */
const RESCOPED = 0x5c0;

/** In a quarter of the runs. `length`: of the other steps. */
export function rescopeSteps(seed: number, { length }: { length: number }): Step[] {
  const random = new Random(seed ^ RESCOPED);
  if (!random.chance(0.25)) return [];
  const [namespace] = NAMESPACES;
  const at = Math.floor(random.next() * length);
  return [{ at, namespace, do: 'rescope', pace: random.pick([0, 1_000, 10_000] as const) }];
}

export function rescope({ api, places }: { api: SimulatedApi; places: Places }, pace: number): void {
  const world = api.as('operator');
  for (const { metadata } of world.list('Lease')) {
    if (metadata.annotations?.[SCOPE] === undefined) continue;
    const id = { kind: 'Lease', namespace: metadata.namespace ?? '', name: metadata.name };
    world.patch(id, { metadata: { annotations: { [SCOPE]: 'another' } } });
  }
  places.restartAll(pace);
}
