import { beforeAll, describe, expect, it } from 'vitest';
import type { Change } from '@reroll/shared/api/changes';
import type { Explanation, Preview } from '@reroll/shared/api/explain';
import type { Status } from '@reroll/shared/api/status';
import { AdminApi } from '../support/admin/admin-api.ts';
import { auto, deployment, replicas, secret, usingEnvFrom } from '../support/objects/builders.ts';
import {
  caller,
  LIST_DEPLOYMENTS,
  OPERATOR_RULES,
  PATCH_DEPLOYMENTS,
  VIEWER,
  type Rule,
} from '../support/admin/callers.ts';
import { sharedCluster } from '../support/cluster.ts';
import { connect, namespace, type Space } from '../support/kube.ts';
import { startReroll, type Reroll } from '../support/reroll.ts';
import { adminService, ownAddress, RerollCli } from '../support/admin/reroll-cli.ts';
import { inStep } from '../support/objects/rollouts.ts';
import { ISSUER, tokenOf } from '../support/admin/service-account-tokens.ts';
import { eventually } from '../support/wait.ts';

/** What somebody needs to come through the API server's proxy. */
const THROUGH: readonly Rule[] = [
  { apiGroups: [''], resources: ['services'], verbs: ['list'] },
  { apiGroups: [''], resources: ['services/proxy'], verbs: ['get', 'create', 'update'] },
];

let space: Space;
let elsewhere: Space;
let reroll: Reroll;
let port: string;
/** The API, by the rights of the operator. */
let api: AdminApi;
/** In the namespace `space`, by their rights. */
let cli: RerollCli;
let operator: RerollCli;
let namespaced: RerollCli;

const cluster = sharedCluster();

function flagsOf(): readonly string[] {
  return ['-n', space.name, '--admin-namespace', reroll.install];
}

beforeAll(async () => {
  const client = connect(cluster);
  [space, elsewhere] = [await namespace(client), await namespace(client)];
  for (const each of [space, elsewhere]) {
    await each.apply(
      secret('db', { password: '1' }),
      deployment('web', auto(), replicas(1), usingEnvFrom('Secret/db')),
    );
  }
  await space.apply(deployment('plain', usingEnvFrom('Secret/db')));
  const address = ownAddress();
  // Where it says how it is set, as the chart has it.
  const home = await namespace(client, 'reroll');
  reroll = await startReroll({
    cluster,
    install: home.name,
    env: { RELOADER_NAMESPACE: home.name },
    namespaces: [space, elsewhere],
    admins: 1,
    adminFlags: ['--auth=kubernetes', `--api-addr=${address}:0`],
  });
  const [admin] = reroll.admins;
  if (!admin) throw new Error('expected an admin');
  port = new URL(await admin.apiUrl()).port;
  await adminService(home, { address, port: Number(port) });
  for (const each of [space, elsewhere]) await inStep(each, 'Deployment/web', ['Secret/db']);
  const cluster_ = [...THROUGH, LIST_DEPLOYMENTS, PATCH_DEPLOYMENTS];
  const somebody = async (name: string, rights: Parameters<typeof caller>[2]): Promise<RerollCli> => {
    const env = { REROLL_TOKEN: await caller(space, name, rights) };
    return new RerollCli(cluster, flagsOf(), { token: await tokenOf(space, name, ISSUER), env });
  };
  operator = await somebody('operator', { cluster: [...OPERATOR_RULES, ...cluster_] });
  namespaced = await somebody('namespaced', {
    cluster: [...VIEWER, ...THROUGH],
    namespaced: [LIST_DEPLOYMENTS],
  });
  api = new AdminApi(admin, await tokenOf(space, 'operator'));
  // As the guide has it: a person who may create tokens of a service account.
  cli = new RerollCli(cluster, flagsOf(), { env: { REROLL_SERVICE_ACCOUNT: `${space.name}/operator` } });
});

let counter = 1;

/** Gives the Secret other data, and waits until the workload was rolled for it. */
async function change(): Promise<void> {
  counter += 1;
  await space.setData('Secret/db', { password: `password ${counter}` });
  await inStep(space, 'Deployment/web', ['Secret/db']);
}

