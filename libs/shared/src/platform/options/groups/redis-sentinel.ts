/** A Redis monitored by Sentinels. */
import { ALL, options } from '../parsing/option.ts';
import { hostPorts, optionalPath, optionalText } from '../parsing/values.ts';

export const redisSentinelOptions = options('Redis', {
  redisSentinels: {
    flag: '--redis-sentinels',
    env: 'REDIS_SENTINELS',
    default: '',
    apps: ALL,
    description:
      'Sentinels that monitor the master, instead of a URL. Default port: 26379. Requires --redis-sentinel-master.',
    ...hostPorts(26_379),
  },
  redisSentinelMaster: {
    flag: '--redis-sentinel-master',
    env: 'REDIS_SENTINEL_MASTER',
    default: '',
    apps: ALL,
    description: 'Name by which the Sentinels know the master.',
    ...optionalText('the name of a master'),
  },
  redisSentinelUsername: {
    flag: '--redis-sentinel-username',
    env: 'REDIS_SENTINEL_USERNAME',
    default: '',
    apps: ALL,
    description: 'ACL user for the Sentinels.',
    ...optionalText('the name of a user'),
  },
  redisSentinelPassword: {
    flag: '--redis-sentinel-password',
    env: 'REDIS_SENTINEL_PASSWORD',
    default: '',
    apps: ALL,
    description:
      'Password for the Sentinels; --redis-password is not used for them. Use the environment variable or a file.',
    sensitive: true,
    ...optionalText('a password'),
  },
  redisSentinelPasswordFile: {
    flag: '--redis-sentinel-password-file',
    env: 'REDIS_SENTINEL_PASSWORD_FILE',
    default: '',
    apps: ALL,
    description: 'File with the password for the Sentinels, read like --redis-password-file.',
    ...optionalPath('the path of a file'),
  },
});
