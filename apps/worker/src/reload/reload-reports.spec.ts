import { setImmediate as nextTurn } from 'node:timers/promises';
import { workloadKind } from '@reroll/kube/workloads/registry';
import { silentLogger } from '@reroll/shared/platform/logging/logging';
import { expect, it, vi } from 'vitest';
import { jobErrorOf } from '../job-error.ts';
import type { ReloadOutcome } from './reload-outcome.ts';
import { ReloadReports, type ReportsContext } from './reload-reports.ts';

const WEB = 'Deployment/shop/web';

const JOB = { v: 1, workload: WEB, since: 0 } as const;
const RUN = { attempt: 1, attempts: 5 };

it('counts each job left to workers with another key, and warns of one in ten minutes', () => {
  vi.useFakeTimers();
  try {
    const warnings: unknown[] = [];
    const inc = vi.fn();
    const reports = new ReloadReports({
      catalog: { isNewWarning: async () => await Promise.resolve(false) },
      metrics: { outcomes: { inc } },
      log: { warning: (...warning: unknown[]) => warnings.push(warning) },
    } as unknown as ReportsContext);
    const left = { state: 'unchanged', reason: 'KeyUnknown', sources: {}, rolled: [] } as const;
    reports.leftToOthers(JOB, left, RUN);
    reports.leftToOthers({ ...JOB, workload: 'Deployment/shop/worker' }, left, RUN);
    expect(warnings).toEqual([
      [expect.stringContaining('hash key'), { workload: WEB, reason: 'KeyUnknown' }],
    ]);
    vi.advanceTimersByTime(600_000);
    reports.leftToOthers(JOB, left, RUN);
    expect(warnings).toHaveLength(2);
    expect(inc.mock.calls.map(([labels]) => labels as unknown)).toEqual(
      ['KeyUnknown', 'KeyUnknown', 'KeyUnknown'].map((reason) => ({ reason })),
    );
  } finally {
    vi.useRealTimers();
  }
});

it('a workload left to workers with another key has one outcome and one Event for each record', async () => {
  const noted = new Set<string>();
  const [record, addOutcome] = [vi.fn(), vi.fn()];
  const reports = new ReloadReports({
    catalog: {
      isNewWarning: async (_: string, __: string, text: string) =>
        await Promise.resolve(!noted.has(text) && noted.add(text) === noted),
      forgetHold: async () => {},
    },
    metrics: { outcomes: { inc: vi.fn() } },
    outcomes: { addOutcome },
    events: { record },
    log: silentLogger,
  } as unknown as ReportsContext);
  const leave = async (written: string): Promise<void> => {
    const subject = {
      key: WEB,
      definition: workloadKind('Deployment'),
      object: { metadata: { name: 'web', namespace: 'shop', uid: 'u', resourceVersion: '1' } },
      observed: { kind: 'Deployment', namespace: 'shop', annotations: {}, record: written },
    };
    const sources = { 'Secret/db': 'KeyUnknown' };
    const left = { state: 'unchanged', reason: 'KeyUnknown', sources, rolled: [], subject };
    reports.leftToOthers(JOB, left as unknown as ReloadOutcome, RUN);
    await nextTurn();
  };
  await leave('a record');
  await leave('a record');
  expect(addOutcome.mock.calls.map(([entry]) => entry as unknown)).toMatchObject([
    {
      state: 'unchanged',
      reason: 'KeyUnknown',
      sources: { 'Secret/db': 'KeyUnknown' },
      detail: expect.stringContaining('ten minutes') as string,
    },
  ]);
  expect(record.mock.calls).toMatchObject([
    [
      {
        workload: { name: 'web' },
        reason: 'KeyUnknown',
        note: expect.stringContaining('ten minutes') as string,
      },
    ],
  ]);
  await leave('another record');
  expect([addOutcome, record].map(({ mock }) => mock.calls.length)).toEqual([2, 2]);
});

