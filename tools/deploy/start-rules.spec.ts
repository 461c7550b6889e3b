import { describe, expect, it } from 'vitest';
import { REDIS_RULES } from '@reroll/shared/platform/options/groups/redis-rules';
import { externalRedis, refusalOf, type ChartValues } from './render.ts';

const url = 'redis://r';
const keys = (existingSecretKeys: ChartValues): ChartValues => ({ existingSecret: 's', existingSecretKeys });

const USERS = Object.fromEntries(
  ['watcher', 'worker', 'admin'].map((name) => [name, { username: name, existingSecret: name }]),
);

/** What a process would refuse when it starts, as values of `redis.external`, and what helm says first. */
const OF_REDIS: readonly (readonly [string, ChartValues, string])[] = [
  ['no URL', { url: 'h:6379' }, 'redis.external.url cannot be read: give a URL such as redis://'],
  ['a URL twice', { url, ...keys({ url: 'u' }) }, 'redis.external has a url and a Secret with one'],
  ['two places', { url, host: 'h' }, 'redis.external has url and host: leave one of them.'],
  ['a port beside a URL', { url, port: 1 }, 'redis.external.port is that of redis.external.host'],
  [
    'credentials in a URL and beside it',
    { url: 'redis://:x@r', password: 'p' },
    'redis.external.url has credentials, and there are others beside it',
  ],
  [
    'credentials in a URL and users beside it',
    { url: 'redis://:x@r', users: USERS },
    'redis.external.url has credentials, and there are others beside it',
  ],
  ['a database twice', { url: 'redis://r/1', database: 0 }, 'redis.external.url has a database, and'],
  [
    'a user twice',
    { host: 'h', username: 'u', ...keys({ username: 'u', password: 'p' }) },
    'a Secret with one',
  ],
  ['a user without a password', { host: 'h', username: 'u' }, 'has a username and no password'],
  [
    'a password twice',
    { host: 'h', password: 'p', ...keys({ password: 'p' }) },
    'redis.external has a password and a Secret with one: leave one of them.',
  ],
  ['TLS and a URL without', { url, tls: { enabled: true } }, 'begin it with rediss://.'],
  ['a CA and a URL without TLS', { url, tls: { caSecret: 'c' } }, 'begin it with rediss://.'],
  [
    'a CA without TLS',
    { host: 'h', tls: { caSecret: 'c' } },
    'redis.external.tls.enabled is false, and the rest of redis.external.tls says otherwise: set it to true.',
  ],
  [
    'trust for a CA and for everybody',
    { host: 'h', tls: { enabled: true, caSecret: 'c', insecureSkipVerify: true } },
    'redis.external.tls.insecureSkipVerify trusts everybody: take it or redis.external.tls.caSecret out.',
  ],
  [
    'a database of a Redis Cluster',
    { cluster: ['c'], database: 1 },
    'redis.external.database is of no use to a Redis Cluster, which has only 0: take it out.',
  ],
  [
    'Sentinels without a master',
    { sentinel: { hosts: ['s'] } },
    'redis.external.sentinel.master is empty: give the name under which the Sentinels know the master.',
  ],
  ['a master without Sentinels', { host: 'h', sentinel: { master: 'm' } }, 'sentinel.hosts is empty'],
  [
    "the Sentinels' password twice",
    { sentinel: { hosts: ['s'], master: 'm', password: 'p' }, ...keys({ sentinelPassword: 'p' }) },
    'redis.external.sentinel has a password and a Secret with one',
  ],
  [
    "the Sentinels' user without a password",
    { sentinel: { hosts: ['s'], master: 'm', username: 'u' } },
    'redis.external.sentinel has a username and no password',
  ],
];

