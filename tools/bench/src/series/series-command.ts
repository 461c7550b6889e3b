import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { messageOf, UsageError } from '../../../cluster/src/errors.ts';
import type { Bench } from '../bench.ts';
import { type Io, withBench } from '../clusters.ts';
import { machineText, thisMachine } from '../measure/machine.ts';
import { measure } from '../measure/measure.ts';
import { REROLL } from '../options.ts';
import type { Figures } from '../report/figures.ts';
import { writeBlock } from '../report/markdown.ts';
import { markdownTable, type Table } from '../report/tables.ts';
import { SCENARIOS, withOverrides } from '../scenarios.ts';
import type { Terminal } from '../terminal.ts';
import { DelayProxy } from './delay-proxy.ts';
import { lineChart, type Point } from './line-chart.ts';

/** How far away the API server is in `workers`, in milliseconds. */
const AWAY_MS = 20;
const CHANGES = 300;
/** Of each worker in `workers`: few, so that it is the distance that limits a worker, and not the two cores of a small machine. */
const CONCURRENCY = 2;

interface Given {
  /** The x values. */
  readonly sizes: readonly number[];
  readonly repeat: number;
  readonly markdown: string | undefined;
  readonly svg: string | undefined;
}

/** One change at a time, in clusters of several sizes. Exit code 1 if anything was missed or rolled twice. */
export async function runSizes(argv: readonly string[], terminal: Terminal): Promise<0 | 1> {
  const given = parse(argv, [200, 2_000, 20_000]);
  const all: Figures[] = [];
  for (const workloads of given.sizes) {
    const scenario = withOverrides(SCENARIOS.idle, { workloads });
    const work = async (bench: Bench): Promise<Figures> => (await measure(bench, scenario)).figures;
    all.push(await onOneCluster(given, { terminal, reroll: REROLL, work }));
  }
  const table = [
    ['workloads', 'one change, p50', 'p90', 'missed', 'rollouts too many'],
    ...given.sizes.map((size, index) => {
      const { singleP50Ms = Number.NaN, singleP90Ms = Number.NaN, missed, duplicates } = all[index] ?? {};
      return [size.toLocaleString('en-US'), ms(singleP50Ms), ms(singleP90Ms), `${missed}`, `${duplicates}`];
    }),
  ];
  const points = given.sizes.map((x, index) => ({ x, y: all[index]?.singleP50Ms ?? Number.NaN }));
  const text = {
    title: 'One change, from write to patch (p50)',
    x: 'workloads in the cluster',
    y: 'milliseconds',
  };
  return finish(given, { name: 'reroll/sizes', table, points, text, all, terminal });
}

/** Changes at once with 1, 2 and 4 workers, and an API server that is far away. */
export async function runWorkers(argv: readonly string[], terminal: Terminal): Promise<0 | 1> {
  const given = parse(argv, [1, 2, 4]);
  const all: Figures[] = [];
  for (const workers of given.sizes) {
    const scenario = withOverrides(SCENARIOS.hundred, { changes: CHANGES });
    const reroll = { ...REROLL, workers, concurrency: CONCURRENCY };
    const work = (bench: Bench): Promise<Figures> =>
      fromAfar(bench, async (away) => (await measure(away, scenario)).figures);
    all.push(await onOneCluster(given, { terminal, reroll, work }));
  }
  const points = given.sizes.map((x, index) => ({ x, y: perSecond(all[index] ?? {}) }));
  const table = [
    ['workers', 'reloads a second', 'against the row above', 'missed', 'rollouts too many'],
    ...points.map(({ x, y }, index) => {
      const { missed, duplicates } = all[index] ?? {};
      const before = points[index - 1]?.y;
      const growth = before === undefined ? '' : `${(y / before).toFixed(2)}x`;
      return [`${x}`, y.toFixed(0), growth, `${missed}`, `${duplicates}`];
    }),
  ];
  const text = {
    title: `Reloads a second, API server ${AWAY_MS} ms away`,
    x: 'workers',
    y: 'reloads a second',
  };
  return finish(given, { name: 'reroll/workers', table, points, text, all, terminal });
}

function perSecond({ rolled = Number.NaN, totalMs = Number.NaN }: Figures): number {
  return (1000 * rolled) / totalMs;
}

function ms(value: number): string {
  return `${value.toFixed(1)} ms`;
}

function parse(argv: readonly string[], sizes: readonly number[]): Given {
  const text = { type: 'string' } as const;
  try {
    const options = { scenario: text, sizes: text, repeat: text, markdown: text, svg: text };
    const { values } = parseArgs({ args: [...argv], options });
    const numbers = values.sizes === undefined ? sizes : values.sizes.split(',').map(Number);
    const repeat = Number(values.repeat ?? '1');
    if (![...numbers, repeat].every((each) => Number.isSafeInteger(each) && each > 0))
      throw new TypeError('--sizes and --repeat: expected whole numbers from 1');
    return { sizes: numbers, repeat, markdown: values.markdown, svg: values.svg };
  } catch (error) {
    throw new UsageError([messageOf(error)]);
  }
}

interface Run {
  readonly terminal: Terminal;
  readonly reroll: typeof REROLL;
  readonly work: (bench: Bench) => Promise<Figures>;
}

async function onOneCluster({ repeat }: Given, { terminal, reroll, work }: Run): Promise<Figures> {
  const io: Io = { log: (line) => terminal.err(`${line}\n`), signal: terminal.signal };
  const options = { scenarios: [], repeat, subject: { reroll }, json: undefined, markdown: undefined };
  return await withBench({ options, controllerManager: false }, io, work);
}

/** Lets the reloader reach the API server by a proxy; the bench itself does not use it. */
async function fromAfar<T>(bench: Bench, work: (away: Bench) => Promise<T>): Promise<T> {
  const kubeconfig = readFileSync(bench.cluster.kubeconfig, 'utf8');
  const port = Number(/server: https:\/\/127\.0\.0\.1:(\d+)/u.exec(kubeconfig)?.[1]);
  const proxy = await DelayProxy.start(port, AWAY_MS);
  try {
    const file = join(bench.dir, 'kubeconfig-away.yaml');
    writeFileSync(file, kubeconfig.replaceAll(`127.0.0.1:${port}`, `127.0.0.1:${proxy.port}`), {
      mode: 0o600,
    });
    const cluster = Object.create(bench.cluster, { kubeconfig: { value: file } }) as Bench['cluster'];
    return await work({ ...bench, cluster });
  } finally {
    await proxy.stop();
  }
}

interface Outcome {
  readonly name: string;
  readonly table: Table;
  readonly points: readonly Point[];
  readonly text: Parameters<typeof lineChart>[1];
  readonly all: readonly Figures[];
  readonly terminal: Terminal;
}

function finish(
  { markdown, svg, repeat }: Given,
  { name, table, points, text, all, terminal }: Outcome,
): 0 | 1 {
  const runs = repeat === 1 ? '' : ` Median of ${repeat} runs.`;
  const origin = `${new Date().toISOString().slice(0, 10)}, ${machineText(thisMachine())}, controller-manager off, \`--debounce=0\`.${runs}`;
  const block = `${markdownTable(table)}\n${origin}`;
  terminal.out(`${block}\n`);
  writeBlock(markdown, name, block);
  if (svg !== undefined) writeFileSync(svg, lineChart(points, text));
  return all.every(({ missed, duplicates }) => missed === 0 && duplicates === 0) ? 0 : 1;
}
