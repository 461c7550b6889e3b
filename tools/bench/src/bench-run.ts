import type { Bench } from './bench.ts';
import { groups, type Io, withBench } from './clusters.ts';
import { thisMachine } from './measure/machine.ts';
import { measure } from './measure/measure.ts';
import type { BenchOptions } from './options.ts';
import { compared, type Report } from './report/report.ts';
import type { Result } from './task.ts';
import { titleOf } from './report/title.ts';

/** Runs all scenarios of the options, each group on a cluster of its own. */
export async function runBench(options: BenchOptions, io: Io): Promise<Report> {
  const startedAt = new Date().toISOString();
  const results: Result[] = [];
  let kubernetes = 'unknown';
  for (const group of groups(options.scenarios)) {
    const controllerManager = group.every((scenario) => scenario.controllerManager);
    await withBench({ options, controllerManager }, io, async (bench) => {
      kubernetes = await versionOf(bench);
      for (const scenario of group) {
        io.log(`${scenario.name}: ${titleOf(scenario)}`);
        results.push(await measure(bench, scenario));
      }
    });
  }
  return { startedAt, machine: thisMachine(), kubernetes, options, results: compared(results) };
}

async function versionOf({ api }: Bench): Promise<string> {
  const { body } = await api.client.get<{ gitVersion: string }>('/version');
  return body.gitVersion;
}
