import { parseArgs } from 'node:util';
import { UsageError } from '../../../cluster/src/errors.ts';
import { machineText, thisMachine } from '../measure/machine.ts';
import { writeBlock } from '../report/markdown.ts';
import type { Terminal } from '../terminal.ts';
import { measureHistory, type HistoryFigures } from './history-bench.ts';
import type { HistoryLoad } from './history-load.ts';

/** What is asked of every list. */
const TARGET_P99_MS = 50;
const DEFAULTS: HistoryLoad = { changes: 10_000, workloads: 100_000, namespaces: 100, requests: 300 };

/** Exit code 0 if every list met the target. */
export async function runHistory(argv: readonly string[], terminal: Terminal): Promise<0 | 1> {
  const { load, markdown } = parse(argv);
  const io = { log: (line: string) => terminal.err(`${line}\n`), signal: terminal.signal };
  const figures = await measureHistory(load, io);
  const text = report(figures);
  terminal.out(text);
  writeBlock(markdown, 'reroll/history', text);
  const late = figures.lists.filter(({ p99Ms }) => p99Ms >= TARGET_P99_MS);
  for (const { what, p99Ms } of late)
    terminal.err(`not met: ${what}: p99 below ${TARGET_P99_MS} ms, measured ${p99Ms.toFixed(1)}\n`);
  return late.length === 0 ? 0 : 1;
}

function parse(argv: readonly string[]): { load: HistoryLoad; markdown: string | undefined } {
  try {
    const text = { type: 'string' } as const;
    const { values } = parseArgs({
      args: [...argv],
      options: {
        scenario: text,
        changes: text,
        workloads: text,
        namespaces: text,
        requests: text,
        markdown: text,
      },
    });
    const number = (name: keyof HistoryLoad): number => {
      const given = values[name];
      if (given === undefined) return DEFAULTS[name];
      if (/^[1-9]\d{0,6}$/u.test(given)) return Number(given);
      throw new TypeError(`--${name}: expected a whole number from 1 to 9999999, given ${given}`);
    };
    const load = {
      changes: number('changes'),
      workloads: number('workloads'),
      namespaces: number('namespaces'),
      requests: number('requests'),
    };
    return { load, markdown: values.markdown };
  } catch (error) {
    throw new UsageError([
      error instanceof Error ? error.message : 'expected options of the scenario history',
    ]);
  }
}

function report({ load, redis, empty, loaded, asked, loadMs, lists }: HistoryFigures): string {
  const count = (value: number): string => value.toLocaleString('en-US');
  const rows = lists.map(
    ({ what, p50Ms, p99Ms, bytes }) =>
      `| \`${what.replace(', ', '`, ')}${what.includes(', ') ? '' : '`'} | ${p50Ms.toFixed(1)} ms | ${p99Ms.toFixed(1)} ms | ${count(bytes)} |`,
  );
  return [
    `**${count(load.changes)} changes of history; ${count(load.workloads)} workloads in ${load.namespaces} namespaces**`,
    '',
    '| list | p50 | p99 | bytes of an answer |',
    '|---|---:|---:|---:|',
    ...rows,
    '',
    '|  | measured |',
    '|---|---:|',
    `| Redis, a change with its outcome and its rollout | ${count(Math.round((redis.history - redis.before) / load.changes))} bytes |`,
    `| Redis, a workload and a source of it in the catalog | ${count(Math.round((redis.catalog - redis.history) / load.workloads))} bytes |`,
    `| admin without history | ${empty.residentMb.toFixed(0)} MB |`,
    `| admin, the history read | ${loaded.residentMb.toFixed(0)} MB |`,
    `| admin, after every list (${lists.length} of them, ${load.requests} times each) | ${asked.residentMb.toFixed(0)} MB, at most ${asked.peakMb.toFixed(0)} MB |`,
    `| start of the admin until it serves | ${(loadMs / 1000).toFixed(1)} s |`,
    '',
    `${new Date().toISOString().slice(0, 10)}, ${machineText(thisMachine())}. Requests one after the other; every p99 is to be below ${TARGET_P99_MS} ms.`,
    '',
  ].join('\n');
}
