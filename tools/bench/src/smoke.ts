import type { Io } from './clusters.ts';
import { runBench } from './bench-run.ts';
import { type BenchOptions, parseCommand } from './options.ts';
import type { Report } from './report/report.ts';

/** Five changes among twenty workloads: shows in a quarter of a minute that the bench and Reroll work together. */
export const SMOKE_ARGUMENTS = ['--scenario=hundred', '--workloads=20', '--namespaces=2', '--changes=5'];

/**
 * The smallest real run.
 * @throws Error when a workload was missed or rolled more than once.
 */
export async function smoke(io: Io, more: readonly string[] = []): Promise<Report> {
  const command = parseCommand([...SMOKE_ARGUMENTS, ...more]);
  const report = await runBench((command as { options: BenchOptions }).options, io);
  const { rolled, missed, duplicates } = report.results[0]?.figures ?? {};
  if (rolled !== 5 || missed !== 0 || duplicates !== 0) {
    throw new Error(
      `expected 5 workloads rolled once each, got ${JSON.stringify({ rolled, missed, duplicates })}`,
    );
  }
  return report;
}
