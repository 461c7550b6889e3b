import { ClusterError } from '../../../cluster/src/errors.ts';
import { machineText, thisMachine } from '../measure/machine.ts';
import { writeBlock } from '../report/markdown.ts';
import { markdownTable, type Table } from '../report/tables.ts';
import type { Terminal } from '../terminal.ts';
import { containersBelow, workingSet } from './container-memory.ts';
import { ioOf, markdownOption, type Mode, MODES, RealPods } from './real-pods.ts';

const WORKLOADS = 2_000;
/** After the pods are ready, and after the last patch: adoption, Events and garbage collections end. */
const REST_MS = 90_000;

/** Working sets in MB, by pod and container. */
type WorkingSets = ReadonlyMap<string, number>;

interface Measured {
  readonly mode: Mode;
  readonly idle: WorkingSets;
  readonly after: WorkingSets;
}

/** The memory of real pods as the kubelet counts it, in both modes of the chart. */
export async function runPods(argv: readonly string[], terminal: Terminal): Promise<0> {
  const markdown = markdownOption(argv);
  const results = await RealPods.with(WORKLOADS, ioOf(terminal), async (pods) => {
    const measured: Measured[] = [];
    for (const mode of MODES) measured.push(await measure(mode, pods));
    return measured;
  });
  const text = report(results);
  terminal.out(text);
  writeBlock(markdown, 'reroll/pods', text);
  return 0;
}

async function measure(mode: Mode, pods: RealPods): Promise<Measured> {
  await pods.install(mode);
  await pods.rest(REST_MS);
  const idle = await workingSets(pods);
  await pods.change();
  await pods.rest(REST_MS);
  return { mode, idle, after: await workingSets(pods) };
}

/** Read from the cgroups, as the kubelet does: its own statistics need a root file system that it knows. */
async function workingSets(pods: RealPods): Promise<WorkingSets> {
  const folders = containersBelow(pods.cgroup);
  const containers = (await pods.containers()).filter(({ isDone }) => !isDone);
  return new Map(
    containers.map(({ name, id }) => {
      const folder = folders.get(id);
      if (folder === undefined) throw new ClusterError(`expected a cgroup of container ${id}, found none`);
      return [name, workingSet(folder) / 1e6];
    }),
  );
}

function report(all: readonly Measured[]): string {
  const table: Table = [
    ['mode and container', 'idle', 'after 1,000 changes at once'],
    ...all.flatMap(({ mode, idle, after }) => [
      ...[...idle].map(([name, megabytes]) => [
        `${mode}: ${name.slice(name.indexOf('/') + 1)}`,
        mb(megabytes),
        mb(after.get(name) ?? Number.NaN),
      ]),
      [`**${mode}, all pods**`, mb(sum(idle)), mb(sum(after))],
    ]),
  ];
  const shape = `${WORKLOADS.toLocaleString('en-US')} workloads and as many ConfigMaps`;
  const origin = `Working sets as the kubelet counts them, ${shape}, ${REST_MS / 1000} s after the start and after the last patch. ${new Date().toISOString().slice(0, 10)}, ${machineText(thisMachine())}.`;
  return `${markdownTable(table)}\n${origin}\n`;
}

function sum(sets: WorkingSets): number {
  return [...sets.values()].reduce((total, each) => total + each, 0);
}

function mb(megabytes: number): string {
  return Number.isNaN(megabytes) ? 'not measured' : `${megabytes.toFixed(0)} MB`;
}
