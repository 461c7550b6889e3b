import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { AnyOption } from '@reroll/shared/platform/options/parsing/option';
import { OPTION_LIST } from '@reroll/shared/platform/options/parsing/table';
import { at, workload, type Workload } from '../look.ts';
import { externalRedis, manifestsWith, refusalOf, type ChartValues } from '../render.ts';
import { merged } from '../testing/merged.ts';
import { CHART, chartValues, leavesOf, type Value } from './values-comments.ts';
import { listWordsOf, wordsOf } from './values-schema.ts';

const VALUES = leavesOf(chartValues());

/** Flags that the chart sets itself, or by way of a template, and values with which it does: what must then be there. */
const BY_TEMPLATE: Readonly<
  Record<string, { values: ChartValues; said: string; app?: 'admin' | 'standalone' }>
> = {
  '--namespaces': { values: { reloader: { watchGlobally: false } }, said: '--namespaces=reroll' },
  '--namespaces-to-ignore': { values: {}, said: '--namespaces-to-ignore=kube-system' },
  '--resources-to-ignore': {
    values: { reloader: { ignoreSecrets: true } },
    said: '--resources-to-ignore=secrets',
  },
  '--ignored-workload-types': {
    values: { reloader: { ignoreJobs: true } },
    said: '--ignored-workload-types=jobs',
  },
  '--hash-key-file': { values: {}, said: '--hash-key-file=/etc/reroll/hash-keys/keys' },
  '--metrics-addr': { values: { reloader: { metricsPort: 8081 } }, said: '--metrics-addr=:8081' },
  '--redis-password-file': { values: {}, said: '--redis-password-file=/etc/reroll/redis/password' },
  '--redis-sentinel-password-file': {
    values: externalRedis({
      sentinel: { hosts: ['a'], master: 'm' },
      existingSecret: 's',
      existingSecretKeys: { sentinelPassword: 'k' },
    }),
    said: '--redis-sentinel-password-file=/etc/reroll/redis/sentinel-password',
  },
  '--redis-tls-ca-file': {
    values: externalRedis({ host: 'r', tls: { enabled: true, caSecret: 's' } }),
    said: '--redis-tls-ca-file=/etc/reroll/redis/ca.crt',
  },
  '--redis-tls-cert-file': {
    values: externalRedis({ host: 'r', tls: { enabled: true, certSecret: 's' } }),
    said: '--redis-tls-cert-file=/etc/reroll/redis/tls.crt',
  },
  '--redis-tls-key-file': {
    values: externalRedis({ host: 'r', tls: { enabled: true, certSecret: 's' } }),
    said: '--redis-tls-key-file=/etc/reroll/redis/tls.key',
  },
  '--pod-name': { values: {}, said: 'POD_NAME<-fieldRef:metadata.name' },
  '--pod-ip': { values: { mode: 'standalone' }, said: 'POD_IP<-fieldRef:status.podIP', app: 'standalone' },
  '--pod-namespace': { values: {}, said: 'POD_NAMESPACE<-fieldRef:metadata.namespace' },
  '--api-addr': { values: { admin: { port: 8443 } }, said: '--api-addr=:8443', app: 'admin' },
  '--static-tokens-file': {
    values: { admin: { auth: 'static', staticTokens: { existingSecret: 's' } } },
    said: '--static-tokens-file=/etc/reroll/static-tokens/tokens.yaml',
    app: 'admin',
  },
  '--api-tls-cert-file': {
    values: { admin: { tls: { existingSecret: 's' } } },
    said: '--api-tls-cert-file=/etc/reroll/api-tls/tls.crt',
    app: 'admin',
  },
  '--api-tls-key-file': {
    values: { admin: { tls: { existingSecret: 's' } } },
    said: '--api-tls-key-file=/etc/reroll/api-tls/tls.key',
    app: 'admin',
  },
  '--reloader-namespace': { values: {}, said: 'RELOADER_NAMESPACE<-fieldRef:metadata.namespace' },
  '--reloader-deployment-name': { values: {}, said: 'RELOADER_DEPLOYMENT_NAME=reroll-watcher' },
};
/** A pod has its ServiceAccount. */
const NEVER = ['--kubeconfig'];

