import { parseArgs } from 'node:util';
import { UsageError } from '../../../cluster/src/errors.ts';
import { machineText, thisMachine } from '../measure/machine.ts';
import { writeBlock } from '../report/markdown.ts';
import type { Terminal } from '../terminal.ts';
import { BASE, BYTES_EACH, measureRedisMemory, PARTS, type MemoryFigures } from './redis-memory-bench.ts';

/** What the formula may be off. */
const LEAST = 0.8;
const MOST = 1.25;

/** Exit code 0 if the formula holds at every size. */
export async function runRedisMemory(argv: readonly string[], terminal: Terminal): Promise<0 | 1> {
  const { sizes, markdown } = parse(argv);
  const all: MemoryFigures[] = [];
  for (const workloads of sizes) {
    terminal.err(`writing ${workloads} workloads\n`);
    // oxlint-disable-next-line no-await-in-loop -- one size after the other
    all.push(await measureRedisMemory(workloads, terminal.signal));
  }
  const text = report(all);
  terminal.out(text);
  writeBlock(markdown, 'reroll/redis-memory', text);
  const wrong = all.filter((figures) => ratioOf(figures) < LEAST || ratioOf(figures) > MOST);
  for (const figures of wrong)
    terminal.err(
      `not met: ${figures.counts.workload} workloads: measured by predicted from ${LEAST} to ${MOST}, given ` +
        `${ratioOf(figures).toFixed(2)}\n`,
    );
  return wrong.length === 0 ? 0 : 1;
}

function parse(argv: readonly string[]): { sizes: number[]; markdown: string | undefined } {
  try {
    const text = { type: 'string' } as const;
    const options = { scenario: text, sizes: text, markdown: text };
    const { sizes = '1000,10000,100000', markdown } = parseArgs({ args: [...argv], options }).values;
    const numbers = sizes
      .split(',')
      .map((each) => (/^[1-9]\d{0,6}$/u.test(each) ? Number(each) : Number.NaN));
    if (numbers.some(Number.isNaN))
      throw new TypeError(`--sizes: expected whole numbers from 1 to 9999999, with commas, given ${sizes}`);
    return { sizes: numbers, markdown };
  } catch (error) {
    const expected = 'expected options of the scenario redis-memory';
    throw new UsageError([error instanceof Error ? error.message : expected]);
  }
}

function measuredBytes({ measured }: MemoryFigures): number {
  return PARTS.reduce((sum, part) => sum + measured[part], 0);
}

function predictedBytes({ counts }: MemoryFigures): number {
  return PARTS.reduce((sum, part) => sum + counts[part] * BYTES_EACH[part], BASE);
}

function ratioOf(figures: MemoryFigures): number {
  return measuredBytes(figures) / predictedBytes(figures);
}

function report(all: readonly MemoryFigures[]): string {
  const whole = (value: number): string => Math.round(value).toLocaleString('en-US');
  const megabytes = (value: number): string => `${(value / 1e6).toFixed(1)} MB`;
  const totals = all.map((figures) => {
    const counts = PARTS.map((part) => whole(figures.counts[part]));
    const [measured, predicted] = [measuredBytes(figures), predictedBytes(figures)].map(megabytes);
    return `| ${[...counts, measured, predicted, ratioOf(figures).toFixed(2)].join(' | ')} |`;
  });
  const each = PARTS.map((part) => {
    const measured = all.map(({ counts, measured: bytes }) => whole(bytes[part] / counts[part]));
    return `| ${part} | ${whole(BYTES_EACH[part])} | ${measured.join(' | ')} |`;
  });
  const sizes = all.map(({ counts }) => `at ${whole(counts.workload)} workloads`);
  return [
    '| sources | workloads | dependencies | waiting jobs | measured | by the formula | measured / formula |',
    '|---:|---:|---:|---:|---:|---:|---:|',
    ...totals,
    '',
    `| bytes for each | formula | ${sizes.join(' | ')} |`,
    `|---|---:|${sizes.map(() => '---:|').join('')}`,
    ...each,
    '',
    `${new Date().toISOString().slice(0, 10)}, ${machineText(thisMachine())}. Names of about 35 characters; each workload uses a ` +
      'ConfigMap of its own and one that 50 share.',
    '',
  ].join('\n');
}