const OTHERS: readonly (readonly [string, ChartValues, string])[] = [
  [
    'profiles nowhere',
    { reloader: { enablePProf: true, pprofAddr: '' } },
    'pprofAddr is "", which has no port',
  ],
  [
    'profiles without a port',
    { reloader: { enablePProf: true, pprofAddr: 'localhost' } },
    'give an address such as :6060.',
  ],
  [
    'no label selector',
    { reloader: { resourceLabelSelector: 'a in (' } },
    'give a label selector such as env=prod',
  ],
  ['no selector of namespaces', { reloader: { namespaceSelector: 'a notin b)' } }, 'give a label selector'],
  [
    'waves that are none',
    { reloader: { waves: 'x' } },
    'reloader.waves is "x": give at most 10 numbers or percentages such as 1,10%,100%, or none.',
  ],
  [
    'no window',
    { reloader: { reloadWindow: 'foo' } },
    'reloader.reloadWindow is "foo": give windows such as "Mon-Fri 22:00-04:00 Europe/Berlin", separated by ";", or always.',
  ],
  [
    'a limit without a period',
    { reloader: { workloadReloadLimit: '10' } },
    'reloader.workloadReloadLimit is "10": give a limit such as 10/10m (1 to 50 reloads in 1s to 24h), or none.',
  ],
  [
    'no key of an annotation',
    { reloader: { custom_annotations: { auto: 'a b' } } },
    'reloader.custom_annotations.auto is "a b": give the key of an annotation such as example.com/reload',
  ],
  [
    'proxies of which one is no network',
    { admin: { trustedProxies: ['10.0.0.0/8', 'proxy'] } },
    'admin.trustedProxies holds "proxy": give networks such as 10.0.0.0/8 or fd00::/8, or single addresses.',
  ],
  [
    'no URL of a webhook',
    { reloader: { webhookUrl: 'x' } },
    'reloader.webhookUrl cannot be read: give a URL such as https://host/path (http or https; special characters of a user or password percent-encoded).',
  ],
  [
    'a host of Redis with a port',
    externalRedis({ host: 'redis:6379' }),
    'redis.external.host is "redis:6379": give a host name or an IP address, without a port.',
  ],
  ['a name with a space', { nameOverride: 'a b:c' }, "at '/nameOverride'"],
  ['a name with capitals', { nameOverride: 'My_Name' }, "at '/nameOverride'"],
  ['a name with a dot', { fullnameOverride: 'my.name' }, "at '/fullnameOverride'"],
  ['a name that begins with a digit', { fullnameOverride: '1abc' }, "at '/fullnameOverride'"],
  ['a namespace that is none', { namespace: 'A: B' }, "at '/namespace'"],
  ['a volume without a size', { redis: { persistence: { size: '' } } }, "at '/redis/persistence/size'"],
  ['no runbook', { prometheusRule: { runbookUrl: '' } }, "at '/prometheusRule/runbookUrl'"],
];

describe.concurrent('helm refuses what would not start:', () => {
  it.each(OF_REDIS)('%s', async (_what, external, sentence) => {
    expect(await refusalOf(externalRedis(external))).toContain(sentence);
  });

  it.each(OTHERS)('%s', async (_what, values, sentence) => {
    expect(await refusalOf(values)).toContain(sentence);
  });

  it.each(['1abc', 'my.name', '123'])('a release %s without another name', async (release) => {
    expect(await refusalOf({}, { release })).toContain('set fullnameOverride.');
  });
});

it('a further rule of the programs about Redis needs a row above', () => {
  // All but two have theirs: a certificate and its key have one value, so that none can be without the other; and what is said of a
  // Redis of yours is left out if a standalone process starts its own.
  expect(REDIS_RULES.length).toBe(16);
});

it.each(['team in (a,b),!legacy', 'a notin ( b )', 'a=b,c!=d,e', 'a:*'])(
  'the label selector %s is rendered',
  async (selector) => {
    const values = { reloader: { namespaceSelector: selector, resourceLabelSelector: selector } };
    expect(await refusalOf(values)).toBe('nothing: it was rendered');
  },
);
