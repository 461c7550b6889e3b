import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import { ensureProgram } from '../../tools/cluster/src/build/build-program.ts';
import type { Cluster } from '../../tools/cluster/src/cluster.ts';
import { manifestsWith } from '../../tools/deploy/render.ts';
import { adminService, ownAddress } from '../support/admin/reroll-cli.ts';
import { cleanUp } from '../support/cleanup.ts';
import { sharedCluster } from '../support/cluster.ts';
import { Space, connect, namespace } from '../support/kube.ts';
import {
  annotated,
  auto,
  configMap,
  deployment,
  replicas,
  secret,
  usingEnvFrom,
} from '../support/objects/builders.ts';
import { RolloutCount, inStep, settled } from '../support/objects/rollouts.ts';
import { startReroll, type Reroll } from '../support/reroll.ts';
import { eventually } from '../support/wait.ts';
import { Commands, Shell, commandsOf } from './support/commands.ts';

/**
 * Somebody reads the guide and types its commands, page by page: each block that begins with `sh runnable`. Each test goes
 * on where the one before has ended. The namespace `shop` is that of the context, and `reroll` that of the installation.
 */
const ROOT = join(import.meta.dirname, '../..');
const PAGES = {
  readme: 'README.md',
  api: 'docs/guide/api.md',
  cli: 'docs/guide/cli.md',
  use: 'docs/guide/use.md',
  safely: 'docs/guide/change-safely.md',
  troubleshooting: 'docs/guide/troubleshooting.md',
} as const;
const RBAC = '/apis/rbac.authorization.k8s.io/v1';
const LABEL = `reroll-e2e/${randomBytes(4).toString('hex')}`;
const WEB = 'Deployment/web';
const SOURCES = ['ConfigMap/settings', 'Secret/db'];

let reroll: Reroll;
let shop: Space;
let shell: Shell;
let pages: Readonly<Record<keyof typeof PAGES, Commands>>;

beforeAll(async () => {
  const cluster = sharedCluster();
  const client = connect(cluster);
  const home = await namespace(client, 'reroll');
  shop = await namespace(client, 'shop');
  await shop.patchNamespace({ labels: { [LABEL]: 'yes' } });
  await shop.apply(
    configMap('settings', { greeting: 'Good day' }),
    secret('db', { PASSWORD: 'first' }),
    deployment('web', replicas(1), usingEnvFrom('settings'), usingEnvFrom('Secret/db')),
  );
  const address = ownAddress();
  reroll = await startReroll({
    cluster,
    install: home.name,
    namespaces: 'all',
    flags: [`--namespace-selector=${LABEL}=yes`],
    admins: 1,
    adminFlags: ['--auth=kubernetes', `--api-addr=${address}:0`],
  });
  const [admin] = reroll.admins;
  await adminService(home, { address, port: Number(new URL((await admin?.apiUrl()) ?? '').port) });
  await grantable(home);
  const kubectl = await ensureProgram('kubectl', { log: console.log });
  const env = { REROLL_ADMIN_NAMESPACE: home.name };
  shell = new Shell({ kubeconfig: kubeconfigFor(cluster, shop), kubectl }, env);
  pages = Object.fromEntries(
    Object.entries(PAGES).map(([name, page]) => [name, new Commands(page, translated(page, home), shell)]),
  ) as typeof pages;
}, 1_800_000);

