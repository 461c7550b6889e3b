import { expect, it } from 'vitest';
import { VERSION } from '@reroll/shared/platform/process/version';
import { renderChart, type ChartValues } from './render.ts';

async function notesWith(values: ChartValues, api?: string): Promise<string> {
  const apis = api === undefined ? {} : { api };
  const result = await renderChart(values, { ...apis, namespace: 'ops', release: 'prod' });
  return result.ok ? result.notes : result.error;
}

it('say what to type next', async () => {
  const notes = await notesWith({});
  for (const command of [
    'kubectl -n ops rollout status deployment/prod-reroll-watcher deployment/prod-reroll-worker deployment/prod-reroll-admin',
    'kubectl -n ops create token prod-reroll-reader --audience=reroll',
    'REROLL_SERVICE_ACCOUNT=ops/prod-reroll-reader kubectl reroll status --admin-namespace ops',
    'helm test prod -n ops',
    'kubectl annotate deployment NAME reloader.stakater.com/auto=true',
    'kubectl get events --field-selector involvedObject.name=NAME',
  ])
    expect(notes).toContain(`\n  ${command}\n`);
});

it.each([
  ['the annotation that is in use', { custom_annotations: { auto: 'my.org/auto' } }, 'NAME my.org/auto=true'],
  ['a dry run, and how it ends', { dryRun: true }, '--set reloader.dryRun=false'],
  ['that a webhook reloads nothing', { webhookUrl: 'https://x' }, 'nothing is reloaded'],
  [
    'what is watched',
    { watchGlobally: false, namespaces: ['a'] },
    'Only these namespaces are watched: a, ops.',
  ],
  [
    'what has no effect on a scoped install',
    { watchGlobally: false, ignoreNamespaces: 'a' },
    'reloader.ignoreNamespaces has no effect',
  ],
  [
    'what has no effect at all',
    { deployment: { gomaxprocsOverride: '2' } },
    'gomemlimitOverride have no effect',
  ],
  ['that rights are to be given', { rbac: { enabled: false } }, 'give the ServiceAccounts the rights'],
])('tell %s', async (_what, reloader, text) => {
  expect(await notesWith({ reloader })).toContain(text);
  expect(await notesWith({})).not.toContain(text);
});

it('warn of what syncAfterRestart does once a dry run ends, and only then', async () => {
  const text = 'add --set reloader.syncAfterRestart=false';
  const both = { reloadOnCreate: true, syncAfterRestart: true };
  expect(await notesWith({ reloader: { ...both, dryRun: true } })).toContain(text);
  expect(await notesWith({ reloader: both })).not.toContain(text);
  for (const key of Object.keys(both))
    expect(await notesWith({ reloader: { ...both, dryRun: true, [key]: false } })).not.toContain(text);
});

it('tell where Redis keeps its file, and what that means', async () => {
  expect(await notesWith({})).toContain(
    'When the pod is deleted, the history, the audit log, runtime limits and unfinished\nmanual reloads are lost, but no change',
  );
  const onVolume = await notesWith({ redis: { persistence: { enabled: true } } });
  expect(onVolume).toContain('If pod/prod-reroll-redis-0 stays Pending');
  expect(onVolume).not.toContain('are lost');
  const elsewhere = await notesWith({ redis: { enabled: false, external: { url: 'redis://r' } } });
  expect(elsewhere).not.toContain('keeps its file');
});

it('tell what one process means, and where to look', async () => {
  const notes = await notesWith({ mode: 'standalone' });
  expect(notes).toContain('\n  kubectl -n ops rollout status deployment/prod-reroll-standalone\n');
  expect(notes).toContain('component=standalone --tail=50');
  expect(notes).toContain('When the pod ends or another one takes over');
  expect(notes).not.toContain('keeps its file');
  expect(await notesWith({})).not.toContain('standalone');
  const elsewhere = { mode: 'standalone', redis: { enabled: false, external: { url: 'redis://r' } } };
  expect(await notesWith(elsewhere)).not.toContain('are lost');
});

