/** Where queues, catalog and history live, and how they are reached. What goes together is in `redis-rules.ts`. */
import { ALL, option } from '../parsing/option.ts';
import { redisSentinelOptions } from './redis-sentinel.ts';
import { redisTlsOptions } from './redis-tls.ts';
import {
  hostPorts,
  matching,
  optionalHost,
  optionalInteger,
  optionalPath,
  optionalText,
  redisUrl,
  servicePort,
} from '../parsing/values.ts';

const group = 'Redis';

const serverOptions = {
  redisUrl: option({
    flag: '--redis-url',
    env: 'REDIS_URL',
    default: { text: 'redis://127.0.0.1:6379', find: () => '' },
    apps: ALL,
    group,
    description:
      'Redis 6.2 or later with maxmemory-policy noeviction, rediss:// for TLS. Give a URL with a password by the environment variable: arguments can be read by others on the host.',
    sensitive: true,
    ...redisUrl(),
  }),
  redisHost: option({
    flag: '--redis-host',
    env: 'REDIS_HOST',
    default: '',
    apps: ALL,
    group,
    description: 'Host of a single Redis, in the place of a URL.',
    ...optionalHost(),
  }),
  redisPort: option({
    flag: '--redis-port',
    env: 'REDIS_PORT',
    default: { text: '6379', find: () => '' },
    apps: ALL,
    group,
    description:
      'Port of --redis-host. What Kubernetes writes into REDIS_PORT for a Service named redis (tcp://…) counts as unset.',
    ...servicePort(),
  }),
  redisCluster: option({
    flag: '--redis-cluster',
    env: 'REDIS_CLUSTER',
    default: '',
    apps: ALL,
    group,
    description:
      'Redis Cluster, in the place of a URL: nodes to begin with, or the one address of a service that names them all. Port 6379 if none is given.',
    ...hostPorts(6379),
  }),
} as const;

const credentialOptions = {
  redisUsername: option({
    flag: '--redis-username',
    env: 'REDIS_USERNAME',
    default: '',
    apps: ALL,
    group,
    description: 'ACL user. Unset: the user default, or that of the URL.',
    ...optionalText('the name of a user'),
  }),
  redisPassword: option({
    flag: '--redis-password',
    env: 'REDIS_PASSWORD',
    default: '',
    apps: ALL,
    group,
    description:
      'Password. Give it by the variable or by a file: arguments can be read by others on the host.',
    sensitive: true,
    ...optionalText('a password'),
  }),
  redisPasswordFile: option({
    flag: '--redis-password-file',
    env: 'REDIS_PASSWORD_FILE',
    default: '',
    apps: ALL,
    group,
    description: 'File with the password, read anew for each connection. A newline at its end is dropped.',
    ...optionalPath('the path of a file'),
  }),
  redisDb: option({
    flag: '--redis-db',
    env: 'REDIS_DB',
    default: { text: '0', find: () => '' },
    apps: ALL,
    group,
    description: 'Database. A Redis Cluster has only 0.',
    ...optionalInteger({ min: 0, max: 65_535 }),
  }),
} as const;

export const redisOptions = {
  ...serverOptions,
  ...redisSentinelOptions,
  ...credentialOptions,
  ...redisTlsOptions,
  clusterName: option({
    flag: '--cluster-name',
    env: 'REROLL_CLUSTER_NAME',
    default: '',
    apps: ALL,
    group,
    description:
      'Name of the Kubernetes cluster. Part of the Redis keys: clusters that share a Redis need one each. Unset: the uid of the namespace kube-system.',
    ...matching('at most 63 letters, digits, dots, dashes or underscores', /^[A-Za-z0-9._-]{0,63}$/u),
  }),
} as const;
