import { expect, it } from 'vitest';
import type { Explanation, Preview } from '@reroll/shared/api/explain';
import { metaInfo } from '@reroll/shared/platform/process/meta-info';
import { parseOptions } from '@reroll/shared/platform/options/parsing/parse';
import { apiServer, items, kubeError } from '../testing/stub-cluster.ts';
import type { StubAnswer } from '../testing/stub-admin.ts';

type Answers = Readonly<Record<string, StubAnswer>>;
type Annotations = Readonly<Record<string, string>>;

/** How an installation with these flags describes itself. */
function described(flags: readonly string[]): Answers {
  const parsed = parseOptions('watcher', flags, {});
  if (!parsed.ok) throw new Error(parsed.errors.join());
  const metadata = { name: 'reloader-meta-info', namespace: 'reroll' };
  return { 'GET /api/v1/configmaps': items({ metadata, data: metaInfo(parsed.options, 'v24.0.0') }) };
}

const AUTO = { 'reloader.stakater.com/auto': 'true' };
const csi = { driver: 'secrets-store.csi.k8s.io', volumeAttributes: { secretProviderClass: 'vault' } };
const container = {
  name: 'app',
  volumeMounts: [{ name: 'v' }],
  envFrom: [{ secretRef: { name: 'db' } }],
};
const template = { spec: { containers: [container], volumes: [{ name: 'v', csi }] } };

function object(name: string, more: object = {}): StubAnswer & { readonly body: object } {
  return { body: { metadata: { name, namespace: 'shop', uid: 'u', resourceVersion: '2', ...more } } };
}

function workload(annotations: Annotations, status: object = {}): object {
  return { ...object('web', { annotations }).body, spec: { template }, status };
}

const list = (...all: readonly object[]): StubAnswer => ({
  body: { metadata: { resourceVersion: '9' }, items: all },
});

const APPS = '/apis/apps/v1/namespaces/shop';
const BATCH = '/apis/batch/v1/namespaces/shop';
const ROLLOUTS = '/apis/argoproj.io/v1alpha1/namespaces/shop/rollouts';

function world(annotations: Annotations): Answers {
  const web = workload(annotations);
  const finished = { conditions: [{ type: 'Complete', status: 'True' }] };
  return {
    'GET /api/v1/namespaces/shop': object('shop', { labels: { team: 'a' } }),
    'GET /api/v1/namespaces/reroll': object('reroll'),
    [`GET ${APPS}/deployments/web`]: { body: web },
    [`GET ${APPS}/deployments`]: list(web),
    [`GET ${ROLLOUTS}/web`]: { body: web },
    [`GET ${ROLLOUTS}`]: list(web),
    [`GET ${BATCH}/jobs/web`]: { body: workload(annotations, finished) },
    'GET /api/v1/namespaces/shop/secrets/db': object('db', { labels: { team: 'b' } }),
    'GET /api/v1/namespaces/shop/secrets': list(object('db', { labels: { team: 'b' } }).body),
    'GET /apis/secrets-store.csi.x-k8s.io/v1/namespaces/shop/secretproviderclasses/vault': object('vault'),
  };
}

type Answer = Explanation & Preview & { readonly settings: string };

async function direct(answers: Answers, ...words: readonly string[]): Promise<Answer> {
  const { run } = await apiServer(answers);
  const { out, err, code } = await run(...words);
  expect([code, err]).toEqual([0, '']);
  return JSON.parse(out) as Answer;
}

const WHY_NOT = ['--source', 'secret/db', '--direct', '-o', 'json'];

it.each<[flag: string, reason: string, annotations: Annotations, workload?: string]>([
  ['--auto-annotation=', 'NotAnnotated', AUTO],
  ['--adopt=wave', 'AdoptedAnnotation', { 'wave.pusher.com/update-on-config-change': 'true' }],
  ['--recreate-finished-jobs', 'AutoReload', AUTO, 'job/web'],
  ['--dry-run', 'WouldReload', AUTO],
  ['--resources-to-ignore=secrets', 'SourceTypeIgnored', AUTO],
  ['--resource-label-selector=team=a', 'SourceNotWatched', AUTO],
  ['--resource-label-selector=team in (a,b),!x', 'AutoReload', AUTO],
  ['--is-Argo-Rollouts=true', 'AutoReload', AUTO, 'rollout/web'],
  ['--namespaces-to-ignore=other', 'AutoReload', AUTO],
  ['--namespaces=shop', 'AutoReload', AUTO],
  ['--namespace-selector=team=a', 'AutoReload', AUTO],
])('an installation with %s gives the reason %s', async (flag, reason, annotations, asked = 'deploy/web') => {
  const answers = { ...world(annotations), ...described([flag]) };
  const byMetaInfo = await direct(answers, 'why-not', asked, ...WHY_NOT);
  const byFlags = await direct(answers, 'why-not', asked, ...WHY_NOT, '--', flag);
  expect(byMetaInfo.reason).toBe(reason);
  expect({ ...byMetaInfo, settings: '' }).toEqual({
    ...byFlags,
    settings: '',
    // Flags name no installation.
    holds: byFlags.holds.filter(({ detail }) => !detail.includes('of the installation')),
  });
});

