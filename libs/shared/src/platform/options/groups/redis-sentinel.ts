/** A Redis that Sentinels watch over. */
import { ALL, option } from '../parsing/option.ts';
import { hostPorts, optionalPath, optionalText } from '../parsing/values.ts';

const group = 'Redis';

export const redisSentinelOptions = {
  redisSentinels: option({
    flag: '--redis-sentinels',
    env: 'REDIS_SENTINELS',
    default: '',
    apps: ALL,
    group,
    description:
      'Sentinels that know the master, in the place of a URL. Port 26379 if none is given. Needs --redis-sentinel-master.',
    ...hostPorts(26_379),
  }),
  redisSentinelMaster: option({
    flag: '--redis-sentinel-master',
    env: 'REDIS_SENTINEL_MASTER',
    default: '',
    apps: ALL,
    group,
    description: 'Name under which the Sentinels know the master.',
    ...optionalText('the name of a master'),
  }),
  redisSentinelUsername: option({
    flag: '--redis-sentinel-username',
    env: 'REDIS_SENTINEL_USERNAME',
    default: '',
    apps: ALL,
    group,
    description: 'ACL user at the Sentinels.',
    ...optionalText('the name of a user'),
  }),
  redisSentinelPassword: option({
    flag: '--redis-sentinel-password',
    env: 'REDIS_SENTINEL_PASSWORD',
    default: '',
    apps: ALL,
    group,
    description:
      'Password at the Sentinels; that of Redis is not used there. Give it by the variable or by a file.',
    sensitive: true,
    ...optionalText('a password'),
  }),
  redisSentinelPasswordFile: option({
    flag: '--redis-sentinel-password-file',
    env: 'REDIS_SENTINEL_PASSWORD_FILE',
    default: '',
    apps: ALL,
    group,
    description: 'File with the password at the Sentinels, as --redis-password-file.',
    ...optionalPath('the path of a file'),
  }),
} as const;
