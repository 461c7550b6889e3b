import type { Socket } from 'node:net';

/** What comes from one goes to the other, and they end together. */
export function joinSockets(client: Socket, target: Socket): void {
  for (const [one, other] of [
    [client, target],
    [target, client],
  ] as const) {
    one.setNoDelay();
    one.pipe(other);
    one.on('error', () => other.destroy());
    one.on('close', () => other.destroy());
  }
}
