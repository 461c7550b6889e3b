import { Presence } from '@reroll/redis/catalog/presence';
import type { ProcessEntry } from '@reroll/redis/catalog/processes';
import type { Ledger } from '@reroll/core/ledger/ledger';
import { VERSION } from '@reroll/shared/platform/version';
import type { WatcherContext } from './lifecycle.ts';
import { owedOf } from './owed.ts';

/** Says of this watcher what there is to say, until it ends; the leader also forgets processes that are dead for long. */
export function announce(context: WatcherContext, by: { ledger: Ledger; isLeader: () => boolean }): void {
  const { options, processes, room, state, metrics, log, lifecycle } = context;
  const startedAt = Date.now();
  const entry = (): Omit<ProcessEntry, 'seenAt'> => {
    const leader = by.isLeader();
    return {
      app: 'watcher',
      name: options.podName,
      version: VERSION,
      startedAt,
      leader,
      synced: state.isSynced(),
      ...(room.isFull ? { redisFull: true } : {}),
      ...(leader ? { owed: owedNow(by.ledger, options.sweepInterval) } : {}),
    };
  };
  const presence = new Presence({
    processes,
    entry,
    also: async () => {
      await room.look();
      if (by.isLeader()) await processes.removeDead();
    },
    onError: (error) => {
      room.failed(error);
      metrics.heartbeatErrors.inc();
      log.failure('this process could not say that it is there, trying again', error);
    },
  });
  lifecycle.onStop('presence', 1_000, () => presence.stop());
}

function owedNow(ledger: Ledger, interval: number): NonNullable<ProcessEntry['owed']> {
  const { workloads, oldest } = owedOf(ledger, interval);
  return { workloads, since: workloads === 0 ? null : Date.now() - oldest };
}
