import { describe, expect, it } from 'vitest';
import type { Change } from '@reroll/shared/api/changes';
import type { Waves } from '@reroll/shared/api/waves';
import { change, changeWorkload, WEB } from '../testing/answers.ts';
import { NOW, runCli, type Ran } from '../testing/run-cli.ts';
import { problem, stubAdmin } from '../testing/stub-admin.ts';

const WORKER = { ...WEB, name: 'worker' };

function waves(states: readonly ['baking' | 'done', 'waiting' | 'underWay' | 'done']): Waves {
  const plan = states.map((state, at) => ({
    state,
    until: state === 'baking' ? '2026-11-21T15:10:00.000Z' : null,
    size: 1,
    reloaded: state === 'waiting' ? 0 : 1,
    workloads: [{ workload: at === 0 ? WEB : WORKER, reloaded: true, detail: 'is rolled out' }],
  }));
  const hash = change().to;
  return { hash, waves: '1,100%', bake: '10m', plan, problem: null, halted: null, resumed: false };
}

interface Watched extends Ran {
  readonly frames: readonly string[];
}

/** Each look at the change gets the next step (`away`: an error), and the last one from then on. The first is that which sees whether there is such a change. */
async function watched(
  steps: readonly (Partial<Change> | 'away')[],
  { flags = [], isLive = false }: { flags?: readonly string[]; isLive?: boolean } = {},
): Promise<Watched> {
  let now = NOW;
  const left = [...steps];
  let isLast = false;
  const { url } = await stubAdmin(({ path }) => {
    if (path.endsWith('/waves')) return { body: waves(isLast ? ['done', 'done'] : ['baking', 'waiting']) };
    now += 60_000;
    isLast = left.length === 1;
    const step = left.length > 1 ? left.shift() : left[0];
    if (step === 'away') return problem(500, 'Internal');
    return step && { body: change(step) };
  });
  const frames: string[] = [];
  const words = ['change', '1763737200123-0', '-w', ...flags, '--server', url];
  const live = isLive ? { onFrame: (text: string) => frames.push(text) } : {};
  return { ...(await runCli(words, { now: () => now, ...live })), frames };
}

const HELD = changeWorkload('held', {
  workload: WORKER,
  outcome: 'AwaitsWave',
  detail: 'it waits for wave 1',
});
const BOTH: readonly Partial<Change>[] = [
  {},
  { workloads: [changeWorkload('rolledOut'), HELD] },
  { workloads: [changeWorkload('rolledOut'), changeWorkload('rolledOut', { workload: WORKER })] },
];

