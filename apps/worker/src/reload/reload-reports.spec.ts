import { expect, it, vi } from 'vitest';
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