/** The ids of the last changes of the Secret, newest first. */
async function lastChanges(limit: number): Promise<string[]> {
  const query = { source: `Secret/${space.name}/db`, limit };
  return (await api.call('listChanges', { query })).items.map(({ id }) => id);
}

/** The id of a new change, once it is rolled out. */
async function changed(): Promise<string> {
  await change();
  return await eventually(
    async () => {
      const { items } = await api.call('listChanges', { query: { source: `Secret/${space.name}/db` } });
      return items[0]?.states.rolledOut === 1 ? items[0].id : undefined;
    },
    { what: 'the change to be rolled out' },
  );
}

describe('through the API server’s proxy', () => {
  it('a change is told in detail, and is why the workload restarted', async () => {
    const id = await changed();
    expect(await cli.out('change', id)).toMatch(/^deployment\/web +rolledOut +/m);
    expect(await operator.out('why', 'deploy/web')).toMatch(
      new RegExp(
        `^Reroll rolled deployment/web \\d+s ago, because secret/db was updated, change ${id} \\(\\w+\\); it is rolledOut\\.$`,
        'm',
      ),
    );
  });

  it('reloads and waits until it is rolled out, with who and why in the history', async () => {
    const words = ['reload', 'deploy/web', '--reason', 'asked by\u001b a spec', '--wait'];
    const { code, out, err } = await operator.run(...words);
    expect([code, err]).toEqual([
      0,
      expect.stringMatching(/^deployment\.apps\/web rolledOut \(.*\) after \d+s\n$/m),
    ]);
    const [, id = ''] = /^deployment\.apps\/web reload requested \(change (\S+)\)\n$/.exec(out) ?? [];
    const { request } = await operator.json<Change>('change', id);
    expect(request).toEqual({
      actor: `system:serviceaccount:${space.name}:operator`,
      reason: 'asked by\u001b a spec',
    });
    expect(await operator.out('why', 'deploy/web')).toContain(
      `because system:serviceaccount:${space.name}:operator asked for it`,
    );
  });

  it('tells by its exit code that there will be no rollout', async () => {
    const none = await operator.run('reload', 'deploy/plain', '--reason', 'r', '--wait');
    expect([none.code, none.err]).toEqual([4, expect.stringContaining('NotAnnotated')]);
  });
});

describe('changes --watch', () => {
  it('goes on where it was after the admin was away, and ends at Ctrl-C', async () => {
    const before = await changed();
    const watch = operator.start('changes', '--watch', '-o', 'json', '--limit', '1', '--source', 'secret/db');
    await eventually(() => watch.logs().includes(before), { what: 'the past to be printed' });
    const seen = await changed();
    await eventually(() => watch.logs().includes(seen), { what: 'the change to be printed' });
    await reroll.admins[0]?.kill();
    await eventually(() => watch.logs().includes('Lost the admin'), { what: 'the loss to be told' });
    await change();
    api = new AdminApi(
      reroll.start('admin', [`--api-addr=${ownAddress()}:${port}`]),
      await tokenOf(space, 'operator'),
    );
    await eventually(() => watch.logs().includes('Connected again.'), { what: 'the watch to be back' });
    const after = await changed();
    await eventually(() => watch.logs().includes(after), { what: 'the last change to be printed' });
    await watch.kill('SIGINT');
    expect(await watch.exited).toBe(130);
    const lines = watch
      .logs()
      .split('\n')
      .filter((line) => line.startsWith('{'));
    const events = lines.map((line) => JSON.parse(line) as { event: string; data: { id?: string } });
    const printed = events.filter(({ event }) => event === 'change').map(({ data }) => data.id);
    expect(printed).toEqual((await lastChanges(4)).reverse());
    expect(printed.slice(0, 2)).toEqual([before, seen]);
  });
});

