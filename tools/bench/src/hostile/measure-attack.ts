import type { KubeClient } from '@reroll/kube/client/connection';
import { percentile } from '../measure/numbers.ts';
import type { Attack } from './attacks.ts';
import type { Latencies, Neighbor } from './neighbor.ts';
import { Tenant } from './tenant.ts';

/** Changes of the neighbor during an attack: enough for a 99th percentile. */
const CHANGES = 120;
/** Changes before those that count: the code of new processes is not compiled yet. */
const WARM_UP = 20;

export interface AttackFigures {
  readonly attack: string;
  /** Right before the attack, with everything that it needs already there. */
  readonly quiet: Latencies;
  readonly during: Latencies;
  /** Bytes of Redis at the end of the attack, less those before it. */
  readonly redisBytes: number;
}

export interface Surroundings {
  readonly client: KubeClient;
  readonly neighbor: Neighbor;
  /** Bytes that Redis uses for data now. */
  readonly redisBytes: () => Promise<number>;
  /** Names the namespace of the attacker. */
  readonly namespace: string;
  /** Requests of the attacker at a time. Default 4. */
  readonly lanes?: number;
  /** Changes of the neighbor before the attack that count. Default as many as during it. */
  readonly quiet?: number;
}

/** Lets the neighbor make changes while somebody else does their worst, in a namespace of their own that is deleted in the end. */
export async function measureAttack(attack: Attack, by: Surroundings): Promise<AttackFigures> {
  const { client, neighbor, redisBytes, namespace } = by;
  const tenant = new Tenant(client, namespace, by.lanes);
  await tenant.createNamespace();
  const before = await redisBytes();
  const over = new AbortController();
  let running: Promise<void> = Promise.resolve();
  try {
    await attack.prepare?.(tenant);
    await neighbor.change(WARM_UP);
    const quiet = await neighbor.change(by.quiet ?? CHANGES);
    running = attack.run(tenant, over.signal);
    // Reported below; until then it must not count as unhandled.
    running.catch(() => over.abort());
    const during = await neighbor.change(CHANGES);
    over.abort();
    await running;
    return { attack: attack.name, quiet, during, redisBytes: (await redisBytes()) - before };
  } finally {
    over.abort();
    await running.catch(() => undefined);
    await tenant.leave();
  }
}

export function p50({ milliseconds }: Latencies): number {
  return percentile(milliseconds, 0.5);
}

/** Of the writes alone. */
export function writeP50({ writes }: Latencies): number {
  return percentile(writes, 0.5);
}

export function p99({ milliseconds }: Latencies): number {
  return percentile(milliseconds, 0.99);
}