it('problems that a workload has at once are told one by one, each if its text is new', async () => {
  const noted = new Map<string, string>();
  const record = vi.fn();
  const isNewWarning = async (workload: string, kind: string, text: string): Promise<boolean> => {
    const isNew = noted.get(workload + kind) !== text;
    noted.set(workload + kind, text);
    return await Promise.resolve(isNew);
  };
  const reports = new ReloadReports({
    catalog: { isNewWarning, forgetHold: async () => {} },
    metrics: { outcomes: { inc: vi.fn() } },
    outcomes: { addOutcome: vi.fn() },
    events: { record },
    log: silentLogger,
  } as unknown as ReportsContext);
  const outcome = {
    state: 'skipped',
    reason: 'InvalidPattern',
    sources: {},
    rolled: [],
    subject: {
      key: WEB,
      definition: workloadKind('Deployment'),
      object: { metadata: { name: 'web', namespace: 'shop', uid: 'u', resourceVersion: '1' } },
      observed: {
        kind: 'Deployment',
        namespace: 'shop',
        annotations: { 'reroll.dev/reload-limit': 'lots' },
      },
    },
    patternErrors: [{ pattern: '[', error: 'missing ]' }],
    leftBehind: ['a', 'b'],
  } as unknown as ReloadOutcome;
  const end = async (...pauseProblems: readonly string[]): Promise<void> => {
    for (const pauseProblem of pauseProblems) {
      reports.ended(
        { v: 1, workload: WEB, since: 0 },
        { ...outcome, pauseProblem },
        { attempt: 1, attempts: 1 },
      );
      await nextTurn();
    }
  };
  await end('no duration', 'no duration');
  const notes = (): unknown[] => record.mock.calls.map(([event]) => (event as { note: string }).note);
  const limit = expect.stringMatching(
    /^reroll\.dev\/reload-limit cannot be read and is ignored: .* given "lots"$/,
  );
  const first = [expect.stringContaining('missing ]'), 'no duration', limit, 'a', 'b'];
  expect(notes()).toEqual(first);
  await end('too long');
  expect(notes()).toEqual([...first, 'too long']);
});

it('a dry run that finds nothing new is recorded for a change, and not at each resync', () => {
  const addOutcome = vi.fn();
  const reports = new ReloadReports({
    catalog: { forgetHold: async () => {} },
    metrics: { outcomes: { inc: vi.fn() }, skipped: { inc: vi.fn() } },
    outcomes: { addOutcome },
    log: silentLogger,
  } as unknown as ReportsContext);
  const inStep = { state: 'unchanged', reason: 'InStep', sources: {}, rolled: [], isRepeated: true } as const;
  reports.ended(JOB, inStep, RUN);
  expect(addOutcome).not.toHaveBeenCalled();
  reports.ended({ ...JOB, source: 'Secret/shop/db' }, inStep, RUN);
  expect(addOutcome).toHaveBeenCalledTimes(1);
});

it('a hold is forgotten when an outcome that is none ends, and not before', async () => {
  const forgetHold = vi.fn(async () => {});
  const reports = new ReloadReports({
    catalog: { isNewHold: async () => await Promise.resolve(true), forgetHold },
    metrics: { outcomes: { inc: vi.fn() }, skipped: { inc: vi.fn() } },
    outcomes: { addOutcome: vi.fn() },
    log: silentLogger,
  } as unknown as ReportsContext);
  const job = { v: 1, workload: WEB, since: 0 } as const;
  const run = { attempt: 1, attempts: 1 };
  const hold = { reason: 'Frozen', detail: 'frozen' } as const;
  const held = { state: 'unchanged', reason: 'Frozen', sources: {}, rolled: [], hold } as const;
  await reports.held(job, held, run);
  expect(forgetHold).not.toHaveBeenCalled();
  reports.ended(job, { state: 'unchanged', reason: 'InStep', sources: {}, rolled: [] }, run);
  expect(forgetHold.mock.calls).toEqual([[WEB]]);
});

it('a reload that failed after all attempts is dated in the metrics, by namespace', () => {
  const [inc, set] = [vi.fn(), vi.fn()];
  const reports = new ReloadReports({
    catalog: { forgetHold: async () => {} },
    metrics: {
      outcomes: { inc },
      reloadExecuted: { inc },
      action: { inc },
      lastFailedIn: { set },
    },
    outcomes: { addOutcome: vi.fn() },
    log: silentLogger,
  } as unknown as ReportsContext);
  const error = jobErrorOf(new Error('refused'));
  reports.failed(JOB, error, { ...RUN, isLast: false });
  expect(set).not.toHaveBeenCalled();
  reports.failed(JOB, error, { ...RUN, isLast: true });
  expect(set).toHaveBeenCalledExactlyOnceWith({ workload_namespace: 'shop' }, expect.any(Number));
});
