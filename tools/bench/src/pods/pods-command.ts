import { existsSync, globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { bringImages } from '../../../../e2e/install/support/images.ts';
import { type Cluster, startCluster } from '../../../cluster/src/cluster.ts';
import { ClusterError, messageOf, UsageError } from '../../../cluster/src/errors.ts';
import { ADMISSION_ARGS, NAMESPACE_ANNOTATIONS, placeOf } from '../../../cluster/src/node/place.ts';
import { run } from '../../../cluster/src/run.ts';
import { ensureHelm } from '../../../deploy/ensure-helm.ts';
import { CHART } from '../../../deploy/values/values-comments.ts';
import { Api } from '../api.ts';
import { Changer } from '../changes.ts';
import { machineText, thisMachine } from '../measure/machine.ts';
import { RolloutLog } from '../measure/rollout-log.ts';
import { RolloutWatch } from '../measure/rollout-watch.ts';
import { writeBlock } from '../report/markdown.ts';
import { markdownTable, type Table } from '../report/tables.ts';
import type { Terminal } from '../terminal.ts';
import { createWorkSet, type WorkSet } from '../work-set.ts';

const SHAPE = { prefix: 'pods', workloads: 2_000, namespaces: 10, sharing: 1 };
const CHANGES = 1_000;
const WRITERS = 100;
const MODES = ['standalone', 'distributed'] as const;
const RELEASE_NAMESPACE = 'reroll';
const CGROUPS = '/sys/fs/cgroup';
/** After the pods are ready, and after the last patch: adoption, Events and garbage collections end. */
const REST_MS = 90_000;
const ROLLED_WITHIN_MS = 180_000;

type Mode = (typeof MODES)[number];

/** Working sets in MB, by pod and container. */
type WorkingSets = ReadonlyMap<string, number>;

interface Measured {
  readonly mode: Mode;
  readonly idle: WorkingSets;
  readonly after: WorkingSets;
}

/** The memory of real pods as the kubelet counts it, in both modes of the chart. Needs root, as every real node. */
export async function runPods(argv: readonly string[], terminal: Terminal): Promise<0> {
  const { markdown } = parse(argv);
  const io = { log: (line: string) => terminal.err(`${line}\n`), signal: terminal.signal };
  const text = report(await measure(io));
  terminal.out(text);
  writeBlock(markdown, 'reroll/pods', text);
  return 0;
}

function parse(argv: readonly string[]): { markdown: string | undefined } {
  const text = { type: 'string' } as const;
  try {
    const { values } = parseArgs({ args: [...argv], options: { scenario: text, markdown: text } });
    return { markdown: values.markdown };
  } catch (error) {
    throw new UsageError([messageOf(error)]);
  }
}

interface Io {
  readonly log: (line: string) => void;
  readonly signal: AbortSignal;
}

async function measure(io: Io): Promise<Measured[]> {
  const dir = mkdtempSync(join(tmpdir(), 'reroll-bench-pods-'));
  const open: { cluster?: Cluster; api?: Api } = {};
  try {
    open.cluster = await startCluster({
      dir: join(dir, 'cluster'),
      realNodes: 1,
      apiServerArgs: ADMISSION_ARGS,
      ...io,
    });
    await bringImages(open.cluster, io.log);
    const api = (open.api = new Api(open.cluster.kubeconfig));
    const metadata = { name: RELEASE_NAMESPACE, annotations: NAMESPACE_ANNOTATIONS };
    await api.client.post('/api/v1/namespaces', { metadata });
    const generations = new Map<string, number>();
    const set = await createWorkSet(
      { ...io, api, generations } as Parameters<typeof createWorkSet>[0],
      SHAPE,
    );
    const helm = await helmOf(open.cluster, dir, io.log);
    const results: Measured[] = [];
    for (const mode of MODES) results.push(await measureMode(mode, { api, set, generations, helm, io }));
    return results;
  } finally {
    await open.api?.close();
    await open.cluster?.stop();
    rmSync(dir, { recursive: true, force: true });
  }
}

type Helm = (...args: readonly string[]) => Promise<void>;

async function helmOf({ kubeconfig }: Cluster, dir: string, log: (line: string) => void): Promise<Helm> {
  const program = await ensureHelm({ log });
  const folders = { HELM_CACHE_HOME: dir, HELM_CONFIG_HOME: dir, HELM_DATA_HOME: dir };
  return async (...args) => {
    const env = { KUBECONFIG: kubeconfig, ...folders };
    const { code, tail } = await run(program, [...args, '--namespace', RELEASE_NAMESPACE], { env });
    if (code !== 0) throw new ClusterError(`helm ${args.join(' ')} ended with code ${code}: ${tail}`);
  };
}

interface Setting {
  readonly api: Api;
  readonly set: WorkSet;
  readonly generations: Map<string, number>;
  readonly helm: Helm;
  readonly io: Io;
}

async function measureMode(mode: Mode, { api, set, generations, helm, io }: Setting): Promise<Measured> {
  io.log(`${mode}: installing the chart`);
  await helm('upgrade', '--install', 'reroll', CHART, '--set', `mode=${mode}`, '--wait', '--timeout', '180s');
  const log = new RolloutLog(generations, new Map());
  const watch = new RolloutWatch(api.client, log);
  const client = api.open(WRITERS);
  try {
    await watch.start();
    await sleep(REST_MS, undefined, { signal: io.signal });
    const idle = await workingSets(api);
    const changer = new Changer(client, set, { log, signal: io.signal });
    await changer.changeAll(set.sources.slice(0, CHANGES), WRITERS);
    const deadline = performance.now() + ROLLED_WITHIN_MS;
    while (log.pending > 0 && performance.now() < deadline) {
      watch.verify();
      await sleep(50, undefined, { signal: io.signal });
    }
    if (log.pending > 0)
      throw new ClusterError(`${mode}: ${log.pending} of ${CHANGES} changes were not rolled`);
    await sleep(REST_MS, undefined, { signal: io.signal });
    return { mode, idle, after: await workingSets(api) };
  } finally {
    await watch.stop();
    await client.close();
  }
}

interface PodList {
  readonly items: readonly {
    readonly metadata: { readonly name: string };
    readonly status?: {
      readonly containerStatuses?: readonly { readonly name: string; readonly containerID?: string }[];
    };
  }[];
}

/** Of each container of the release. Read from the cgroups, as the kubelet does: its own statistics need a root file system that it knows. */
async function workingSets({ client }: Api): Promise<WorkingSets> {
  const { body } = await client.get<PodList>(`/api/v1/namespaces/${RELEASE_NAMESPACE}/pods`);
  const { cgroup } = placeOf('', Number(new URL(client.server).port));
  return new Map(
    body.items.flatMap(({ metadata, status }) =>
      (status?.containerStatuses ?? []).map(({ name, containerID = '' }) => [
        `${metadata.name}/${name}`,
        workingSet(cgroup, containerID.slice(containerID.lastIndexOf('/') + 1)) / 1e6,
      ]),
    ),
  );
}

/** Memory of a container without the file pages that nobody has used for long, in bytes; for either version of cgroups. */
function workingSet(cgroup: string, id: string): number {
  const [folder] = globSync([join(CGROUPS, cgroup, '**', id), join(CGROUPS, 'memory', cgroup, '**', id)]);
  if (folder === undefined) throw new ClusterError(`expected a cgroup of container ${id} below ${cgroup}`);
  const isVersion2 = existsSync(join(folder, 'memory.current'));
  const read = (file: string): string => readFileSync(join(folder, file), 'utf8');
  const used = Number(read(isVersion2 ? 'memory.current' : 'memory.usage_in_bytes'));
  const inactive = isVersion2 ? /^inactive_file (\d+)$/mu : /^total_inactive_file (\d+)$/mu;
  return used - Number(inactive.exec(read('memory.stat'))?.[1]);
}

function report(all: readonly Measured[]): string {
  const table: Table = [
    ['mode and container', 'idle', `after ${CHANGES.toLocaleString('en-US')} changes at once`],
    ...all.flatMap(({ mode, idle, after }) => [
      ...[...idle].map(([name, megabytes]) => [
        `${mode}: ${name.slice(name.indexOf('/') + 1)}`,
        mb(megabytes),
        mb(after.get(name) ?? Number.NaN),
      ]),
      [`**${mode}, all pods**`, mb(sum(idle)), mb(sum(after))],
    ]),
  ];
  const shape = `${SHAPE.workloads.toLocaleString('en-US')} workloads and as many ConfigMaps`;
  const origin = `Working sets as the kubelet counts them, ${shape}, ${REST_MS / 1000} s after the start and after the last patch. ${new Date().toISOString().slice(0, 10)}, ${machineText(thisMachine())}.`;
  return `${markdownTable(table)}\n${origin}\n`;
}

function sum(sets: WorkingSets): number {
  return [...sets.values()].reduce((total, each) => total + each, 0);
}

function mb(megabytes: number): string {
  return Number.isNaN(megabytes) ? 'not measured' : `${megabytes.toFixed(0)} MB`;
}
