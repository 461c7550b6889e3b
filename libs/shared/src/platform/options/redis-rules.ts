/** Which options of Redis go together. A rule is silent while one of its options could not be read. */
import type { WatcherOptions, WorkerOptions } from './table.ts';

type Options = Partial<WatcherOptions & WorkerOptions>;
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

/** Those of the flags that are given, as a sentence has them. */
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

const onePassword: Rule = (options) =>
  options.redisPassword !== undefined && options.redisPasswordFile !== undefined
    ? '--redis-password-file: expected it or --redis-password; given both'
    : undefined;

const userHasAPassword: Rule = (options) =>
  options.redisUsername !== undefined && (options.redisPassword ?? options.redisPasswordFile) === undefined
    ? '--redis-username: expected a --redis-password or --redis-password-file beside it; given none'
    : undefined;

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

const oneSentinelPassword: Rule = (options) =>
  options.redisSentinelPassword !== undefined && options.redisSentinelPasswordFile !== undefined
    ? '--redis-sentinel-password-file: expected it or --redis-sentinel-password; given both'
    : undefined;

const sentinelUserHasAPassword: Rule = (options) =>
  options.redisSentinelUsername !== undefined &&
  (options.redisSentinelPassword ?? options.redisSentinelPasswordFile) === undefined
    ? '--redis-sentinel-username: expected a --redis-sentinel-password or --redis-sentinel-password-file beside it; given none'
    : undefined;

export const REDIS_RULES: readonly Rule[] = [
  oneLocation,
  portHasAHost,
  credentialsOnce,
  onePassword,
  userHasAPassword,
  databaseOnce,
  clusterHasOneDatabase,
  tlsInTheUrl,
  detailsNeedTls,
  certificateHasAKey,
  trustsOrSkips,
  sentinelsHaveAMaster,
  detailsNeedSentinels,
  oneSentinelPassword,
  sentinelUserHasAPassword,
];
