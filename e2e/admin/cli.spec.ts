import { execFileSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import type { Change, ChangeSummary } from '@reroll/shared/api/changes';
import type { Explanation, Preview } from '@reroll/shared/api/explain';
import type { Status } from '@reroll/shared/api/status';
import { auto, deployment, replicas, secret, usingEnvFrom } from '../support/objects/builders.ts';
import {
  caller,
  LIST_DEPLOYMENTS,
  OPERATOR_RULES,
  PATCH_DEPLOYMENTS,
  VIEWER,
  type Rule,
} from '../support/admin/callers.ts';
import { cleanUp } from '../support/cleanup.ts';
import { sharedCluster } from '../support/cluster.ts';
import { connect, namespace, type Space } from '../support/kube.ts';
import { startReroll, type Reroll } from '../support/reroll.ts';
import { adminService, CLI, ownAddress, RerollCli } from '../support/admin/reroll-cli.ts';
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
/** In the namespace `space`, by their rights. */
let cli: RerollCli;
let operator: RerollCli;
let namespaced: RerollCli;
let nobody: RerollCli;

const cluster = sharedCluster();

function flagsOf(): readonly string[] {
  return ['-n', space.name, '--admin-namespace', reroll.install];
}

beforeAll(async () => {
  const client = connect(cluster);
  space = await namespace(client);
  elsewhere = await namespace(client);
  for (const each of [space, elsewhere]) {
    await each.apply(
      secret('db', { password: '1' }),
      deployment('web', auto(), replicas(1), usingEnvFrom('Secret/db')),
    );
  }
  await space.apply(deployment('plain', usingEnvFrom('Secret/db')));
  await space.apply(
    deployment('never', auto(), replicas(1), usingEnvFrom('Secret/other'), ({ spec }) => {
      spec.template.spec.nodeSelector = { e2e: 'nowhere' };
    }),
  );
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
  port = new URL((await reroll.admins[0]?.apiUrl()) ?? '').port;
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
  nobody = await somebody('nobody', { cluster: THROUGH });
  // As the guide has it: a person who may create tokens of a service account.
  const env = { REROLL_SERVICE_ACCOUNT: `${space.name}/operator` };
  cli = new RerollCli(cluster, flagsOf(), { env });
});

let counter = 1;

/** Gives the Secret other data, and waits until the workload was rolled for it; the change's id. */
async function changed(): Promise<string> {
  counter += 1;
  await space.setData('Secret/db', { password: `password ${counter}` });
  await inStep(space, 'Deployment/web', ['Secret/db']);
  return await eventually(
    async () => {
      const { items } = await cli.json<{ items: ChangeSummary[] }>('changes', '--source', 'secret/db');
      const [latest] = items;
      return latest?.states.rolledOut === 1 ? latest.id : undefined;
    },
    { what: 'the change to be rolled out' },
  );
}

describe('through the API server’s proxy', () => {
  it('finds the admin by its labels, and shows who leads and who works', async () => {
    const { out, err, code } = await cli.run('status');
    expect([code, err]).toEqual([0, '']);
    expect(out).toMatch(/^Leader: +watcher-1$/m);
    expect(out).toMatch(
      /^You are: +system:serviceaccount:\S+:operator, all namespaces, to read and reload and steer$/m,
    );
    // Processes say every ten seconds how they are.
    await eventually(async () => /^watcher-1 +watcher +leader +yes/m.test(await operator.out('status')), {
      what: 'the watcher to be shown as the leader',
    });
    const status = await operator.json<Status>('status');
    expect(status.caller).toMatchObject({
      name: `system:serviceaccount:${space.name}:operator`,
      maySteer: true,
    });
    expect(parse(await operator.out('status', '-o', 'yaml'))).toMatchObject({ caller: status.caller });
  });

  it('is sent nothing where nobody said that it is: the Service is named, and why reads the cluster', async () => {
    const untold = new RerollCli(cluster, ['-n', space.name]);
    expect(await untold.run('status')).toEqual({
      code: 1,
      out: '',
      err: expect.stringMatching(
        new RegExp(
          `^error: found no admin of Reroll in the namespace reroll, but one elsewhere: .*${reroll.install}/reroll-admin`,
        ),
      ),
    });
    expect(await untold.run('why', 'deploy/web')).toMatchObject({
      code: 0,
      err: expect.stringMatching(/^Found no admin .*: reading the cluster with your own rights\.\n$/),
    });
  });

  it('a change is listed, told in detail, and is why the workload restarted', async () => {
    const id = await changed();
    expect(await operator.out('changes', '-o', 'name', '--limit', '1', '--source', 'secret/db')).toBe(
      `${id}\n`,
    );
    expect(await operator.out('changes')).toMatch(
      new RegExp(`^${id} +\\S+ +secret/db +updated +.*1 rolledOut`, 'm'),
    );
    expect(parse(await operator.out('changes', '-o', 'yaml'))).toMatchObject({
      items: expect.arrayContaining([expect.objectContaining({ id })]),
    });
    const change = await operator.json<Change>('change', id);
    expect(change).toMatchObject({
      id,
      cause: 'updated',
      source: { kind: 'Secret', namespace: space.name, name: 'db' },
    });
    expect(await operator.out('change', id)).toMatch(/^deployment\/web +rolledOut +/m);
    expect(await operator.out('why', 'deploy/web')).toMatch(
      new RegExp(
        `^Reroll rolled deployment/web \\d+s ago, because secret/db was updated, change ${id} \\(\\w+\\); it is rolledOut\\.$`,
        'm',
      ),
    );
  });

  it('workloads and sources are listed, and each is told from its side', async () => {
    expect(await operator.out('workloads', '-o', 'name', '--name', 'web')).toBe('deployment.apps/web\n');
    expect(await operator.out('workloads', '-A', '--name', 'web')).toMatch(
      new RegExp(`^${elsewhere.name} +deployment/web`, 'm'),
    );
    expect(await operator.out('workloads', 'deploy', 'web')).toMatch(/^secret\/db +used +yes/m);
    expect(await operator.out('sources', '-o', 'name', '--kind', 'secrets', '--name', 'db')).toBe(
      'secret/db\n',
    );
    expect(await operator.out('sources', 'secret/db')).toMatch(/^deployment\/web +used +yes/m);
  });

  it('why-not and preview answer as the API does', async () => {
    const yes = await operator.json<Explanation>('why-not', 'deployment.apps/web', '--source', 'Secret/db');
    const no = await operator.json<Explanation>('why-not', 'deploy/plain', '--source', 'secret/db');
    expect([yes.reloads, no.reloads, no.reason, no.facts]).toEqual([true, false, 'NotAnnotated', 'catalog']);
    const text = await operator.out('why-not', 'deploy/plain', '--source', 'secret/db');
    expect(text.split('\n')[0]).toBe(no.conclusion);
    expect(text).toMatch(/^\* +NotAsked +skip +NotAnnotated/m);
    const today = await operator.json<Preview>('preview', 'secret/db');
    expect(today.verdicts.filter(({ reloads }) => reloads).map(({ workload }) => workload.name)).toEqual([
      'web',
    ]);
    const then = await operator.json<Preview>(
      'preview',
      'deploy/plain',
      '--annotate',
      'reloader.stakater.com/auto=true',
    );
    expect(then.verdicts.map(({ reloads, workload }) => [workload.name, reloads])).toEqual([['plain', true]]);
    expect(
      await operator.out('preview', 'secret', 'db', '--annotate', 'reloader.stakater.com/ignore=true'),
    ).toContain('0 workloads would reload');
  });

  it('reloads and waits until it is rolled out, with who and why in the history', async () => {
    const { code, out, err } = await operator.run(
      'reload',
      'deploy/web',
      '--reason',
      'asked by\u001b a spec',
      '--wait',
    );
    expect([code, err]).toEqual([
      0,
      expect.stringMatching(/^deployment\.apps\/web rolledOut \(.*\) after \d+s\n$/m),
    ]);
    const [, id = ''] = /^deployment\.apps\/web reload requested \(change (\S+)\)\n$/.exec(out) ?? [];
    const change = await operator.json<Change>('change', id);
    expect(change.request).toEqual({
      actor: `system:serviceaccount:${space.name}:operator`,
      reason: 'asked by\u001b a spec',
    });
    expect(await operator.out('change', id)).toContain(String.raw`asked by\u001b a spec`);
    expect(await operator.out('why', 'deploy/web')).toContain(
      `because system:serviceaccount:${space.name}:operator asked for it`,
    );
    expect(await operator.out('audit', '--since', '5m')).toMatch(
      / reloadWorkload +Deployment\/\S+\/web +done /m,
    );
  });

  it('tells by its exit code that a rollout takes too long, and that there will be none', async () => {
    const late = await operator.run('reload', 'deploy/never', '--reason', 'r', '--wait', '--timeout', '2s');
    expect([late.code, late.err]).toEqual([3, expect.stringContaining('Not rolled out within 2s.')]);
    const none = await operator.run('reload', 'deploy/plain', '--reason', 'r', '--wait');
    expect([none.code, none.err]).toEqual([4, expect.stringContaining('NotAnnotated')]);
  });

  it('pauses, resumes and limits, each with its entry in the audit log', async () => {
    expect(await operator.out('pause', 'notifications', '--reason', 'r')).toBe(
      'queue/notifications paused\n',
    );
    expect(await operator.out('queues')).toMatch(/^notifications +yes/m);
    expect(await operator.out('resume', 'notifications', '--reason', 'r')).toBe(
      'queue/notifications resumed\n',
    );
    expect(await operator.json('limits', '--reloads-per-minute', '5000', '--reason', 'r')).toEqual({
      concurrency: null,
      reloadsPerMinute: 5_000,
    });
    expect(await operator.json('limits', '--reloads-per-minute', 'default', '--reason', 'r')).toEqual({
      concurrency: null,
      reloadsPerMinute: null,
    });
    const { items } = await operator.json<{ items: { action: string }[] }>('audit', '--limit', '4');
    expect(items.map(({ action }) => action)).toEqual([
      'setLimits',
      'setLimits',
      'resumeQueue',
      'pauseQueue',
    ]);
    expect(await operator.run('retry', 'reloads:999999999', '--reason', 'r')).toMatchObject({
      code: 1,
      out: '',
    });
    expect(await operator.json<{ items: unknown[] }>('jobs')).toEqual({ items: expect.any(Array) });
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
    counter += 1;
    await space.setData('Secret/db', { password: `password ${counter}` });
    await inStep(space, 'Deployment/web', ['Secret/db']);
    reroll.start('admin', [`--api-addr=${ownAddress()}:${port}`]);
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
    const { items } = await operator.json<{ items: ChangeSummary[] }>(
      'changes',
      '--source',
      'secret/db',
      '--limit',
      '4',
    );
    expect(printed).toEqual(items.map(({ id }) => id).reverse());
    expect(printed.slice(0, 2)).toEqual([before, seen]);
  });
});

describe('who may not', () => {
  it('a reader of one namespace sees that one, and nothing of another', async () => {
    const { items } = await namespaced.json<{ items: { namespace: string }[] }>('workloads', '-A');
    expect([...new Set(items.map((each) => each.namespace))]).toEqual([space.name]);
    const hidden = await namespaced.run('why', `Deployment/${elsewhere.name}/web`);
    const missing = await namespaced.run('why', `Deployment/${elsewhere.name}/nothing`);
    expect(hidden).toEqual({
      ...missing,
      code: 1,
      out: '',
      err: expect.stringMatching(/^error: there is no such thing/),
    });
    const refused = await namespaced.run('reload', 'deploy/web', '--reason', 'r');
    expect(refused).toEqual({
      code: 1,
      out: '',
      err: expect.stringMatching(/^error: the caller may not do this/),
    });
  });

  it('somebody without rights at the admin is told so, and so is somebody without rights in the cluster', async () => {
    expect(await nobody.run('status')).toEqual({
      code: 1,
      out: '',
      err: expect.stringMatching(/^error: the caller may not do this/),
    });
    const none = new RerollCli(cluster, ['-n', space.name], { token: null });
    expect(await none.run('status')).toEqual({
      code: 1,
      out: '',
      err: expect.stringMatching(
        /^error: you may not list services in the namespace reroll\n.*--admin-namespace/,
      ),
    });
  });

  it('somebody without a token for the admin is told how to get one, and a service account can be asked as', async () => {
    const none = new RerollCli(cluster, flagsOf());
    expect(await none.run('status')).toEqual({
      code: 1,
      out: '',
      err: expect.stringMatching(/^error: no valid bearer token.*\n.*--service-account NAME/),
    });
    expect(await none.run('status', '--send-kubeconfig-token')).toEqual({
      code: 1,
      out: '',
      err: expect.stringContaining('expected a token for the audience reroll'),
    });
    for (const flags of [
      ['--service-account', 'operator'],
      ['--as', `system:serviceaccount:${space.name}:operator`],
    ]) {
      const { caller: who } = await none.json<Status>('status', ...flags);
      expect(who.name).toBe(`system:serviceaccount:${space.name}:operator`);
    }
    expect(await none.run('status', '--as', 'somebody')).toMatchObject({
      code: 1,
      err: expect.stringContaining('error: '),
    });
  });

  it.each([
    [['why', 'deploy/nothing'], 1, 'error: there is no such thing, or the caller may not see it'],
    [['change', '1-1'], 1, 'error: there is no such thing, or the caller may not see it'],
    [['why', 'pod/web'], 2, 'error: expected a workload (deploy, sts, ds, cj, job, ro, dc), given "pod"'],
    [
      ['status', '--context', 'nowhere'],
      2,
      'error: the kubeconfig has no such entry for --context: given "nowhere", it has reroll',
    ],
    [
      ['status', '--admin-namespace', 'kube-system'],
      1,
      'error: found no admin of Reroll in the namespace kube-system',
    ],
  ])('%j is told what is wrong', async (words, code, message) => {
    const told = await operator.run(...words);
    expect([told.code, told.out]).toEqual([code, '']);
    expect(told.err).toContain(message);
  });
});

describe('without an admin', () => {
  const READ: readonly Rule[] = [
    { apiGroups: ['apps'], resources: ['deployments', 'statefulsets', 'daemonsets'], verbs: ['get', 'list'] },
    { apiGroups: [''], resources: ['configmaps'], verbs: ['get', 'list'] },
  ];

  it('why-not and preview judge as the admin does, and say by which settings', async () => {
    for (const name of ['web', 'plain']) {
      const words = ['why-not', `deploy/${name}`, '--source', 'secret/db'];
      const asked = await cli.json<Explanation>(...words);
      const read = await cli.json<Explanation & { settings: string }>(...words, '--direct');
      const judged = ({ reloads, reason, rules, conclusion }: Explanation) => ({
        reloads,
        reason,
        rules,
        conclusion,
      });
      expect(judged(read)).toEqual(judged(asked));
      expect([read.facts, read.settings]).toEqual([
        'cluster',
        `the ConfigMap ${reroll.install}/reloader-meta-info`,
      ]);
    }
    for (const words of [
      ['preview', 'secret/db'],
      ['preview', 'deploy/plain', '--annotate', 'reloader.stakater.com/auto=true'],
    ]) {
      const { settings, ...read } = await cli.json<Preview & { settings: string }>(...words, '--direct');
      expect(read).toEqual(await cli.json<Preview>(...words));
      expect(settings).toContain('reloader-meta-info');
    }
  });

  it('takes the flags of Reroll instead, and refuses what is none', async () => {
    const words = ['why-not', 'deploy/plain', '--source', 'secret/db', '--direct'];
    const out = await cli.out(...words, '--', '--auto-reload-all');
    expect(out).toMatch(/^Reloads: +yes \(AutoReloadAll\)$/m);
    expect(out).toMatch(/^Settings: +the flags given: --auto-reload-all$/m);
    expect(await cli.run(...words, '--', '--no-such-flag')).toMatchObject({
      code: 2,
      err: expect.stringContaining('--no-such-flag'),
    });
  });

  it('works where there is none, with the rights of who asks, and says what those did not show', async () => {
    await caller(space, 'developer', { namespaced: READ });
    const token = await tokenOf(space, 'developer', ISSUER);
    const developer = new RerollCli(cluster, ['-n', space.name, '--admin-namespace', space.name], { token });
    expect(await developer.run('why', 'deploy/web')).toMatchObject({
      code: 1,
      err: expect.stringContaining('you may not list services'),
    });
    const told = await developer.run('why-not', 'deploy/web', '--source', 'secret/db', '--direct');
    expect([told.code, told.out.split('\n')[0]]).toEqual([0, expect.stringContaining('reloads when Secret')]);
    expect(told.out).toMatch(/^Settings: +the defaults of Reroll/m);
    const preview = await developer.run('preview', 'secret/db', '--direct');
    expect(preview).toMatchObject({ code: 0, err: expect.stringContaining('You may not list CronJob, Job') });
    const nowhere = new RerollCli(cluster, ['-n', space.name, '--admin-namespace', 'kube-system']);
    const why = await nowhere.run('why', 'deploy/web');
    expect([why.code, why.err]).toEqual([0, 'Found no admin: reading the cluster with your own rights.\n']);
    expect(why.out).toMatch(/^secret\/db +yes +AutoReload +/m);
    expect(await nowhere.run('why', 'deploy/nothing')).toMatchObject({
      code: 1,
      err: expect.stringContaining('there is no deployment/nothing'),
    });
  });
});

describe('the completion', () => {
  it('of bash, run by bash, completes names that the admin knows', () => {
    const folder = mkdtempSync(join(tmpdir(), 'reroll-e2e-completion-'));
    cleanUp(() => rmSync(folder, { recursive: true, force: true }));
    const program = join(folder, 'reroll');
    writeFileSync(program, `#!/bin/sh\nexec ${process.execPath} ${CLI} "$@"\n`);
    chmodSync(program, 0o755);
    const script = `source <(reroll completion bash); compopt() { :; }
COMP_WORDS=("$@") COMP_CWORD=$(( $# - 1 )); _reroll; printf '%s\\n' "\${COMPREPLY[@]}"`;
    const env = { ...operator.env(), PATH: `${folder}:${process.env['PATH']}`, HOME: folder };
    const words = ['reroll', ...flagsOf(), 'reload', 'deploy/w'];
    const out = execFileSync('bash', ['--norc', '-c', script, 'bash', ...words], { env, encoding: 'utf8' });
    expect(out).toBe('deploy/web\n');
  });
});
