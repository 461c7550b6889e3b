import { mkdtempSync, rmSync } from 'node:fs';
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
import { RolloutLog } from '../measure/rollout-log.ts';
import { RolloutWatch } from '../measure/rollout-watch.ts';
import type { Terminal } from '../terminal.ts';
import { createWorkSet, type WorkSet } from '../work-set.ts';

export const MODES = ['standalone', 'distributed'] as const;
export type Mode = (typeof MODES)[number];

const CHANGES = 1_000;
const WRITERS = 100;
const RELEASE_NAMESPACE = 'reroll';
const ROLLED_WITHIN_MS = 900_000;

export interface Io {
  readonly log: (line: string) => void;
  readonly signal: AbortSignal;
}

export function ioOf(terminal: Terminal): Io {
  return { log: (line) => terminal.err(`${line}\n`), signal: terminal.signal };
}

export interface PodsOptions {
  readonly markdown: string | undefined;
  readonly workloads: number;
}

/** Reads the options of these scenarios. `workloads` is the default. */
export function podsOptions(argv: readonly string[], { workloads }: { workloads: number }): PodsOptions {
  const text = { type: 'string' } as const;
  try {
    const options = { scenario: text, markdown: text, workloads: text };
    const { values } = parseArgs({ args: [...argv], options });
    const given = Number(values.workloads ?? workloads);
    if (!Number.isSafeInteger(given) || given < CHANGES)
      throw new TypeError(`--workloads: expected a whole number from ${CHANGES}, given ${values.workloads}`);
    return { markdown: values.markdown, workloads: given };
  } catch (error) {
    throw new UsageError([messageOf(error)]);
  }
}

interface Container {
  /** `<pod>/<container>`. */
  readonly name: string;
  readonly id: string;
  readonly restarts: number;
  /** Of a Job that has succeeded. */
  readonly isDone: boolean;
}

interface PodList {
  readonly items: readonly {
    readonly metadata: { readonly name: string };
    readonly status?: {
      readonly phase?: string;
      readonly containerStatuses?: readonly {
        readonly name: string;
        readonly containerID?: string;
        readonly restartCount: number;
      }[];
    };
  }[];
}

/** The chart in real pods of a cluster with many workloads. Needs root, as every real node. */
export class RealPods {
  readonly #api: Api;
  readonly #set: WorkSet;
  readonly #generations: Map<string, number>;
  readonly #helm: Helm;
  readonly #io: Io;

  private constructor(by: { api: Api; set: WorkSet; generations: Map<string, number>; helm: Helm; io: Io }) {
    this.#api = by.api;
    this.#set = by.set;
    this.#generations = by.generations;
    this.#helm = by.helm;
    this.#io = by.io;
  }

  /** A cluster with so many workloads, each with a ConfigMap of its own. It ends with `use`. */
  static async with<T>(workloads: number, io: Io, use: (pods: RealPods) => Promise<T>): Promise<T> {
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
      const into = { ...io, api, generations, cluster: open.cluster };
      const set = await createWorkSet(into, { prefix: 'pods', workloads, namespaces: 10, sharing: 1 });
      const helm = await helmOf(open.cluster, dir, io.log);
      return await use(new RealPods({ api, set, generations, helm, io }));
    } finally {
      await open.api?.close();
      await open.cluster?.stop();
      rmSync(dir, { recursive: true, force: true });
    }
  }

  /** The cgroup that those of all containers are below. */
  get cgroup(): string {
    return placeOf('', Number(new URL(this.#api.client.server).port)).cgroup;
  }

  /** Resolves when every pod is ready. */
  async install(mode: Mode): Promise<void> {
    this.#io.log(`${mode}: installing the chart`);
    const wait = ['--wait', '--timeout', '600s'];
    await this.#helm('upgrade', '--install', 'reroll', CHART, '--set', `mode=${mode}`, ...wait);
  }

  async rest(milliseconds: number): Promise<void> {
    await sleep(milliseconds, undefined, { signal: this.#io.signal });
  }

  /** Changes 1,000 ConfigMaps at once. Resolves when the workloads of all of them are patched. */
  async change(): Promise<void> {
    const { signal } = this.#io;
    const log = new RolloutLog(this.#generations, new Map());
    const watch = new RolloutWatch(this.#api.client, log);
    const client = this.#api.open(WRITERS);
    try {
      await watch.start();
      const changer = new Changer(client, this.#set, { log, signal });
      await changer.changeAll(this.#set.sources.slice(0, CHANGES), WRITERS);
      const deadline = performance.now() + ROLLED_WITHIN_MS;
      while (log.pending > 0 && performance.now() < deadline) {
        watch.verify();
        await this.rest(50);
      }
      if (log.pending > 0) throw new ClusterError(`${log.pending} of ${CHANGES} changes were not rolled`);
    } finally {
      await watch.stop();
      await client.close();
    }
  }

  /** Those of the release, in the order of their pods' names. */
  async containers(): Promise<Container[]> {
    const { body } = await this.#api.client.get<PodList>(`/api/v1/namespaces/${RELEASE_NAMESPACE}/pods`);
    return body.items.flatMap(({ metadata, status }) =>
      (status?.containerStatuses ?? []).map(({ name, containerID = '', restartCount }) => ({
        name: `${metadata.name}/${name}`,
        id: containerID.slice(containerID.lastIndexOf('/') + 1),
        restarts: restartCount,
        isDone: status?.phase === 'Succeeded',
      })),
    );
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