const rest = OPTION_LIST.map(([, option]) => option).filter(
  ({ flag }) => !NEVER.includes(flag) && BY_TEMPLATE[flag] === undefined,
);

/** A value that is not the default, as text. */
function sampleOf(option: AnyOption): string {
  const words = [...wordsOf(option), ...listWordsOf(option)].filter((word) => word !== option.default);
  const plain = option.sensitive ? SECRETS : SAMPLES;
  const samples = [...words.slice(0, 1), ...plain].filter((text) => text !== option.default);
  const given = (text: string): unknown => (option.form === 'list' ? [text] : text);
  const found = samples.find((text) => option.schema.safeParse(given(text)).success);
  if (found === undefined) throw new Error(`expected a sample for ${option.flag}`);
  return found;
}
/** In no other argument. */
const SECRETS = ['rediss://hidden:1', 'https://hidden.example/y', 'hidden'];
const SAMPLES = [
  '7/1h',
  '7%',
  'Mon 10:00-11:00',
  'true',
  '7s',
  '7',
  '7000',
  '7000000',
  'https://x.example/y',
  'rediss://r:1',
  'example.com/x',
  ':7777',
  '77mb',
  'a',
  'a:7',
  '10.0.0.0/8',
];

function nested(path: string, value: unknown): Record<string, unknown> {
  return path.split('.').reduceRight<unknown>((inner, key) => ({ [key]: inner }), value) as Record<
    string,
    unknown
  >;
}

/** What makes the values whole in which one option is set. */
function around(path: string): ChartValues {
  if (path.startsWith('redis.external.')) return externalRedis(redisAround(path));
  if (path === 'reloader.alerts.onReload') return { reloader: { alerts: { webhookUrl: 'https://x' } } };
  if (path === 'admin.auth') return { admin: { staticTokens: { existingSecret: 's' } } };
  return path === 'reloader.lease.duration' ? { reloader: { lease: { renewDeadline: '5s' } } } : {};
}

function redisAround(path: string): ChartValues {
  if (path.includes('.sentinel.')) {
    const password = path.endsWith('.username') ? { password: 'p' } : {};
    return { sentinel: { hosts: ['s'], master: 'm', ...password } };
  }
  const isPlace = /\.(url|host|cluster)$/u.test(path);
  return {
    ...(isPlace ? {} : { host: 'r' }),
    ...(path.includes('.tls.') ? { tls: { enabled: true } } : {}),
    ...(path.endsWith('.username') ? { password: 'p' } : {}),
  };
}

/** As a values file would have it. */
function typed({ initial, option }: Value, text: string): unknown {
  if (typeof initial === 'boolean') return text === 'true';
  if (option?.type === 'integer' || /^\d+$/u.test(text)) return Number(text);
  return option?.form === 'list' && Array.isArray(initial) ? [text] : text;
}

function said(component: Workload): readonly string[] {
  return [...component.args, ...component.env];
}

/** Options that are set together: all but those that would contradict each other. */
function installOf(path: string): string {
  if (path.startsWith('reloader.lease.')) return path;
  if (!path.startsWith('redis.external.')) return 'ours';
  return /\.(url|cluster|sentinel)\b/u.exec(path)?.[1] ?? 'host';
}

const SAMPLED = rest.flatMap((option) => {
  const value = VALUES.find((each) => each.option?.flag === option.flag);
  if (value === undefined) return [];
  const text = sampleOf(option);
  const given = nested(value.path, typed(value, text));
  return [{ option, text, given, around: around(value.path), install: installOf(value.path) }];
});

function valuesOf(install: string, mode: 'distributed' | 'standalone'): ChartValues {
  const those = SAMPLED.filter((each) => each.install === install);
  return [{ mode }, ...those.map((each) => each.around), ...those.map(({ given }) => given)].reduce(merged);
}

