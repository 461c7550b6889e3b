import { setImmediate as nextTurn } from 'node:timers/promises';
import { workloadKind } from '@reroll/kube/workloads/registry';
import { silentLogger } from '@reroll/shared/platform/logging/logging';
import { expect, it, vi } from 'vitest';
import type { ReloadOutcome } from './reload-outcome.ts';
import { ReloadReports, type ReportsContext } from './reload-reports.ts';

const WEB = 'Deployment/shop/web';

it('counts each job left to workers with another key, and warns of one in ten minutes', () => {
  vi.useFakeTimers();
  try {
    const warnings: unknown[] = [];
    const inc = vi.fn();
    const reports = new ReloadReports({
      metrics: { outcomes: { inc } },
      log: { warning: (...warning: unknown[]) => warnings.push(warning) },
    } as unknown as ReportsContext);
    reports.leftToOthers(WEB);
    reports.leftToOthers('Deployment/shop/worker');
    expect(warnings).toEqual([
      [expect.stringContaining('hash key'), { workload: WEB, reason: 'KeyUnknown' }],
    ]);
    vi.advanceTimersByTime(600_000);
    reports.leftToOthers(WEB);
    expect(warnings).toHaveLength(2);
    expect(inc.mock.calls.map(([labels]) => labels as unknown)).toEqual(
      ['KeyUnknown', 'KeyUnknown', 'KeyUnknown'].map((reason) => ({ reason })),
    );
  } finally {
    vi.useRealTimers();
  }
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
      observed: { kind: 'Deployment', namespace: 'shop', annotations: {} },
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
  const first = [expect.stringContaining('missing ]'), 'no duration', 'a', 'b'];
  expect(notes()).toEqual(first);
  await end('too long');
  expect(notes()).toEqual([...first, 'too long']);
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
