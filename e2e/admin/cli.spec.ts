import { beforeAll, describe, expect, it } from 'vitest';
import type { Change } from '@reroll/shared/api/changes';
import type { Explanation } from '@reroll/shared/api/explain';
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
  await adminService(home, { address, port: Number(new URL(await admin.apiUrl()).port) });
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

/** The id of a new change of the Secret, once it is rolled out. */
async function changed(): Promise<string> {
  counter += 1;
  await space.setData('Secret/db', { password: `password ${counter}` });
  await inStep(space, 'Deployment/web', ['Secret/db']);
  return await eventually(
    async () => {
      const { items } = await api.call('listChanges', { query: { source: `Secret/${space.name}/db` } });
      return items.length >= counter - 1 && items[0]?.states.rolledOut === 1 ? items[0].id : undefined;
    },
    { what: 'the change to be rolled out' },
  );
}

describe('through the API server’s proxy', () => {
  it('changes are printed as they come until Ctrl-C, and one is why the workload restarted', async () => {
    const before = await changed();
    const watch = operator.start('changes', '--watch', '-o', 'json', '--limit', '1', '--source', 'secret/db');
    await eventually(() => watch.logs().includes(before), { what: 'the past to be printed' });
    const id = await changed();
    await eventually(() => watch.logs().includes(id), { what: 'the change to be printed' });
    await watch.kill('SIGINT');
    expect(await watch.exited).toBe(130);
    expect(await operator.out('why', 'deploy/web')).toMatch(
      new RegExp(
        `^Reroll reloaded deployment/web \\d+s ago, because secret/db was updated \\(change ${id}, \\w+\\)\\. Its pods were replaced\\.$`,
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
    expect((await cli.json<Change>('change', id)).request).toEqual({
      actor: `system:serviceaccount:${space.name}:operator`,
      reason: 'asked by\u001b a spec',
    });
    const none = await operator.run('reload', 'deploy/plain', '--reason', 'r', '--wait');
    expect([none.code, none.err]).toEqual([4, expect.stringContaining('NotAnnotated')]);
  });

  it('reloads in bulk what its plan names', async () => {
    const words = ['bulk', 'reload', '--source', 'secret/db', '--reason', 'in bulk'];
    const rows = (result: string): RegExp =>
      new RegExp(
        `^Deployment/${space.name}/plain +${result} .*\n^Deployment/${space.name}/web +${result} `,
        'm',
      );
    const shown = await operator.run(...words);
    expect(shown).toMatchObject({ code: 0, out: expect.stringMatching(rows('planned')) });
    const [, plan = ''] = /with --plan ([0-9a-f]{32})\n$/.exec(shown.err) ?? [];
    const done = await operator.run(...words, '--plan', plan);
    expect(done).toEqual({ code: 0, out: expect.stringMatching(rows('done')), err: '' });
    await eventually(async () => {
      const { items } = await api.call('listChanges', { query: { cause: 'manual', limit: 2 } });
      return (
        items.every(({ request }) => request?.reason === 'in bulk') &&
        items.some(({ states }) => states.rolledOut === 1)
      );
    });
    const other = await operator.run(...words, '--plan', '0'.repeat(32));
    expect([other.code, other.err]).toEqual([
      1,
      expect.stringContaining('something else matches now than in the plan'),
    ]);
    const refused = { code: 1, out: '', err: expect.stringMatching(/^error: the caller may not/) };
    expect(await namespaced.run(...words)).toEqual(refused);
  });
});

describe('who may not', () => {
  it('a reader of one namespace sees that one, and nothing of another', async () => {
    const { items } = await namespaced.json<{ items: { namespace: string }[] }>('workloads', '-A');
    expect([...new Set(items.map((each) => each.namespace))]).toEqual([space.name]);
    const hidden = await namespaced.run('why', `Deployment/${elsewhere.name}/web`);
    const err = expect.stringContaining(
      `error: deployment/web in the namespace ${elsewhere.name}: not found, or the caller may not see it`,
    ) as string;
    expect(hidden).toEqual({ code: 1, out: '', err });
    const refused = await namespaced.run('reload', 'deploy/web', '--reason', 'r');
    expect([refused.code, refused.err]).toEqual([1, expect.stringMatching(/^error: the caller may not do/)]);
  });

  it('somebody without a token for the admin is told so, and a service account can be asked as', async () => {
    const none = new RerollCli(cluster, flagsOf());
    const asked = await none.run('status', '--send-kubeconfig-token');
    const refused = 'expected a token for the audience reroll';
    expect([asked.code, asked.err]).toEqual([1, expect.stringContaining(refused)]);
    const name = `system:serviceaccount:${space.name}:operator`;
    expect((await none.json<Status>('status', '--as', name)).caller).toMatchObject({ name, maySteer: true });
  });
});

describe('without an admin', () => {
  const READ: readonly Rule[] = [
    { apiGroups: ['apps'], resources: ['deployments', 'statefulsets', 'daemonsets'], verbs: ['get', 'list'] },
    { apiGroups: [''], resources: ['configmaps'], verbs: ['get', 'list'] },
  ];

  it('why-not judges as the admin does, and says by which settings', async () => {
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
  });

  it('why tells each source, with the recorded hash if asked', async () => {
    const words = ['why', 'deploy/web', '--direct'];
    const line = String.raw`─ secret/db +AutoReload: [^\n(]+`;
    const recorded = String.raw` \(recorded \S{12,}\)`;
    expect(await cli.out(...words)).toMatch(new RegExp(`${line}$`, 'm'));
    expect(await cli.out(...words, '-o', 'wide')).toMatch(new RegExp(`${line}${recorded}$`, 'm'));
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
  });
});
