import { parseArgs } from 'node:util';
import { UsageError } from '../../../cluster/src/errors.ts';
import { machineText, thisMachine } from '../measure/machine.ts';
import { writeBlock } from '../report/markdown.ts';
import type { Terminal } from '../terminal.ts';
import { measureState, type StateFigures } from './state-bench.ts';

/** Always exit code 0: what is measured has no target that would not depend on the machine. */
export async function runState(argv: readonly string[], terminal: Terminal): Promise<0> {
  const { size, markdown } = parse(argv);
  terminal.err(`feeding ${size} workloads and ${size} sources\n`);
  const text = report(await measureState(size, terminal.signal));
  terminal.out(text);
  writeBlock(markdown, `reroll/state-${size}`, text);
  return 0;
}

function parse(argv: readonly string[]): { size: number; markdown: string | undefined } {
  try {
    const text = { type: 'string' } as const;
    const options = { scenario: text, size: text, markdown: text };
    const { size = '100000', markdown } = parseArgs({ args: [...argv], options }).values;
    if (!/^[1-9]\d{0,6}$/u.test(size))
      throw new TypeError(`--size: expected a whole number from 1 to 9999999, given ${size}`);
    return { size: Number(size), markdown };
  } catch (error) {
    const expected = 'expected options of the scenario state';
    throw new UsageError([error instanceof Error ? error.message : expected]);
  }
}

function report(figures: StateFigures): string {
  const { size, bytesEach, resident, sync, event, longestTurn } = figures;
  const whole = (value: number): string => Math.round(value).toLocaleString('en-US');
  const megabytes = (value: number): string => `${whole(value / 1e6)} MB`;
  const milliseconds = (value: number): string => `${value.toFixed(value < 10 ? 2 : 0)} ms`;
  const rows = [
    ['heap for each source', `${whole(bytesEach.source)} bytes`],
    ['heap for each workload', `${whole(bytesEach.workload)} bytes`],
    ['heap for all of them', megabytes((bytesEach.source + bytesEach.workload) * size)],
    [
      'resident memory of the bench, before; at most',
      `${megabytes(resident.before)}; ${megabytes(resident.peak)}`,
    ],
    ['both lists, CPU', `${(sync / 1e3).toFixed(1)} s`],
    ['one event of a source, CPU', milliseconds(event)],
    ['longest turn of the event loop, CPU', milliseconds(longestTurn)],
  ];
  return [
    `| ${whole(size)} workloads and ${whole(size)} sources | |`,
    '|---|---:|',
    ...rows.map((row) => `| ${row.join(' | ')} |`),
    '',
    `${new Date().toISOString().slice(0, 10)}, ${machineText(thisMachine())}. Each workload uses a ConfigMap of its own.`,
    '',
  ].join('\n');
}
