import { expect, it } from 'vitest';
import { ensureSchemas } from '../schemas/ensure-schemas.ts';
import { SchemaSet } from '../schemas/schema-set.ts';
import { at, find, installed, workload } from '../look.ts';
import { manifestsWith, refusalOf, type ChartValues } from '../render.ts';

const external = (values: ChartValues): ChartValues => ({ enabled: false, external: values });
const keda = { worker: { keda: { enabled: true } } };
const secret = (value: string): ChartValues => ({
  existingSecret: value,
  existingSecretKeys: { username: value, password: value, sentinelPassword: value },
});

/** Values that YAML would take for something else, wherever a name goes. */
const everywhere = (value: string): readonly (readonly [string, ChartValues])[] => [
  [
    'the default install and pods',
    {
      nameOverride: value,
      // Cut, as any that is too long for a label.
      fullnameOverride: `o${'w'.repeat(62)}`,
      namespace: value,
      global: { imagePullSecrets: [value] },
      redis: {
        auth: { existingSecret: value, existingSecretKey: value },
        persistence: { enabled: true, storageClass: value },
      },
      reloader: {
        clusterName: value,
        hashKey: { existingSecret: value, existingSecretKey: value },
        lease: { name: value },
        matchLabels: { team: value },
        serviceAccount: { name: value, labels: { a: value }, annotations: { a: value } },
        rbac: { labels: { a: value } },
        serviceMonitor: { enabled: true, namespace: value, labels: { a: value }, bearerTokenFile: value },
        podDisruptionBudget: { enabled: true },
        service: { labels: { a: value }, annotations: { a: value } },
        watchGlobally: false,
        namespaces: [value],
        deployment: {
          priorityClassName: value,
          runtimeClassName: value,
          schedulerName: value,
          annotations: { a: value },
          labels: { a: value },
          nodeSelector: { a: value },
          pod: { annotations: { a: value } },
          env: {
            open: { [value]: value },
            secret: { A: value },
            existing: { [value]: { B: value } },
          },
        },
      },
      prometheusRule: { enabled: true, namespace: value, labels: { a: value }, alertLabels: { a: value } },
      grafanaDashboard: { enabled: true, namespace: value, labels: { a: value } },
      networkPolicy: { enabled: true },
    },
  ],
  [
    'Sentinels and KEDA',
    {
      ...keda,
      reloader: { clusterName: value, podMonitor: { enabled: true, namespace: value } },
      redis: external({
        ...secret(value),
        sentinel: { hosts: ['s:26379'], master: value, username: value },
        tls: {
          enabled: true,
          caSecret: value,
          caKey: value,
          certSecret: value,
          certKey: value,
          keyKey: value,
        },
      }),
    },
  ],
  [
    'a Redis with another name in its certificate',
    { redis: external({ host: 'h', tls: { enabled: true, serverName: value } }) },
  ],
  [
    'a Redis of yours and KEDA',
    {
      ...keda,
      reloader: { clusterName: value },
      redis: external({ host: 'h', username: value, password: value }),
    },
  ],
];

/** What is not quoted is no text with any of them, so one of them is enough for each install. */
const cases = [
  ...everywhere('123').map(([what, values]) => ['123', what, values] as const),
  ...['1e3', 'true', 'null'].flatMap((text) =>
    everywhere(text)
      .slice(0, 1)
      .map(([what, values]) => [text, what, values] as const),
  ),
];

it.concurrent.each(cases)('%s is text everywhere in %s', async (text, _what, values) => {
  const { newest, crds } = await ensureSchemas({ log: console.log });
  const set = new SchemaSet(newest, crds);
  const objects = await manifestsWith(values, { release: 'r-reroll', namespace: text });
  expect(objects.length).toBeGreaterThan(10);
  expect(objects.flatMap((object) => set.problemsOf(object))).toEqual([]);
  for (const { metadata } of installed(objects))
    expect(Object.values({ ...metadata.labels, ...metadata.annotations })).toSatisfy(isTextOnly);
});

function isTextOnly(values: readonly unknown[]): boolean {
  return values.every((value) => typeof value === 'string');
}

it.each(['123', '1e3', '0x1f'])('a release may be named %s', async (release) => {
  const manifests = await manifestsWith({ fullnameOverride: 'own' }, { release });
  const { object } = workload(manifests, 'redis', 'own');
  expect(at(object, 'spec.selector.matchLabels')).toMatchObject({ 'app.kubernetes.io/instance': release });
  expect(find(manifests, 'Service', 'own-redis').metadata.labels).toMatchObject({
    'app.kubernetes.io/instance': release,
  });
});

it.each([
  ['reloader.matchLabels.a', { reloader: { matchLabels: { a: 1 } } }],
  [
    'reloader.deployment.pod.annotations.a',
    { reloader: { deployment: { pod: { annotations: { a: true } } } } },
  ],
  ['redis.nodeSelector.a', { redis: { nodeSelector: { a: 1 } } }],
] as const)('%s is refused as a number or boolean', async (path, values) => {
  const said = (await refusalOf(values)).replaceAll("'", '').replaceAll('/', '.');
  expect(said).toContain(path.split('.').slice(0, -1).join('.'));
  expect(said).toMatch(/string/u);
});
