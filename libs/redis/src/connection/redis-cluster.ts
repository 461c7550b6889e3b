import { shareScript } from './shared-scripts.ts';
import { Cluster, type ClusterNode, type ClusterOptions, type RedisOptions } from 'ioredis';
import { dropFailed } from './offline-queue.ts';
import { forgetClosed } from './forget-closed.ts';
import { reconnectDelay } from './reconnect-delay.ts';
import type { RedisSecrets } from './redis-secrets.ts';

const CLUSTER: Omit<ClusterOptions, 'redisOptions'> = {
  clusterRetryStrategy: reconnectDelay,
  // Keeps names: certificates are for names, and an address that changed is looked up again.
  dnsLookup: (address, found) => found(null, address),
};

type Sent = Parameters<Cluster['sendCommand']>;

/**
 * A connection to a Redis Cluster. Unlike ioredis' own class, it answers each command within its deadline, even while no node can
 * be reached, and connects to each node with the current secrets.
 */
export class RedisCluster extends Cluster {
  readonly #deadline: number;

  constructor(start: readonly ClusterNode[], nodeOptions: RedisOptions, secrets: RedisSecrets) {
    super([...start], {
      ...CLUSTER,
      redisOptions: { ...nodeOptions, ...secrets.credentials(), replyMapping: 'legacy' },
    });
    this.#deadline = nodeOptions.commandTimeout ?? 0;
    // Emitted before the connection to the node is opened.
    this.on('+node', (node: { options: RedisOptions }) => {
      Object.assign(node.options, secrets.credentials());
    });
    // BullMQ opens its own connections with this. The start nodes stay the given ones.
    this.duplicate = ((_start?: unknown, override?: ClusterOptions) =>
      new RedisCluster(
        start,
        { ...this.options.redisOptions, ...override?.redisOptions },
        secrets,
      )) as Cluster['duplicate'];
  }

  override sendCommand(...sent: Sent): unknown {
    dropFailed(this);
    if (this.#deadline > 0) sent[0].setTimeout(this.#deadline);
    return super.sendCommand(...sent);
  }

  override defineCommand(...defined: Parameters<Cluster['defineCommand']>): void {
    super.defineCommand(...defined);
    shareScript(this, defined[0]);
  }

  override disconnect(reconnect = false): void {
    if (!reconnect) forgetClosed(this);
    super.disconnect(reconnect);
  }
}
