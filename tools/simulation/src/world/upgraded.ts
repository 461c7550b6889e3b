/** The API servers are upgraded: from then on they serve pod templates with another default, though nobody wrote them. */
import type { Step } from '../plan.ts';
import type { Random } from '../random.ts';
import { SERVERS, type ServerName } from '../stale-servers.ts';
import { NAMESPACES } from './shapes.ts';

export interface UpgradeDeed {
  /** From then on it is of a later version. Its watches are cut, and resumed. */
  readonly do: 'upgradeApi';
  readonly server: ServerName;
}

/** In a quarter of the runs, one server after the other is upgraded. `length`: of the other steps. */
export function upgradeSteps(random: Random, { length }: { length: number }): Step[] {
  if (!random.chance(0.25)) return [];
  const [namespace] = NAMESPACES;
  return SERVERS.map((server) => ({
    at: Math.floor(random.next() * length),
    namespace,
    do: 'upgradeApi',
    server,
  }));
}
