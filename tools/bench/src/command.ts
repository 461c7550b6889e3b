import { writeFileSync } from 'node:fs';
import { ClusterError, UsageError, messageOf } from '../../cluster/src/errors.ts';
import { runBench } from './bench-run.ts';
import { runHistory } from './history/history-command.ts';
import { runHostile } from './hostile/hostile-command.ts';
import { runLimits } from './pods/limits-command.ts';
import { runPods } from './pods/pods-command.ts';
import { writeMarkdown } from './report/markdown.ts';
import { type BenchOptions, parseCommand } from './options.ts';
import { runRedisMemory } from './redis-memory/redis-memory-command.ts';
import { runState } from './state/state-command.ts';
import { toJson, unmet } from './report/report.ts';
import { reportText } from './report/text.ts';
import { runSizes, runWorkers } from './series/series-command.ts';
import type { Terminal } from './terminal.ts';
import { usage } from './measure/usage.ts';

export type ExitCode = 0 | 1 | 2 | 130;

/** Runs one command line to its end; every failure ends up as a message and an exit code. */
export async function runCommand(argv: readonly string[], terminal: Terminal): Promise<ExitCode> {
  try {
    const own = OWN_COMMANDS.find(([scenario]) => asksFor(argv, scenario))?.[1];
    if (own) return await own(argv, terminal);
    const command = parseCommand(argv);
    if (!command.help) return await bench(command.options, terminal);
    terminal.out(usage());
    return 0;
  } catch (error) {
    return failed(error, terminal);
  }
}

/** Scenarios that measure something else than rollouts, and read a command line of their own. */
const OWN_COMMANDS = [
  ['history', runHistory],
  ['hostile', runHostile],
  ['redis-memory', runRedisMemory],
  ['pods', runPods],
  ['limits', runLimits],
  ['sizes', runSizes],
  ['workers', runWorkers],
  ['state', runState],
] as const;

/** Whether the command line asks for this scenario alone. */
export function asksFor(argv: readonly string[], scenario: string): boolean {
  const at = argv.indexOf('--scenario');
  return argv.includes(`--scenario=${scenario}`) || (at >= 0 && argv[at + 1] === scenario);
}

async function bench(options: BenchOptions, terminal: Terminal): Promise<ExitCode> {
  const { out, err, signal } = terminal;
  const report = await runBench(options, { log: (line) => err(`${line}\n`), signal });
  out(reportText(report));
  if (options.json !== undefined) writeFileSync(options.json, toJson(report));
  if (options.markdown !== undefined) writeMarkdown(options.markdown, report);
  const problems = unmet(report.results);
  for (const problem of problems) err(`not met: ${problem}\n`);
  // They are Reroll's targets: another reloader is only shown beside them.
  return problems.length === 0 || 'commandLine' in options.subject ? 0 : 1;
}

function failed(error: unknown, { err, signal }: Terminal): ExitCode {
  if (signal.aborted) {
    err('interrupted: everything that was started is stopped\n');
    return 130;
  }
  if (error instanceof UsageError) {
    err(`${error.problems.join('\n')}\n\nSee \`npm run bench -- --help\`.\n`);
    return 2;
  }
  // Anything but a ClusterError is a fault of this tool: show where.
  const stack = error instanceof Error && !(error instanceof ClusterError) ? error.stack : undefined;
  err(`${stack ?? messageOf(error)}\n`);
  return 1;
}
