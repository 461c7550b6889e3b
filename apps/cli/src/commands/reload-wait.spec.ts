import { describe, expect, it } from 'vitest';
import { change, changeWorkload } from '../testing/answers.ts';
import { NOW, runCli, type Ran } from '../testing/run-cli.ts';
import { problem, stubAdmin, type StubHandler } from '../testing/stub-admin.ts';

const ACCEPTED = { id: '1763737200123-0', at: '2026-11-21T15:00:00.000Z' };

interface StubFault {
  readonly fault: ReturnType<StubHandler>;
}

describe('reload', () => {
  it.each([
    ['Frozen', 'It waits (Frozen): why. To bypass this, use --override-freeze.\n'],
    ['OutsideWindow', 'It waits (OutsideWindow): why. To bypass this, use --now.\n'],
    ['AwaitsApproval', 'It waits (AwaitsApproval): why.\n'],
  ])('says what holds it: %s', async (reason, line) => {
    const { url } = await stubAdmin(() => ({
      body: { ...ACCEPTED, held: { reason, until: null, detail: 'why' } },
    }));
    const words = ['reload', 'deploy/web', '-n', 'shop', '--reason', 'r', '--now', '--server', url];
    expect(await runCli(words)).toEqual({
      code: 0,
      out: `deployment.apps/web reload requested (change 1763737200123-0)\n${line}`,
      err: '',
    });
  });
});

describe('reload --wait', () => {
  /** Each request gets the next step, and the last one from then on: a workload, an invalid response, or 404. */
  async function waited(
    steps: readonly (ReturnType<typeof changeWorkload> | StubFault | undefined)[],
    flags: readonly string[] = [],
  ): Promise<Ran> {
    // A minute a request.
    let now = NOW;
    const left = [...steps];
    const { url } = await stubAdmin(({ method }) => {
      if (method === 'POST') return { body: ACCEPTED };
      now += 60_000;
      const step = left.length > 1 ? left.shift() : left[0];
      if (step === undefined || 'fault' in step) return step?.fault;
      return { body: change({ workloads: [step] }) };
    });
    return await runCli(
      ['reload', 'deploy/web', '-n', 'shop', '--reason', 'r', '--wait', ...flags, '--server', url],
      { now: () => now },
    );
  }
  const rollout = (state: 'progressing' | 'stuck', code: string) => ({
    state,
    code,
    updated: 1,
    ready: 0,
    desired: 2,
    conditions: [],
  });

  it('tells each step once, passes over an admin that does not know the change yet, and ends with 0 when it is rolled out', async () => {
    const told = await waited([
      undefined,
      changeWorkload('pending'),
      changeWorkload('reloaded', { rollout: rollout('progressing', 'Updating') }),
      changeWorkload('rolledOut'),
    ]);
    expect(told).toEqual({
      code: 0,
      out: 'deployment.apps/web reload requested (change 1763737200123-0)\n',
      err: [
        'deployment.apps/web pending (AutoReload: it uses the source) after 2m',
        'deployment.apps/web reloaded 1/2 updated, 0 ready (AutoReload: it uses the source) after 3m',
        'deployment.apps/web rolledOut (AutoReload: it uses the source) after 4m',
        '',
      ].join('\n'),
    });
  });

  it.each([
    [
      'stuck',
      changeWorkload('stuck', { rollout: rollout('stuck', 'ProgressDeadlineExceeded') }),
      'stuck (AutoReload: ProgressDeadlineExceeded)',
    ],
    ['failed', changeWorkload('failed', { error: 'KUBE_API 403' }), 'failed (AutoReload: KUBE_API 403)'],
    [
      'skipped',
      changeWorkload('skipped', { outcome: 'NotAnnotated' }),
      'skipped (NotAnnotated: it uses the source)',
    ],
  ])('ends with 4 when it is %s', async (_, step, text) => {
    const told = await waited([step]);
    expect([told.code, told.err]).toEqual([4, expect.stringContaining(text)]);
  });

  it('goes on while the admin is away or broken, and after each such answer', async () => {
    const told = await waited([
      { fault: (response) => void response.destroy() },
      { fault: problem(500, 'Internal') },
      { fault: { status: 500, type: 'text/html', body: '<html>' } },
      changeWorkload('rolledOut'),
    ]);
    expect([told.code, told.err]).toEqual([
      0,
      expect.stringMatching(/^deployment\.apps\/web rolledOut .*\n$/),
    ]);
  });

  it.each([
    [problem(401, 'Unauthenticated'), 'error: title of Unauthenticated\n'],
    [problem(403, 'Forbidden', { detail: 'get a change' }), 'error: title of Forbidden: get a change\n'],
    [
      { status: 403, body: { kind: 'Status', code: 403, message: 'services/proxy is forbidden' } },
      'answered 403: services/proxy is forbidden\n',
    ],
    [{ body: { id: 7 } }, "error: the admin's answer (getChange) is not what this version understands"],
  ])('ends at once, and says why, if it is refused: %j', async (fault, message) => {
    const told = await waited([changeWorkload('pending'), { fault }], ['--timeout', '0']);
    expect([told.code, told.err]).toEqual([1, expect.stringContaining(message)]);
  });

  it('tells what holds the workload, also if that is known later, and how to reload a frozen one', async () => {
    const [held, frozen] = [
      changeWorkload('held', { reason: 'Requested' }),
      changeWorkload('held', { outcome: 'Frozen', detail: 'year-end' }),
    ];
    const told = await waited([held, frozen, frozen], ['--timeout', '3m']);
    expect([told.code, told.err.split('\n')]).toEqual([
      3,
      [
        'deployment.apps/web held (Requested: it uses the source) after 60s',
        'deployment.apps/web held (Frozen: year-end) after 2m',
        'Not rolled out within 3m.',
        'reload --override-freeze reloads it in spite of the freeze.',
        '',
      ],
    ]);
  });

  it('tells at the deadline what the admin said last instead of an answer', async () => {
    const fault = problem(500, 'Internal', { detail: 'a \u001b[2J mistake' });
    const told = await waited([changeWorkload('pending'), { fault }], ['--timeout', '2m']);
    expect([told.code, told.err.split('\n').slice(-3)]).toEqual([
      3,
      [
        'Not rolled out within 2m.',
        String.raw`The admin could not tell at last: title of Internal: a \u001b[2J mistake`,
        '',
      ],
    ]);
  });
});
