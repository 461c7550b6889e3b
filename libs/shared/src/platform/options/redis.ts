/** Where queues, catalog and history live. */
import { BOTH, option } from './option.ts';
import { matching, redisUrl } from './values.ts';

export const redisOptions = {
  redisUrl: option({
    flag: '--redis-url',
    env: 'REDIS_URL',
    default: 'redis://127.0.0.1:6379',
    apps: BOTH,
    group: 'Redis',
    description:
      'Redis 6.2 or later with maxmemory-policy noeviction. Give a URL with a password by the environment variable: arguments can be read by others on the host.',
    sensitive: true,
    ...redisUrl(),
  }),
  clusterName: option({
    flag: '--cluster-name',
    env: 'REROLL_CLUSTER_NAME',
    default: '',
    apps: BOTH,
    group: 'Redis',
    description:
      'Name of the Kubernetes cluster. Part of the Redis keys: clusters that share a Redis need one each. Unset: the uid of the namespace kube-system.',
    ...matching('at most 63 letters, digits, dots, dashes or underscores', /^[A-Za-z0-9._-]{0,63}$/u),
  }),
} as const;