it.each([
  ['--require-approval', 'AwaitsApproval'],
  ['--reload-window=Mon 03:00-03:01', 'OutsideWindow'],
])('an installation with %s holds reloads', async (flag, reason) => {
  const answers = { ...world(AUTO), ...described([flag]) };
  const { holds } = await direct(answers, 'why-not', 'deploy/web', ...WHY_NOT);
  expect(holds.map((hold) => hold.reason)).toEqual([reason]);
});

it.each([
  [[], 'rollout/web', 'Rollouts: --is-Argo-Rollouts is false'],
  [['--namespaces-to-ignore=x,shop'], 'deploy/web', 'the namespace shop: --namespaces-to-ignore=x,shop'],
  [['--namespaces=x'], 'deploy/web', 'the namespace shop: --namespaces=x'],
  [
    ['--namespace-selector=team=b'],
    'deploy/web',
    'the namespace shop: it does not match --namespace-selector=team=b',
  ],
])('an installation with %j does not watch %s', async (flags, asked, what) => {
  const { run } = await apiServer({ ...world(AUTO), ...described(flags) });
  for (const words of [['why'], ['why-not', '--source', 'secret/db'], ['preview', '--annotate', 'a=b']]) {
    const [command = '', ...more] = words;
    const { code, err } = await run(command, asked, '--direct', ...more);
    expect([code, err.split('\n')]).toEqual([
      1,
      [
        `error: Reroll does not watch ${what}`,
        '  settings: the ConfigMap reroll/reloader-meta-info',
        '  to assume others, give flags of Reroll after --',
        '',
      ],
    ]);
  }
});

it('a Namespace that the caller may not read is not known to be selected', async () => {
  const forbidden = { 'GET /api/v1/namespaces/shop': kubeError(403, 'Forbidden') };
  const answers = { ...world(AUTO), ...described(['--namespace-selector=team=b']), ...forbidden };
  const { reloads, settings } = (await direct(
    answers,
    'why-not',
    'deploy/web',
    ...WHY_NOT,
  )) as Explanation & {
    settings: string;
  };
  expect([reloads, settings]).toEqual([
    true,
    'the ConfigMap reroll/reloader-meta-info; you may not read the Namespace, so whether --namespace-selector selects it is not known',
  ]);
});

it('SecretProviderClasses are watched only with --enable-csi-integration', async () => {
  const words = ['why-not', 'deploy/web', '--source', 'secretproviderclass/vault', '--direct', '-o', 'json'];
  const [off, on] = [described([]), described(['--enable-csi-integration'])];
  expect((await direct({ ...world(AUTO), ...off }, ...words)).reason).toBe('SourceNotWatched');
  expect((await direct({ ...world(AUTO), ...on }, ...words)).reason).toBe('AutoReload');
});

it('previews leave out kinds and sources that are not watched', async () => {
  const previewed = async (flags: readonly string[], ...words: readonly string[]): Promise<unknown[]> => {
    const answers = { ...world(AUTO), ...described(flags) };
    const { verdicts } = await direct(answers, 'preview', ...words, '--direct', '-o', 'json');
    return verdicts.map(({ workload: { kind }, source, reason }) => [kind, source.name, reason]);
  };
  expect(await previewed([], 'secret/db')).toEqual([['Deployment', 'db', 'AutoReload']]);
  expect(await previewed(['--is-Argo-Rollouts=true'], 'secret/db')).toEqual([
    ['Deployment', 'db', 'AutoReload'],
    ['Rollout', 'db', 'AutoReload'],
  ]);
  const selected = ['--resource-label-selector=team=a', '--enable-csi-integration'];
  expect(await previewed(selected, 'secret/db')).toEqual([['Deployment', 'db', 'SourceNotWatched']]);
  expect(await previewed(selected, 'deploy/web', '--annotate', 'a=b')).toEqual([
    ['Deployment', 'vault', 'AutoReload'],
    ['Deployment', 'db', 'SourceNotWatched'],
  ]);
});
