import { recordOnLease, type LeaseEventContext } from './lease-event.ts';

const NOTE =
  'Redis has no room: the history is dropped and not written until there is. Reloads go on. Give Redis more memory ' +
  '(maxmemory), or find out who else fills it.';

/** Rejects with a `KubeError`. */
export async function recordRedisFull(context: LeaseEventContext): Promise<void> {
  await recordOnLease(context, { reason: 'RedisFull', note: NOTE });
}
