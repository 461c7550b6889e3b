/** Which options of Redis go together. A rule does not apply if one of its options could not be read. */
import type { StandaloneOptions } from '../parsing/table.ts';

type Options = Partial<StandaloneOptions>;
type Rule = (options: Options) => string | undefined;

const LOCATIONS = {
  '--redis-url': 'redisUrl',
  '--redis-host': 'redisHost',
  '--redis-sentinels': 'redisSentinels',
  '--redis-cluster': 'redisCluster',
} as const;

const TLS_DETAILS = {
  '--redis-tls-ca-file': 'redisTlsCaFile',
  '--redis-tls-cert-file': 'redisTlsCertFile',
  '--redis-tls-key-file': 'redisTlsKeyFile',
  '--redis-tls-server-name': 'redisTlsServerName',
  '--redis-tls-insecure-skip-verify': 'redisTlsInsecureSkipVerify',
} as const;

const SENTINEL_DETAILS = {
  '--redis-sentinel-master': 'redisSentinelMaster',
  '--redis-sentinel-username': 'redisSentinelUsername',
  '--redis-sentinel-password': 'redisSentinelPassword',
  '--redis-sentinel-password-file': 'redisSentinelPasswordFile',
} as const;

const CREDENTIALS = {
  '--redis-username': 'redisUsername',
  '--redis-password': 'redisPassword',
  '--redis-password-file': 'redisPasswordFile',
} as const;

function isGiven(value: Options[keyof Options]): boolean {
  return Array.isArray(value) ? value.length > 0 : value !== undefined && value !== false;
}

/** The given flags, as part of a sentence. */
function given(options: Options, flags: Readonly<Record<string, keyof Options>>): string {
  const found = Object.entries(flags).filter(([, name]) => isGiven(options[name]));
  return found.map(([flag]) => flag).join(', ');
}

function urlOf({ redisUrl }: Options): URL | undefined {
  return redisUrl === undefined ? undefined : new URL(redisUrl);
}

const oneLocation: Rule = (options) => {
  const found = given(options, LOCATIONS);
  return found.includes(',')
    ? `--redis-url: expected one of ${Object.keys(LOCATIONS).join(', ')}; given ${found}`
    : undefined;
};

const portHasAHost: Rule = ({ redisHost, redisPort }) =>
  redisPort !== undefined && redisHost === undefined
    ? `--redis-port: expected a --redis-host beside it; given ${redisPort} without one`
    : undefined;

const credentialsOnce: Rule = (options) => {
  const url = urlOf(options);
  const found = given(options, CREDENTIALS);
  return url && (url.username !== '' || url.password !== '') && found !== ''
    ? `--redis-url: expected credentials in it or beside it; given both (${found})`
    : undefined;
};

/** A user with a password or password file, for Redis or the Sentinels. */
interface Login {
  /** The prefix of its flags. */
  readonly flags: string;
  readonly username: 'redisUsername' | 'redisSentinelUsername';
  readonly password: 'redisPassword' | 'redisSentinelPassword';
  readonly file: 'redisPasswordFile' | 'redisSentinelPasswordFile';
}

const REDIS_LOGIN: Login = {
  flags: '--redis',
  username: 'redisUsername',
  password: 'redisPassword',
  file: 'redisPasswordFile',
};

const SENTINEL_LOGIN: Login = {
  flags: '--redis-sentinel',
  username: 'redisSentinelUsername',
  password: 'redisSentinelPassword',
  file: 'redisSentinelPasswordFile',
};

function onePassword({ flags, password, file }: Login): Rule {
  return (options) =>
    options[password] !== undefined && options[file] !== undefined
      ? `${flags}-password-file: expected it or ${flags}-password; given both`
      : undefined;
}

function userHasAPassword({ flags, username, password, file }: Login): Rule {
  return (options) =>
    options[username] !== undefined && (options[password] ?? options[file]) === undefined
      ? `${flags}-username: expected a ${flags}-password or ${flags}-password-file beside it; given none`
      : undefined;
}

const databaseOnce: Rule = (options) =>
  options.redisDb !== undefined && (urlOf(options)?.pathname.length ?? 0) > 1
    ? `--redis-db: expected a database in --redis-url or here; given both (${options.redisDb} here)`
    : undefined;

const clusterHasOneDatabase: Rule = ({ redisCluster, redisDb = 0 }) =>
  isGiven(redisCluster) && redisDb !== 0
    ? `--redis-db: expected 0, the only one of a Redis Cluster; given ${redisDb}`
    : undefined;

const tlsInTheUrl: Rule = (options) =>
  options.redisTls === true && urlOf(options)?.protocol === 'redis:'
    ? '--redis-tls: expected a --redis-url that begins with rediss://; given one with redis://'
    : undefined;

const detailsNeedTls: Rule = (options) => {
  const found = given(options, TLS_DETAILS);
  return found !== '' && options.redisTls === false && urlOf(options)?.protocol !== 'rediss:'
    ? `--redis-tls: expected TLS (or a --redis-url with rediss://), because of ${found}; given none`
    : undefined;
};

const certificateHasAKey: Rule = ({ redisTlsCertFile: cert, redisTlsKeyFile: key }) => {
  if ((cert === undefined) === (key === undefined)) return undefined;
  const found = key === undefined ? '--redis-tls-cert-file' : '--redis-tls-key-file';
  return `--redis-tls-cert-file: expected it with --redis-tls-key-file; given only ${found}`;
};

const trustsOrSkips: Rule = (options) =>
  options.redisTlsInsecureSkipVerify === true && options.redisTlsCaFile !== undefined
    ? '--redis-tls-insecure-skip-verify: expected it or --redis-tls-ca-file; given both'
    : undefined;

const sentinelsHaveAMaster: Rule = ({ redisSentinels, redisSentinelMaster }) =>
  isGiven(redisSentinels) && redisSentinelMaster === undefined
    ? '--redis-sentinel-master: expected the name under which the Sentinels know the master; given none'
    : undefined;

const detailsNeedSentinels: Rule = (options) => {
  const found = given(options, SENTINEL_DETAILS);
  return found !== '' && options.redisSentinels?.length === 0
    ? `--redis-sentinels: expected addresses, because of ${found}; given none`
    : undefined;
};

/** A standalone process that is given no Redis starts one by itself, which only it can reach. */
const ownRedisHasNoLogin: Rule = (options) => {
  const found = given(options, {
    ...CREDENTIALS,
    ...TLS_DETAILS,
    '--redis-tls': 'redisTls',
    '--redis-db': 'redisDb',
  });
  return options.redisMaxMemory !== undefined && found !== '' && !isRedisGiven(options)
    ? `--redis-url: expected one of ${Object.keys(LOCATIONS).join(', ')}, because of ${found}; given none`
    : undefined;
};

/** Whether the options say where Redis is. */
export function isRedisGiven(options: Options): boolean {
  return given(options, LOCATIONS) !== '';
}

export const REDIS_RULES: readonly Rule[] = [
  oneLocation,
  ownRedisHasNoLogin,
  portHasAHost,
  credentialsOnce,
  onePassword(REDIS_LOGIN),
  userHasAPassword(REDIS_LOGIN),
  databaseOnce,
  clusterHasOneDatabase,
  tlsInTheUrl,
  detailsNeedTls,
  certificateHasAKey,
  trustsOrSkips,
  sentinelsHaveAMaster,
  detailsNeedSentinels,
  onePassword(SENTINEL_LOGIN),
  userHasAPassword(SENTINEL_LOGIN),
];
