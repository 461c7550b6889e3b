import { ClusterError } from '../../../cluster/src/errors.ts';
import { machineText, thisMachine } from '../measure/machine.ts';
import { writeBlock } from '../report/markdown.ts';
import { markdownTable, type Table } from '../report/tables.ts';
import type { Terminal } from '../terminal.ts';
import { containersBelow, workingSet } from './container-memory.ts';
import { PeakMemory } from './peak-memory.ts';
import { ioOf, type Mode, MODES, podsOptions, RealPods } from './real-pods.ts';

/** After the pods are ready, and after the last patch: adoption, Events and garbage collections end. */
const REST_MS = 90_000;

/** In MB, by pod and container. */
type WorkingSets = ReadonlyMap<string, number>;

interface Measured {
  readonly mode: Mode;
  readonly idle: WorkingSets;
  readonly after: WorkingSets;
  /** Anonymous memory in MB, the most that was seen. */
  readonly peak: WorkingSets;
}

/** The memory of real pods as the kubelet counts it, in both modes of the chart. */
export async function runPods(argv: readonly string[], terminal: Terminal): Promise<0> {
  const { markdown, workloads } = podsOptions(argv, { workloads: 2_000 });
  const results = await RealPods.with(workloads, ioOf(terminal), async (pods) => {
    const measured: Measured[] = [];
    for (const mode of MODES) measured.push(await measure(mode, pods));
    return measured;
  });
  const text = report(results, workloads);
  terminal.out(text);
  writeBlock(markdown, 'reroll/pods', text);
  return 0;
}

async function measure(mode: Mode, pods: RealPods): Promise<Measured> {
  const memory = PeakMemory.below(pods.cgroup);
  try {
    await pods.install(mode);
    await pods.rest(REST_MS);
    const idle = await workingSets(pods);
    await pods.change();
    await pods.rest(REST_MS);
    const running = await runningIn(pods);
    const peak = new Map(running.map(({ name, id }) => [name, memory.of(id).peak / 1e6]));
    return { mode, idle, after: await workingSets(pods), peak };
  } finally {
    memory.stop();
  }
}

/** Read from the cgroups, as the kubelet does: its own statistics need a root file system that it knows. */
async function workingSets(pods: RealPods): Promise<WorkingSets> {
  const folders = containersBelow(pods.cgroup);
  return new Map(
    (await runningIn(pods)).map(({ name, id }) => {
      const folder = folders.get(id);
      if (folder === undefined) throw new ClusterError(`expected a cgroup of container ${id}, found none`);
      return [name, workingSet(folder) / 1e6];
    }),
  );
}

async function runningIn(pods: RealPods): ReturnType<RealPods['containers']> {
  return (await pods.containers()).filter(({ isDone }) => !isDone);
}

function report(all: readonly Measured[], workloads: number): string {
  const table: Table = [
    ['mode and container', 'idle', 'after 1,000 changes at once', 'anonymous memory, at most'],
    ...all.flatMap(({ mode, idle, after, peak }) => [
      ...[...idle].map(([name, megabytes]) => [
        `${mode}: ${name.slice(name.indexOf('/') + 1)}`,
        mb(megabytes),
        mb(after.get(name) ?? Number.NaN),
        mb(peak.get(name) ?? Number.NaN),
      ]),
      [`**${mode}, all pods**`, mb(sum(idle)), mb(sum(after)), ''],
    ]),
  ];
  const shape = `${workloads.toLocaleString('en-US')} workloads and as many ConfigMaps`;
  const origin = `Working sets as the kubelet counts them, ${shape}, ${REST_MS / 1000} s after the start and after the last patch. Anonymous memory from the start on, read every ${PeakMemory.EVERY_MS} ms. ${new Date().toISOString().slice(0, 10)}, ${machineText(thisMachine())}.`;
  return `${markdownTable(table)}\n${origin}\n`;
}

function sum(sets: WorkingSets): number {
  return [...sets.values()].reduce((total, each) => total + each, 0);
}

function mb(megabytes: number): string {
  return Number.isNaN(megabytes) ? 'not measured' : `${megabytes.toFixed(0)} MB`;
}
