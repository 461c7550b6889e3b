import { bulkResult, type BulkItem } from '@reroll/shared/api/bulk';
import { describe, expect, it } from 'vitest';
import { BULK_OF_JOBS_VIEW } from '../views/bulk.ts';
import { runCli, type Ran } from '../testing/run-cli.ts';
import { stubAdmin } from '../testing/stub-admin.ts';

const PLAN = '0c6f2a4be1d94f37a5c8e2b1907d3f64';
const ITEM = { target: 'Deployment/shop/web', id: null, result: 'planned', accepted: null, problem: null };
const REFUSAL = { code: 'Forbidden', detail: 'may not patch it' };
const PLANNED = { plan: PLAN, dryRun: true, items: [ITEM] };

const ANSWERS: Readonly<Record<string, unknown>> = {
  reload: PLANNED,
  freeze: PLANNED,
  unfreeze: { ...PLANNED, items: [ITEM, { ...ITEM, result: 'refused', problem: REFUSAL }] },
  approve: {
    plan: PLAN,
    dryRun: false,
    items: [
      { ...ITEM, id: '1a2b3c4d5e', result: 'done' },
      { ...ITEM, target: 'Deployment/shop/api', id: '5e4d3c2b1a', result: 'notStarted' },
    ],
  },
  retry: { plan: PLAN, dryRun: false, items: [] },
};

const admin = await stubAdmin(({ path }) => ({ body: ANSWERS[path.replace('/api/v1/bulk/', '')] }));

async function bulk(action: string, ...words: readonly string[]): Promise<Ran> {
  const env = { REROLL_SERVER: admin.url };
  return await runCli(['-n', 'shop', 'bulk', action, '--reason', 'r', ...words], { env });
}

/** Of the last request. */
function body(): unknown {
  return JSON.parse(admin.requests.at(-1)?.body ?? '');
}

it('the stub answers as the API documents it', () => {
  for (const answer of Object.values(ANSWERS))
    expect(bulkResult.safeParse(answer).error?.issues).toBeUndefined();
});

describe('bulk', () => {
  it('without a plan asks what would be done, and says how to do it', async () => {
    const words = [
      '--source',
      'secret/db',
      '--name',
      'we',
      '--due',
      'owed',
      '--rollout',
      'complete',
      '--now',
    ];
    expect(await bulk('reload', '--kind', 'deploy', ...words, '--limit', '7')).toEqual({
      code: 0,
      out: 'TARGET                RESULT    ID       PROBLEM\nDeployment/shop/web   planned   <none>   <none>\n',
      err: `Nothing was changed. To do what is planned, repeat the command with --plan ${PLAN}\n`,
    });
    const used = { due: 'owed', rollout: 'complete', source: 'Secret/shop/db' };
    const selector = { namespace: 'shop', kind: 'Deployment', name: 'we', ...used };
    expect(body()).toEqual({ reason: 'r', selector, limit: 7, dryRun: true, now: true });
  });

  it('with a plan does it, and ends with 1 if something is not done', async () => {
    const told = await bulk('approve', '--plan', PLAN);
    expect(body()).toMatchObject({ dryRun: false, plan: PLAN });
    expect(told).toMatchObject({
      code: 1,
      out: expect.stringMatching(/^Deployment\/shop\/web +done +1a2b3c4d5e/m),
      err: expect.stringMatching(/^Not started: 1 of 2, .* Repeat the command without --plan to see/),
    });
    expect(await bulk('unfreeze')).toMatchObject({
      code: 1,
      out: expect.stringContaining('refused   <none>   Forbidden: may not patch it'),
    });
  });

  it('takes the options of its action, and says if nothing matches', async () => {
    const end = '2026-11-21T16:00:00.000Z';
    const { err } = await bulk('freeze', '-A', '--until', '1h', '--kind', 'ds');
    expect(body()).toMatchObject({ selector: { kind: 'DaemonSet' }, until: end });
    // The plan is of this time.
    expect(err).toContain(`with --until ${end} --plan ${PLAN}\n`);
    await bulk('freeze', '-A', '--kind', 'ds', '--until', end, '--plan', PLAN);
    expect(body()).toMatchObject({ until: end, plan: PLAN });
    await bulk('reload', '--source', 'Secret/other/db', '--due', 'Owed');
    expect(body()).toMatchObject({
      selector: { namespace: 'other', source: 'Secret/other/db', due: 'owed' },
    });
    await bulk('reload', '--override-freeze');
    expect(body()).toMatchObject({ overrideFreeze: true });
    const none = { code: 0, out: '', err: 'No failed jobs in the namespace shop found.\n' };
    expect(await bulk('retry', '--queue', 'changes', '--kind', 'secret')).toEqual(none);
    expect(body()).toMatchObject({ selector: { namespace: 'shop', kind: 'Secret', queue: 'changes' } });
  });

  it('-o name prints what the other commands take', async () => {
    expect((await bulk('reload', '-o', 'name')).out).toBe('Deployment/shop/web\n');
    const job = {
      target: 'Secret/shop/db',
      id: 'changes:7',
      result: 'planned',
      accepted: null,
      problem: null,
    };
    expect(BULK_OF_JOBS_VIEW.nameOf(job as BulkItem)).toBe('changes:7');
  });

  it('-o json prints the answer of the API', async () => {
    expect(JSON.parse((await bulk('reload', '-o', 'json')).out)).toEqual(PLANNED);
  });
});

describe('called wrongly, it says what was expected and given, and ends with 2', () => {
  it.each([
    [['delete'], 'expected the action to be one of reload, freeze, unfreeze, approve, retry, given "delete"'],
    [['retry', '--override-freeze'], 'expected --override-freeze only with reload, given retry'],
    [
      ['reload', '--kind', 'secret'],
      'expected --kind to be one of deploy, sts, ds, cj, job, ro, dc, given "secret"',
    ],
    [
      ['retry', '--kind', 'pod'],
      'expected --kind to be one of deploy, sts, ds, cj, job, ro, dc, cm, secret, spc, given "pod"',
    ],
    [['reload', '--limit', '101'], 'expected --limit to be a number of 1 to 100, given "101"'],
    [['reload', '-A'], 'expected one more filter with -A, such as --source or --kind'],
    [['reload', '--due', 'late'], 'expected --due to be one of owed, correct, stale, failed, given "late"'],
    [
      ['freeze', '--until', '1h', '--plan', PLAN],
      'expected the --until that was printed with the plan, given "1h"',
    ],
    [['freeze', '--until', '2020-01-01'], 'expected a time in the future for --until, given "2020-01-01"'],
    [['reload', '--plan', 'x'], 'plan: expected the plan of a dry run'],
  ])('%j', async ([action = '', ...words], message) => {
    const before = admin.requests.length;
    const { code, out, err } = await bulk(action, ...words);
    expect([code, out]).toEqual([2, '']);
    expect(err).toContain(`error: ${message}`);
    expect(admin.requests).toHaveLength(before);
  });
});