it.each([
  [[], ['--secret-types-to-ignore=']],
  [['a/b', 'c/d'], ['--secret-types-to-ignore=a/b,c/d']],
  ['', []],
  [null, []],
])('an empty list of types of Secrets is none, and nothing the default: %j', async (given, expected) => {
  const manifests = await manifestsWith({ reloader: { secretTypesToIgnore: given } });
  for (const app of ['watcher', 'worker'])
    expect(workload(manifests, app).args.filter((arg) => arg.startsWith('--secret-types-to-ignore'))).toEqual(
      expected,
    );
});

it('every option of the table has a value', () => {
  expect(SAMPLED.map(({ option }) => option.flag)).toEqual(rest.map(({ flag }) => flag));
});

describe.concurrent('every option of the table can be set by a value, and reaches who uses it:', () => {
  it.each(SAMPLED.map((sample) => [sample.option.flag, sample] as const))(
    '%s',
    async (flag, { option, text, install }) => {
      const manifests = await manifestsWith(valuesOf(install, 'distributed'));
      const inOne = workload(await manifestsWith(valuesOf(install, 'standalone')), 'standalone');
      const expected = option.sensitive
        ? `${option.env}<-secretKeyRef:reroll/${option.env}`
        : `${flag}=${text}`;
      for (const app of ['watcher', 'worker', 'admin'] as const) {
        const given = said(workload(manifests, app));
        if (option.apps.includes(app)) expect(given).toContain(expected);
        else expect(given).not.toContain(expected);
      }
      expect(said(inOne)).toContain(expected);
      if (option.sensitive) {
        expect(inOne.args.filter((arg) => arg.includes(text))).toEqual([]);
        const secret = manifests.find(
          ({ kind, metadata }) => kind === 'Secret' && metadata.name === 'reroll',
        );
        expect(at(secret, `stringData.${option.env}`)).toBe(text);
        for (const app of ['watcher', 'worker', 'admin'])
          expect(workload(manifests, app).args.filter((arg) => arg.includes(text))).toEqual([]);
      }
    },
  );

  it.each(Object.entries(BY_TEMPLATE))(
    '%s, by a template',
    async (_flag, { values, said: expected, app = 'watcher' }) => {
      expect(
        said(workload(await manifestsWith(merged({ reloader: { clusterName: 'c' } }, values)), app)),
      ).toContain(expected);
    },
  );
});

it('what the comments say a template sets is set by one', () => {
  const sets = VALUES.flatMap((value) => value.sets);
  const set = Object.keys(BY_TEMPLATE).filter((flag) => !flag.startsWith('--pod-'));
  expect(new Set(sets)).toEqual(new Set(set));
});

/** Other spellings of words, which the processes take too. */
const ALSO: Readonly<Record<string, readonly string[]>> = { 'reloader.logLevel': ['warn'] };

describe('the words of a value are those of its option:', () => {
  const schema: unknown = JSON.parse(readFileSync(join(CHART, 'values.schema.json'), 'utf8'));
  const words = VALUES.flatMap(({ path, option }) =>
    option !== undefined && wordsOf(option).length > 0 ? [[path, option] as const] : [],
  );

  it.each(words)('%s', (path, option) => {
    const found = at(schema, `properties.${path.replaceAll('.', '.properties.')}`);
    const allowed = (at(found, 'enum') ??
      (at(found, 'type') === 'boolean' ? [true, false] : [])) as unknown[];
    const own = path === 'reloader.reloadStrategy' ? ['default'] : [];
    const given = allowed.map(String).filter((word) => word !== '' && !own.includes(word));
    expect(given.sort()).toEqual([...wordsOf(option), ...(ALSO[path] ?? [])].sort());
  });
});

it('every option that has words refuses others in the schema', async () => {
  expect(await refusalOf({ reloader: { alerts: { sink: 'pigeon' } } })).toContain('/reloader/alerts/sink');
});
