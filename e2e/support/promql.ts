import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ensurePromtool } from '../../tools/deploy/monitoring/promtool.ts';
import { run } from '../../tools/cluster/src/run.ts';

/** What a process served, by name and labels. */
export type Series = ReadonlyMap<string, number>;

/** Prometheus scrapes this often; every window of the queries ends with the last sample. */
const INTERVAL = 15;
const SAMPLES = 21;

/**
 * Asks real Prometheus code (promtool) what it makes of two scrapes of each process, the second one in the last 15 s
 * of five minutes. Resolves with undefined if every query has the value expected, else with what promtool says.
 */
export async function promqlDifference(
  scrapes: readonly { readonly pod: string; readonly before: Series; readonly after: Series }[],
  expected: Readonly<Record<string, number>>,
): Promise<string | undefined> {
  const series = scrapes.flatMap(({ pod, before, after }) =>
    [...after]
      .filter(([name, value]) => Number.isFinite(value) && Number.isFinite(before.get(name) ?? 0))
      .map(([name, value]) => ({
        series: withPod(name, pod),
        values: `${before.get(name) ?? 0}x${SAMPLES - 2} ${value}`,
      })),
  );
  const asked = Object.entries(expected).map(([expr, value]) => ({
    expr,
    eval_time: `${(SAMPLES - 1) * INTERVAL}s`,
    exp_samples: [{ value }],
  }));
  const tests = [{ interval: `${INTERVAL}s`, input_series: series, promql_expr_test: asked }];
  const folder = mkdtempSync(join(tmpdir(), 'reroll-promql-'));
  try {
    const file = join(folder, 'test.yaml');
    // JSON is YAML.
    writeFileSync(file, JSON.stringify({ rule_files: [], tests }));
    const { code, tail } = await run(await ensurePromtool(), ['test', 'rules', file]);
    return code === 0 ? undefined : tail;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function withPod(name: string, pod: string): string {
  return name.endsWith('}') ? `${name.slice(0, -1)},pod="${pod}"}` : `${name}{pod="${pod}"}`;
}