describe('change --watch', () => {
  it('tells each step of each workload, and the change when all are rolled out', async () => {
    const { code, err, out } = await watched(BOTH);
    expect([code, err]).toEqual([
      0,
      [
        'deployment.apps/web rolledOut (AutoReload: it uses the source) after 60s',
        'deployment.apps/worker held (AwaitsWave: it waits for wave 1) after 60s',
        'deployment.apps/worker rolledOut (AutoReload: it uses the source) after 2m',
        '',
      ].join('\n'),
    ]);
    expect(out).toMatch(/^Change: +1763737200123-0$/m);
  });

  it('draws its waves and workloads on a terminal', async () => {
    const { frames, err } = await watched(BOTH, { isLive: true });
    expect(err).toBe('');
    expect(frames).toHaveLength(2);
    expect(frames[0]).toMatch(/^1 +baking +1\/1 +\d+m\S* +its bake time$/m);
    expect(frames[0]).toMatch(/^2 +waiting +0\/1 +(?:<none> +)?wave 1$/m);
    expect(frames[0]).toMatch(
      /^deployment\/worker +held +<none> +AwaitsWave: wave 2 waits for wave 1, which is observed for its bake time\ndeployment\/web +rolledOut/m,
    );
    expect(frames[1]).toMatch(/^2 +done/m);
  });

  it('tells that what it shows is old while the admin cannot tell', async () => {
    const steps = [...BOTH.slice(0, 2), 'away', 'away', ...BOTH.slice(2)] as const;
    const { frames, code } = await watched(steps, { isLive: true });
    const away = 'The admin cannot tell at the moment: title of Internal';
    expect(frames).toHaveLength(4);
    const lastLines = frames.map((frame) => frame.trimEnd().split('\n').at(-1));
    expect(lastLines).toEqual([
      '60s so far; Ctrl-C stops watching, not the reload',
      `State of 60s ago. ${away}`,
      `State of 2m ago. ${away}`,
      '4m so far; Ctrl-C stops watching, not the reload',
    ]);
    expect(frames[2]).toMatch(/^deployment\/worker +held/m);
    expect(code).toBe(0);
    const { err } = await watched(steps);
    expect(err.split('\n').filter((line) => line === away)).toHaveLength(1);
  });

  it('tells the same where it has no workload to show yet', async () => {
    const none = { workloads: [], more: { woken: 1, leftAlone: 0 } };
    const { frames } = await watched([none, none, 'away', ...BOTH.slice(2)], { isLive: true });
    expect(frames[0]).toMatch(/^The admin has not seen .* yet\n60s so far; /);
    expect(frames[1]).toMatch(/^The admin has not seen .* yet\nState of 60s ago\. The admin cannot tell/);
  });

  it('asks for the waves only where it shows them', async () => {
    const paths: string[] = [];
    const { url } = await stubAdmin(({ path }) => {
      paths.push(path);
      return { body: change({ workloads: [changeWorkload('rolledOut')] }) };
    });
    await runCli(['change', '1763737200123-0', '-w', '--server', url]);
    expect(paths.filter((path) => path.endsWith('/waves'))).toHaveLength(1);
  });

  it.each([
    ['a workload fails', [changeWorkload('failed')], 4],
    [
      'a workload is skipped',
      [changeWorkload('skipped'), changeWorkload('rolledOut', { workload: WORKER })],
      0,
    ],
    ['there is no workload', [], 0],
    ['a workload is left alone by the rules', [changeWorkload('skipped', { verdict: 'skip' })], 0],
  ])('ends when %s', async (_, workloads, code) => {
    expect((await watched([{ workloads }])).code).toBe(code);
  });

  it('goes on while workloads that are not listed have no outcome', async () => {
    const workloads = [changeWorkload('rolledOut')];
    const more = { woken: 3, leftAlone: 0 };
    const waiting = { workloads, more, counted: { Reloaded: 2 } };
    const { code, err } = await watched([waiting], { flags: ['--timeout', '5m'] });
    expect([code, err]).toEqual([3, expect.stringContaining('Not rolled out within 5m.')]);
    expect((await watched([waiting, { workloads, more, counted: { Reloaded: 3 } }])).code).toBe(0);
  });

  it.each([
    ['rolledOut', 0],
    ['stuck', 4],
  ] as const)(
    'goes by the listed workloads (%s) once the source has changed again, and says so',
    async (state, code) => {
      const more = { woken: 3, leftAlone: 0 };
      const steps = [
        { workloads: [changeWorkload('reloaded')], more, counted: null },
        { workloads: [changeWorkload(state)], more, counted: null },
      ];
      const unknown =
        'What became of 3 more workloads with a reload job is not known, because the source has changed again.';
      for (const isLive of [false, true]) {
        const told = await watched([{}, ...steps], { flags: ['--timeout', '10m'], isLive });
        expect(told.code).toBe(code);
        expect(told.err.split('\n').filter((line) => line === unknown)).toHaveLength(1);
      }
      const { err } = await watched([
        {},
        { workloads: [changeWorkload(state)], more, counted: { Reloaded: 3 } },
      ]);
      expect(err).not.toContain('not known');
    },
  );

  it('ends at once if there is no such change', async () => {
    const { url } = await stubAdmin(() => problem(404, 'NotFound'));
    const { code, err } = await runCli(['change', '1763737200123-0', '--watch', '--server', url]);
    expect([code, err]).toEqual([1, expect.stringContaining('title of NotFound')]);
  });

  it('is needed for --timeout', async () => {
    const { code, err } = await runCli(['change', 'x', '--timeout', '1m', '--server', 'http://127.0.0.1:1']);
    expect([code, err]).toEqual([2, expect.stringContaining('expected --watch with --timeout')]);
  });
});
