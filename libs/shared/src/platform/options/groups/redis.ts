/** Where queues, catalog and history are stored, and how to connect. `redis-rules.ts` has the rules between these options. */
import { ALL, options, STANDALONE } from '../parsing/option.ts';
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

export const redisOptions = options('Redis', {
  redisUrl: {
    flag: '--redis-url',
    env: 'REDIS_URL',
    default: { text: 'redis://127.0.0.1:6379', find: () => '' },
    apps: ALL,
    description:
      'Redis 6.2 or later with maxmemory-policy noeviction; rediss:// for TLS. Use the environment variable if the URL has a password: other users of the host can read arguments.',
    sensitive: true,
    ...redisUrl(),
  },
  redisHost: {
    flag: '--redis-host',
    env: 'REDIS_HOST',
    default: '',
    apps: ALL,
    description: 'Host of a single Redis server, instead of a URL.',
    ...optionalHost(),
  },
  redisPort: {
    flag: '--redis-port',
    env: 'REDIS_PORT',
    default: { text: '6379', find: () => '' },
    apps: ALL,
    description:
      'Port for --redis-host. A value such as tcp://…, which Kubernetes sets for a Service named redis, is ignored.',
    ...servicePort(),
  },
  redisCluster: {
    flag: '--redis-cluster',
    env: 'REDIS_CLUSTER',
    default: '',
    apps: ALL,
    description:
      'Some nodes of a Redis Cluster, or one address that leads to all of them, instead of a URL. Default port: 6379.',
    ...hostPorts(6379),
  },
  ...redisSentinelOptions,
  redisUsername: {
    flag: '--redis-username',
    env: 'REDIS_USERNAME',
    default: '',
    apps: ALL,
    description: 'ACL user. Default: the user in the URL, or the user named default.',
    ...optionalText('the name of a user'),
  },
  redisPassword: {
    flag: '--redis-password',
    env: 'REDIS_PASSWORD',
    default: '',
    apps: ALL,
    description:
      'Password. Use the environment variable or a file: other users of the host can read arguments.',
    sensitive: true,
    ...optionalText('a password'),
  },
  redisPasswordFile: {
    flag: '--redis-password-file',
    env: 'REDIS_PASSWORD_FILE',
    default: '',
    apps: ALL,
    description: 'File with the password. It is read for each connection; a trailing newline is ignored.',
    ...optionalPath('the path of a file'),
  },
  redisDb: {
    flag: '--redis-db',
    env: 'REDIS_DB',
    default: { text: '0', find: () => '' },
    apps: ALL,
    description: 'Database number. A Redis Cluster has only 0.',
    ...optionalInteger({ min: 0, max: 65_535 }),
  },
  ...redisTlsOptions,
  redisMaxMemory: {
    flag: '--redis-max-memory',
    default: '320mb',
    apps: STANDALONE,
    description:
      'Memory limit of the Redis that the process starts if none is configured. When it is full, the history is dropped; if that is not enough, reloads wait.',
    ...matching('a number of megabytes or gigabytes, such as 320mb or 1gb', /^[1-9][0-9]{0,5}(?:mb|gb)$/u),
  },
  clusterName: {
    flag: '--cluster-name',
    default: '',
    apps: ALL,
    description:
      'Name of the Kubernetes cluster in the Redis keys. Clusters that share a Redis need different names. Default: the UID of the namespace kube-system.',
    ...matching('at most 63 letters, digits, dots, dashes or underscores', /^[A-Za-z0-9._-]{0,63}$/u),
  },
});