it.each<[string, ChartValues]>([
  ['watcher.resources', { watcher: { resources: { limits: { memory: '1Gi' } } } }],
  ['worker.resources', { worker: { resources: { requests: { cpu: null } } } }],
  ['admin.resources', { admin: { resources: { requests: { cpu: '1' } } } }],
  ['admin.podDisruptionBudget', { admin: { podDisruptionBudget: { enabled: false } } }],
  ['worker.podDisruptionBudget', { worker: { podDisruptionBudget: { minAvailable: 1 } } }],
  ['redis.persistence.storageClass', { redis: { persistence: { enabled: 'auto', storageClass: 'fast' } } }],
])('tell that one process ignores %s', async (path, values) => {
  const text = `\nNo effect in this mode: ${path}.\n`;
  expect(await notesWith({ mode: 'standalone', ...values })).toContain(text);
  for (const others of [{ mode: 'standalone' }, values])
    expect(await notesWith(others)).not.toContain('No effect in this mode');
});

it('tell that the distributed mode ignores the values of the standalone one', async () => {
  const values = {
    standalone: { resources: { limits: { memory: '1Gi' } }, podDisruptionBudget: { enabled: false } },
  };
  const text = 'No effect in this mode: standalone.resources, standalone.podDisruptionBudget.';
  expect(await notesWith(values)).toContain(text);
});

it("tell whether anything limits the workers' account", async () => {
  const text = 'No ValidatingAdmissionPolicy limits the ServiceAccount of the workers';
  expect(await notesWith({})).toContain(text);
  expect(await notesWith({ worker: { admissionPolicy: { enabled: true } } })).not.toContain(text);
});

it.each([
  ['a port of this machine', {}, 'port-forward service/prod-reroll-admin 8080:80 '],
  [
    'its Ingress',
    { ingress: { enabled: true, hosts: ['reroll.example'], tls: [{ secretName: 's' }] } },
    '\n  https://reroll.example/\n',
  ],
  [
    'its HTTPRoute',
    { httpRoute: { enabled: true, parentRefs: [{ name: 'g' }], hostnames: ['r.example'], path: '/reroll' } },
    '\n  https://r.example/reroll\n',
  ],
  ['that there is a door without a lock', { anonymous: 'read' }, 'without a token.'],
  [
    'which tokens are taken',
    { auth: 'static', staticTokens: { existingSecret: 's' } },
    'Its tokens are those of admin.staticTokens.',
  ],
])('tell how the dashboard is opened: %s', async (_what, admin, text) => {
  expect(await notesWith({ admin })).toContain(text);
  expect(await notesWith({ admin: { enabled: false } })).not.toContain(text);
});

it('tell that a scoped install has no admin, and what gives it one', async () => {
  const text = 'Set admin.rbac.clusterWide=true';
  expect(await notesWith({ reloader: { watchGlobally: false } })).toContain(text);
  for (const admin of [{ enabled: false }, { rbac: { clusterWide: true } }])
    expect(await notesWith({ reloader: { watchGlobally: false }, admin })).not.toContain(text);
});

it('show no credential', async () => {
  expect(await notesWith({ reloader: { webhookUrl: 'https://x/token' } })).not.toContain('/token');
});

it.each<[string, ChartValues, boolean]>([
  ['that the default image cannot be pulled, and how to load or push one', {}, true],
  ['nothing of it with an image elsewhere', { image: { repository: 'r.example/reroll' } }, false],
  ['nothing of it with a mirror', { global: { imageRegistry: 'r.example' } }, false],
])('tell %s', async (_what, values, isTold) => {
  const notes = await notesWith(values);
  for (const text of [
    'No image is published',
    `\n  kind load docker-image ghcr.io/reroll/reroll:${VERSION}\n`,
    `\n  minikube image load ghcr.io/reroll/reroll:${VERSION}\n`,
    `\n  k3d image import ghcr.io/reroll/reroll:${VERSION}\n`,
    `\n  npm run images -- --image=REGISTRY/reroll:${VERSION} --push\n`,
    '\n  helm upgrade prod CHART -n ops --reset-then-reuse-values --set image.repository=REGISTRY/reroll\n',
  ])
    expect(notes.includes(text)).toBe(isTold);
});

it('tell which pods cannot pull the image', async () => {
  expect(await notesWith({})).toContain(
    '\nJob prod-reroll-make-secrets stays in ImagePullBackOff, and the other pods wait for it.\nBuild it',
  );
  const given = {
    redis: { auth: { existingSecret: 'a' } },
    reloader: { hashKey: { existingSecret: 'b' } },
  };
  expect(await notesWith(given)).toContain('\npods stay in ImagePullBackOff.\nBuild it');
});
