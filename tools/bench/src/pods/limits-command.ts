import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { CHART } from '../../../deploy/values/values-comments.ts';
import { measureHistory } from '../history/history-bench.ts';
import { machineText, thisMachine } from '../measure/machine.ts';
import { writeBlock } from '../report/markdown.ts';
import { markdownTable } from '../report/tables.ts';
import type { Terminal } from '../terminal.ts';
import { limitedGroup } from './container-memory.ts';
import { PeakMemory } from './peak-memory.ts';
import { type Io, ioOf, type Mode, MODES, podsOptions, RealPods } from './real-pods.ts';

/** Events are written, and heaps have grown as far as they will. */
const REST_MS = 15_000;
/** For the admin: what its lists are asked of. */
const HISTORY = { changes: 10_000, workloads: 100_000, namespaces: 100, requests: 100 };

interface Row {
  readonly what: string;
  /** In bytes, as all that follow. */
  readonly limit: number;
  readonly peak: number;
  readonly restarts: number;
}

/**
 * Whether the chart's limits of memory hold: real pods start in a cluster with 10,000 workloads and take 1,000 changes at once, and an
 * admin with the limit of its container answers for 100,000 workloads. Exit code 1 if a container was started again.
 */
export async function runLimits(argv: readonly string[], terminal: Terminal): Promise<0 | 1> {
  const { markdown, workloads } = podsOptions(argv, { workloads: 10_000 });
  const io = ioOf(terminal);
  const admin = await measureAdmin(io);
  const pods = await RealPods.with(workloads, io, async (real) => {
    const rows: Row[] = [];
    for (const mode of MODES) rows.push(...(await measure(mode, real)));
    return rows;
  });
  const rows = [...pods, admin];
  const text = report(rows, workloads);
  terminal.out(text);
  writeBlock(markdown, 'reroll/limits', text);
  return rows.every(({ restarts }) => restarts === 0) ? 0 : 1;
}

async function measure(mode: Mode, pods: RealPods): Promise<Row[]> {
  const memory = PeakMemory.below(pods.cgroup);
  try {
    await pods.install(mode);
    await pods.change();
    await pods.rest(REST_MS);
    const containers = await pods.containers();
    return containers.map(({ name, id, restarts }) => ({
      what: `${mode}: ${name.slice(name.indexOf('/') + 1)}`,
      ...memory.of(id),
      restarts,
    }));
  } finally {
    memory.stop();
  }
}

/** It would end if it did not have enough, and the measurement with it. */
async function measureAdmin(io: Io): Promise<Row> {
  const group = limitedGroup(`reroll-bench-${process.pid}`, adminLimit());
  const memory = PeakMemory.in(group.folder);
  try {
    await measureHistory(HISTORY, io, group);
    const workloads = HISTORY.workloads.toLocaleString('en-US');
    return { what: `admin, ${workloads} workloads`, ...memory.of(group.folder), restarts: 0 };
  } finally {
    memory.stop();
    group.remove();
  }
}

/** In bytes. */
function adminLimit(): number {
  const values = parse(readFileSync(join(CHART, 'values.yaml'), 'utf8')) as {
    admin: { resources: { limits: { memory: string } } };
  };
  const { memory } = values.admin.resources.limits;
  const mebibytes = /^(\d+)Mi$/u.exec(memory)?.[1];
  if (mebibytes === undefined) throw new TypeError(`expected a limit in Mi, given ${memory}`);
  return Number(mebibytes) * 2 ** 20;
}

function report(rows: readonly Row[], workloads: number): string {
  const table = markdownTable([
    ['mode and container', 'limit', 'anonymous memory, at most', 'restarts'],
    ...rows.map(({ what, limit, peak, restarts }) => [what, mib(limit), mib(peak), String(restarts)]),
  ]);
  return `${table}\n${workloads.toLocaleString('en-US')} workloads and as many ConfigMaps before the chart is installed, then 1,000 changes at once. Anonymous memory is what the kernel cannot take back; read every ${PeakMemory.EVERY_MS} ms. ${new Date().toISOString().slice(0, 10)}, ${machineText(thisMachine())}.\n`;
}

/** Of 1,048,576 bytes, as the chart's limits are. */
function mib(bytes: number): string {
  return Number.isFinite(bytes) ? `${(bytes / 2 ** 20).toFixed(0)} MiB` : 'none';
}
