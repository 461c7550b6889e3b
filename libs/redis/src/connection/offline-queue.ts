import type { Cluster, Redis } from 'ioredis';

/** What ioredis keeps of commands while there is no connection. Private there. */
interface OfflineQueue {
  peekFront(): { readonly command: { readonly isSettled: boolean } } | undefined;
  shift(): unknown;
}

/**
 * Drops the commands that have failed from the front of the client's offline queue. ioredis would keep them until Redis is back, so that
 * the memory of a process would grow for as long as it is away, and would send them then, before newer ones. Called before each command,
 * it leaves those that still wait, and those that failed since the last command. The nodes of a Cluster keep none: their connections
 * fail at once.
 */
export function dropFailed(client: Redis | Cluster): void {
  const { offlineQueue } = client as unknown as { readonly offlineQueue: OfflineQueue };
  while (offlineQueue.peekFront()?.command.isSettled === true) offlineQueue.shift();
}