describe('who may not', () => {
  it('a reader of one namespace sees that one, and nothing of another', async () => {
    const { items } = await namespaced.json<{ items: { namespace: string }[] }>('workloads', '-A');
    expect([...new Set(items.map((each) => each.namespace))]).toEqual([space.name]);
    const err = expect.stringMatching(/^error: there is no such thing/) as string;
    const hidden = await namespaced.run('why', `Deployment/${elsewhere.name}/web`);
    expect(hidden).toEqual({ code: 1, out: '', err });
    const refused = await namespaced.run('reload', 'deploy/web', '--reason', 'r');
    expect([refused.code, refused.err]).toEqual([1, expect.stringMatching(/^error: the caller may not do/)]);
  });

  it('somebody without rights in the cluster is told which one is missing', async () => {
    const none = new RerollCli(cluster, ['-n', space.name], { token: null });
    const missing = /^error: you may not list services in the namespace reroll\n.*--admin-namespace/;
    expect(await none.run('status')).toEqual({ code: 1, out: '', err: expect.stringMatching(missing) });
  });

  it('somebody without a token for the admin is told how to get one, and a service account can be asked as', async () => {
    const none = new RerollCli(cluster, flagsOf());
    expect(await none.run('status')).toEqual({
      code: 1,
      out: '',
      err: expect.stringMatching(/^error: no valid bearer token.*\n.*--service-account NAME/),
    });
    const asked = await none.run('status', '--send-kubeconfig-token');
    expect([asked.code, asked.err]).toEqual([
      1,
      expect.stringContaining('expected a token for the audience reroll'),
    ]);
    const name = `system:serviceaccount:${space.name}:operator`;
    expect((await none.json<Status>('status', '--as', name)).caller).toMatchObject({ name, maySteer: true });
  });
});

describe('without an admin', () => {
  const READ: readonly Rule[] = [
    { apiGroups: ['apps'], resources: ['deployments', 'statefulsets', 'daemonsets'], verbs: ['get', 'list'] },
    { apiGroups: [''], resources: ['configmaps'], verbs: ['get', 'list'] },
  ];

  it('why-not and preview judge as the admin does, and say by which settings', async () => {
    const words = ['why-not', 'deploy/plain', '--source', 'secret/db'];
    const asked = await cli.json<Explanation>(...words);
    const read = await cli.json<Explanation & { settings: string }>(...words, '--direct');
    const judged = ({ reloads, reason, rules, conclusion }: Explanation) => [
      [reloads, reason],
      rules,
      conclusion,
    ];
    expect(judged(read)).toEqual(judged(asked));
    expect([read.facts, read.settings]).toEqual([
      'cluster',
      `the ConfigMap ${reroll.install}/reloader-meta-info`,
    ]);
    const preview = ['preview', 'deploy/plain', '--annotate', 'reloader.stakater.com/auto=true'];
    const { settings, ...direct } = await cli.json<Preview & { settings: string }>(...preview, '--direct');
    expect(direct).toEqual(await cli.json<Preview>(...preview));
    expect(direct.verdicts.map(({ reloads }) => reloads)).toEqual([true]);
    expect(settings).toContain('reloader-meta-info');
  });

  it('works where there is none, with the rights of who asks, and says what those did not show', async () => {
    await caller(space, 'developer', { namespaced: READ });
    const token = await tokenOf(space, 'developer', ISSUER);
    const developer = new RerollCli(cluster, ['-n', space.name, '--admin-namespace', space.name], { token });
    const flags = ['--', '--auto-reload-all'];
    const told = await developer.run(
      'why-not',
      'deploy/plain',
      '--source',
      'secret/db',
      '--direct',
      ...flags,
    );
    expect([told.code, told.out.split('\n')[0]]).toEqual([0, expect.stringContaining('reloads when Secret')]);
    expect(told.out).toMatch(/^Settings: +the flags given: --auto-reload-all$/m);
    const preview = await developer.run('preview', 'secret/db', '--direct');
    expect(preview).toMatchObject({ code: 0, err: expect.stringContaining('You may not list CronJob, Job') });
    const nowhere = new RerollCli(cluster, ['-n', space.name, '--admin-namespace', 'kube-system']);
    const why = await nowhere.run('why', 'deploy/web');
    expect([why.code, why.err]).toEqual([0, 'Found no admin: reading the cluster with your own rights.\n']);
    expect(why.out).toMatch(/^secret\/db +yes +AutoReload +/m);
  });
});
