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
      'Redis 6.2 or later with maxmemory-policy noeviction; rediss:// for TLS. Set a URL that contains a password through the environment variable: other users of the host can read arguments.',
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
      'Port for --redis-host. A value such as tcp://…, which Kubernetes puts into REDIS_PORT for a Service named redis, counts as unset.',
    ...servicePort(),
  },
  redisCluster: {
    flag: '--redis-cluster',
    env: 'REDIS_CLUSTER',
    default: '',
    apps: ALL,
    description:
      'Nodes of a Redis Cluster to start from, or the one address of a service that knows them all; instead of a URL. The port defaults to 6379.',
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
      'Password. Set it through the environment variable or a file: other users of the host can read arguments.',
    sensitive: true,
    ...optionalText('a password'),
  },
  redisPasswordFile: {
    flag: '--redis-password-file',
    env: 'REDIS_PASSWORD_FILE',
    default: '',
    apps: ALL,
    description:
      'File that contains the password. It is read again for each connection; a trailing newline is ignored.',
    ...optionalPath('the path of a file'),
  },
  redisDb: {
    flag: '--redis-db',
    env: 'REDIS_DB',
    default: { text: '0', find: () => '' },
    apps: ALL,
    description: 'Database number. A Redis Cluster has database 0 only.',
    ...optionalInteger({ min: 0, max: 65_535 }),
  },
  ...redisTlsOptions,
  redisMaxMemory: {
    flag: '--redis-max-memory',
    default: '320mb',
    apps: STANDALONE,
    description:
      'Memory limit of the Redis that the process starts by itself if it is given none. At the limit it drops the history, and reloads go on.',
    ...matching('a number of megabytes or gigabytes, such as 320mb or 1gb', /^[1-9][0-9]{0,5}(?:mb|gb)$/u),
  },
  clusterName: {
    flag: '--cluster-name',
    default: '',
    apps: ALL,
    description:
      'Name of the Kubernetes cluster. It is part of the Redis keys: clusters that share a Redis need different names. Default: the UID of the namespace kube-system.',
    ...matching('at most 63 letters, digits, dots, dashes or underscores', /^[A-Za-z0-9._-]{0,63}$/u),
  },
});