/** The commands of a page, in which the two namespaces have the names that they have here. */
function translated(page: string, home: Space): readonly string[] {
  return commandsOf(readFileSync(join(ROOT, page), 'utf8'), 'sh runnable').map((command) =>
    command
      .replaceAll(/(?<=-n |serviceaccount=|namespace=|"namespace": "|[A-Z]\w+\/)shop\b/gu, shop.name)
      .replaceAll(/(?<=-n |serviceaccount=|SERVICE_ACCOUNT=)reroll\b/gu, home.name),
  );
}

/** The chart's role for operators, and an end for the bindings that the guide makes. */
async function grantable({ client }: Space): Promise<void> {
  const chart = await manifestsWith();
  const operator = chart.find(
    ({ kind, metadata }) => `${kind}/${metadata.name}` === 'ClusterRole/reroll-operator',
  );
  await client.post(`${RBAC}/clusterroles`, operator);
  for (const path of [
    'clusterroles/reroll-operator',
    'clusterrolebindings/me-reroll',
    'clusterrolebindings/me-edit',
    'clusterrolebindings/ann-reroll',
  ])
    cleanUp(() => client.request({ method: 'DELETE', path: `${RBAC}/${path}` }).catch(() => undefined));
}

function kubeconfigFor(cluster: Cluster, { name }: Space): string {
  const folder = mkdtempSync(join(tmpdir(), 'reroll-e2e-guide-'));
  cleanUp(() => rmSync(folder, { recursive: true, force: true }));
  const config = parse(readFileSync(cluster.kubeconfig, 'utf8')) as { contexts: { context: object }[] };
  const contexts = config.contexts.map((each) => ({
    ...each,
    context: { ...each.context, namespace: name },
  }));
  const file = join(folder, 'kubeconfig');
  writeFileSync(file, stringify({ ...config, contexts }));
  return file;
}

let counter = 1;

async function changeSecret(): Promise<void> {
  counter += 1;
  await shop.setData('Secret/db', { PASSWORD: `password ${counter}` });
}

/** Does this, waits until `web` has all data and all is quiet, and resolves with how often it was reloaded. */
async function reloadsOf(act: () => Promise<unknown>): Promise<number> {
  const rollouts = await RolloutCount.from(shop, WEB);
  await act();
  await inStep(shop, WEB, SOURCES);
  await settled(reroll, shop);
  return await rollouts.now();
}

async function isHeld(reason: string): Promise<void> {
  await eventually(async () => (await reroll.outcomes(shop, WEB)).at(-1)?.reason === reason, {
    what: `${WEB} to be held as ${reason}`,
  });
}

it('every page with such a block is read here', () => {
  const files = execFileSync('git', ['grep', '-l', '^```sh runnable$', '--', '*.md'], {
    cwd: ROOT,
    encoding: 'utf8',
  });
  expect(files.trimEnd().split('\n').sort()).toEqual(Object.values(PAGES).sort());
});

it('command line: a ServiceAccount that may use the admin', async () => {
  const { cli } = pages;
  await cli.run('create serviceaccount me');
  await cli.run('me-reroll');
  await cli.run('me-edit');
  await cli.run('export');
  expect(await cli.run('reroll status')).toContain('watcher');
  expect(cli.left).toEqual([]);
});

it('README and use: once annotated, a change of the ConfigMap is one reload', async () => {
  const { readme, use } = pages;
  await readme.run('kubectl annotate');
  await inStep(shop, WEB, SOURCES);
  await use.run('kubectl annotate');
  const reloads = await reloadsOf(async () => {
    await use.run('patch configmap');
    expect(await use.run('reroll wait')).toMatch(/converged \(uses: [1-9]/u);
  });
  expect(reloads).toBe(1);
});

it('README and use: why it was reloaded, and what a change of the Secret would do', async () => {
  const { readme, use } = pages;
  await readme.run('export');
  const because = /^Reroll reloaded deployment\/web .* because configmap\/settings was updated/mu;
  for (const page of [readme, use]) {
    expect(await page.run('reroll why ')).toMatch(because);
    expect(await page.run('reroll why-not')).toContain('AutoReload');
  }
  expect(await readme.run('reroll preview')).toContain('1 workload would reload');
  expect(await readme.run('reroll stale')).toBe('');
  expect([readme.left, use.left]).toEqual([[], []]);
});

it('API: with a token of its own, a ServiceAccount reads, previews and reloads', async () => {
  const { api } = pages;
  await api.run('create serviceaccount ann');
  await api.run('ann-reroll');
  await api.run('ann-edit');
  api.standIn('export API');
  shell.env['API'] = `${await reroll.admins[0]?.apiUrl()}/api/v1`;
  await api.run('export AUTH');
  const status = api.standIn('/status');
  // An authorizer of the API server may not have the new bindings yet.
  await eventually(async () => (await shell.run(status)).includes('"leader"'), { what: 'the status' });
  expect(await api.run('/changes')).toContain('"name":"settings"');
  expect(JSON.parse(await api.run('/explain'))).toMatchObject({ reloads: true, reason: 'AutoReload' });
  const verdict = { workload: { name: 'web' }, reloads: true };
  expect(JSON.parse(await api.run('/preview'))).toMatchObject({ verdicts: [verdict] });
  expect(JSON.parse(await api.run('/bulk/reload'))).toMatchObject({ items: [{ result: 'planned' }] });
  const rollouts = await RolloutCount.from(shop, WEB);
  expect(JSON.parse(await api.run('/web/reload'))).toMatchObject({ id: expect.any(String) as string });
  await eventually(async () => (await rollouts.now()) === 1, { what: 'a rollout' });
  await settled(reroll, shop);
  expect(await rollouts.now()).toBe(1);
  expect(api.left).toEqual([]);
});

it('change safely: a freeze of the namespace, and one of the workload, which a manual reload can override', async () => {
  const { safely, troubleshooting } = pages;
  await safely.run('freeze -n');
  const thawed = await reloadsOf(async () => {
    await changeSecret();
    expect((await shop.event(WEB, 'Frozen')).message).toContain('year-end');
    await isHeld('Frozen');
    expect(await troubleshooting.run('changes --state held')).toContain('secret/db');
    await safely.run('unfreeze -n');
  });
  expect(thawed).toBe(1);
  await safely.run('freeze deploy/web');
  const overridden = await reloadsOf(async () => {
    await changeSecret();
    await isHeld('Frozen');
    await safely.run('reload deploy/web --now --reason');
    await mayOverride();
    await safely.run('--override-freeze');
  });
  expect(overridden).toBe(1);
  await safely.run('unfreeze deploy/web');
});

/** By the Role of the page. */
async function mayOverride(): Promise<void> {
  const page = readFileSync(join(ROOT, PAGES.safely), 'utf8');
  const role =
    /^```yaml\n([^]*?override-freezes[^]*?)^```/mu.exec(page)?.[1]?.replace('shop', shop.name) ?? '';
  writeFileSync(join(shell.root, 'role.yaml'), role);
  await shell.run('kubectl apply -f role.yaml');
  const binding = 'kubectl create rolebinding override-freezes --role=override-freezes';
  await shell.run(`${binding} --serviceaccount=${reroll.install}:me`);
}

it('change safely: what is pending waits until it is approved', async () => {
  const { safely } = pages;
  await safely.run('reroll.dev/approval=required');
  const reloads = await reloadsOf(async () => {
    await changeSecret();
    await shop.event(WEB, 'AwaitsApproval');
    await isHeld('AwaitsApproval');
    await safely.run('reroll approve');
  });
  expect(reloads).toBe(1);
  await shop.patch(WEB, { metadata: { annotations: { 'reroll.dev/approval': null } } });
});

it('change safely: with waves, the second workload waits for the first', async () => {
  const { safely } = pages;
  const ahead = 'Deployment/ahead';
  const first = annotated({ 'reroll.dev/wave': '0' });
  await shop.apply(deployment('ahead', auto(), first, replicas(1), usingEnvFrom('Secret/db')));
  await inStep(shop, ahead, ['Secret/db']);
  await shell.run(safely.standIn('reroll.dev/waves').replace('bake=2m', 'bake=2s'));
  const reloads = await reloadsOf(async () => {
    await changeSecret();
    await inStep(shop, ahead, ['Secret/db']);
    await shop.event(WEB, 'AwaitsWave');
  });
  expect(reloads).toBe(1);
  expect(safely.left).toEqual([]);
});

it('troubleshooting: what its commands say of a workload that is well', async () => {
  const { troubleshooting } = pages;
  expect(await troubleshooting.run(`why-not deploy/web -n ${shop.name}`)).toContain('AutoReload');
  expect(await troubleshooting.run('reroll why ')).toContain('AutoReload');
  expect(await troubleshooting.run('reroll why ')).toContain('secret/db was updated');
  expect(await troubleshooting.run('changes -n')).toContain('secret/db');
  await troubleshooting.run('reason=ReloadFail');
  expect(await troubleshooting.run('jobs --state failed')).toBe('');
  await troubleshooting.run('reason=Contested');
  expect(await troubleshooting.run('get deploy web -o yaml')).toContain('STAKATER_DB_SECRET');
  expect(await troubleshooting.run('workloads --rollout stuck')).toBe('');
  expect(await troubleshooting.run('rollout status')).toContain('successfully rolled out');
  expect(await troubleshooting.run('describe pods')).toMatch(/^Status: +Running$/mu);
  expect(await troubleshooting.run('reroll stale')).toBe('');
  expect(troubleshooting.left).toEqual([]);
});
