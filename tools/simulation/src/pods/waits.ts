/** Callers of `kubectl reroll wait --converged`, as it ships, and what it has promised them. */
import { join } from 'node:path';
import { keyOf } from '@reroll/core/model';
import { KubeClient } from '@reroll/kube/client/connection';
import { KubeError } from '@reroll/kube/client/errors';
import { ConvergenceReading, type Consumer } from '@reroll/kube/convergence/convergence-reading';
import type { Session } from '../../../../apps/cli/src/session.ts';
import type { ApiObject } from '../api/api-object.ts';
import { simulatedKubeConfig, type SimulatedApi } from '../api/simulated-api.ts';
import type { WorldWriter } from '../api/world-writer.ts';
import { Random } from '../random.ts';
import type { Events, Owner } from '../scheduler.ts';
import { SERVERS } from '../stale-servers.ts';
import { uses } from '../world/depends-on.ts';
import { templateOf } from '../world/objects.ts';
import { deploymentOf } from '../world/restarts.ts';
import { NAMESPACES } from '../world/shapes.ts';
import { isGivenOnce } from './pod-form.ts';
import { Kubelets, type Held } from './kubelets.ts';
import { SourceVersions, type SourceVersion } from './source-versions.ts';
import { WAITED } from './wait-steps.ts';

const WAIT = join(import.meta.dirname, '../../../../apps/cli/build/commands/wait-until-converged.js');
type Module = typeof import('../../../../apps/cli/src/commands/wait-until-converged.ts');
type Answer = Awaited<ReturnType<Module['waitUntilConverged']>>;

let cli: Module | undefined;

/** So that no run has to wait for a file. Build first. */
export async function loadWait(): Promise<void> {
  cli ??= (await import(WAIT)) as Module;
}

/** `--kubelet-delay` in seconds: more than a simulated kubelet takes, whose clock may be off. */
const DELAY = 18;
/**
 * In the end, in virtual milliseconds: a write that may be hidden counts for `DELAY` from the first look, and the pauses between two
 * looks grow to 10 s.
 */
export const LAST_WAIT = 30_000;

export interface WaitsBy {
  readonly seed: number;
  readonly events: Events;
  readonly api: SimulatedApi;
  /** Counts what happened. */
  readonly seen: (what: string) => void;
  readonly log: (line: string) => void;
  readonly violation: (kind: 'early' | 'failed', text: string) => void;
}

/**
 * Never early: once it has said that a source converged, no container has older data of that source than it had when the API server
 * answered the last read of that wait. That holds for what runs at that moment, also in a pod that is being deleted, and for an init container that has ended in a
 * pod that has not; and from then on for everything that starts. `Older` is by the write: data that come back are other data. Of a
 * volume it holds for the files, which a process may not have read again; of `imagePullSecrets`, for pulls.
 *
 * Never wrong: a use that `kubectl reroll stale` says is `current` has no older data than the source had when it was read.
 *
 * In the end it says that a source converged, within `LAST_WAIT`, if by docs/guide/change-safely.md every use is `current`.
 */
export class Waits {
  readonly #by: WaitsBy;
  readonly #random: Random;
  readonly #versions = new SourceVersions();
  readonly #kubelets: Kubelets;
  readonly #world: WorldWriter;
  /** The least that containers that start may have, by source. */
  readonly #promised = new Map<string, SourceVersion>();
  /** Sources of which a wait that has to converge has not ended. */
  readonly #open = new Set<string>();

  constructor(by: WaitsBy) {
    const { events, api, seed } = by;
    this.#by = by;
    this.#random = new Random(seed ^ 0xb0d5);
    this.#world = api.as('world');
    api.onChange((change) => this.#versions.noted(change));
    this.#kubelets = new Kubelets({
      scheduler: events,
      api,
      random: this.#random,
      versions: this.#versions,
      started: (held) => this.#check(held, this.#promised.get(held.use.source) ?? 0),
      back: ({ id }) => this.#lookSoon(id.namespace),
    });
    this.#compactLater();
  }

  /** After that, the API server has no list any more of the pods that were there at an earlier write. */
  #compactLater(): void {
    const { events, api } = this.#by;
    events.after(this.#random.between(5_000, 60_000), undefined, () => {
      api.compact(api.etcd.revision);
      this.#compactLater();
    });
  }

  /** The workload has new pods. */
  podsStarted(workload: ApiObject): void {
    const [kind = '', namespace = workload.metadata.namespace ?? '', name = ''] =
      deploymentOf(workload)?.split('/') ?? [];
    const holder = kind === '' ? workload : this.#world.get({ kind, namespace, name });
    const template = holder && templateOf(holder);
    const used = WAITED.map((ref) => ref.split('/') as [string, string]).filter((ref) =>
      uses(template, ...ref),
    );
    this.#kubelets.replace(
      workload,
      used.map(([of, source]) => `${of}/${namespace}/${source}`),
    );
  }

  /** Faults have ended. */
  healed(): void {
    this.#kubelets.calm();
  }

  /** For each source. Nothing changes any more. */
  beginLast(): void {
    for (const namespace of NAMESPACES)
      for (const ref of WAITED) {
        const [kind = '', name = ''] = ref.split('/');
        if (this.#world.get({ kind, namespace, name }) === undefined) continue;
        const source = `${kind}/${namespace}/${name}`;
        const isCertain = this.#kubelets.held(source).every((held) => this.#isCurrent(held));
        this.begin(source, LAST_WAIT, isCertain);
      }
  }

  begin(source: string, timeoutMs: number, isCertain = false): void {
    this.#lookSoon(source.split('/')[1] ?? '');
    if (isCertain) this.#open.add(source);
    const { events, violation } = this.#by;
    const caller: Owner = {
      name: 'kubectl',
      isAlive: true,
      clockSkew: this.#random.pick([0, 0, -120_000, 120_000]),
    };
    const server = this.#random.pick(SERVERS);
    events.after(0, caller, () => {
      this.#wait(source, timeoutMs, { caller, server }).then(
        (outcome) => this.#ended(source, outcome, isCertain),
        (error: unknown) => violation('failed', `wait for ${source} rejects: ${String(error)}`),
      );
    });
  }

  /** At the end of the run. */
  judge(): void {
    for (const source of this.#open) this.#by.violation('failed', `a wait for ${source} has not ended`);
  }

  #ended(source: string, outcome: string, isCertain: boolean): void {
    const { seen, log, violation } = this.#by;
    log(`waited for ${source}: ${outcome}`);
    seen(`wait: ${outcome}`);
    if (!isCertain) return;
    this.#open.delete(source);
    seen('wait: had to converge');
    if (outcome !== 'converged' && outcome !== 'nobody uses it')
      violation('failed', `wait says of ${source}: ${outcome}, though it had to converge`);
  }

  async #wait(
    source: string,
    timeoutMs: number,
    { caller, server }: { caller: Owner; server: string },
  ): Promise<string> {
    if (cli === undefined) throw new Error('expected the CLI to be loaded');
    const [kind, namespace, name] = source.split('/') as ['ConfigMap' | 'Secret', string, string];
    const client = this.#client(caller, server);
    const read = { revision: 0 };
    const session = sessionOf(client, (revision) => void (read.revision = Math.max(read.revision, revision)));
    try {
      const answer = await cli.waitUntilConverged(session, {
        source: { kind, namespace, name },
        timeoutMs,
        delay: DELAY,
      });
      if (answer.isConverged) this.#converged(source, read.revision);
      return outcomeOf(answer);
    } catch (error) {
      if (!(error instanceof Error) || !['CliError', 'KubeError'].includes(error.constructor.name))
        throw error;
      return 'refused';
    } finally {
      await client.close();
    }
  }

  #client(caller: Owner, server: string): KubeClient {
    const { api } = this.#by;
    return new KubeClient({
      userAgent: 'kubectl-reroll',
      load: () => simulatedKubeConfig(),
      openPool: () => api.pool(caller, () => api.server(server)),
    });
  }

  /** Soon, somebody looks once, as `kubectl reroll stale` does. */
  #lookSoon(namespace: string): void {
    const { events, violation } = this.#by;
    const caller: Owner = { name: 'kubectl', isAlive: true };
    const server = this.#random.pick(SERVERS);
    events.after(this.#random.between(1, 2_000), caller, () => {
      const client = this.#client(caller, server);
      this.#look(client, namespace)
        .catch((error: unknown) => {
          if (!(error instanceof KubeError)) violation('failed', `a look rejects: ${String(error)}`);
        })
        .finally(() => void client.close());
    });
  }

  async #look(client: KubeClient, namespace: string): Promise<void> {
    const { signal } = new AbortController();
    const reading = new ConvergenceReading({ client, now: () => Date.now(), signal, delay: DELAY });
    const { using } = await reading.pods(namespace, () => true);
    const sources = await reading.sourcesOf(using);
    for (const consumer of await reading.consumers(using, sources)) {
      this.#by.seen(`use: ${consumer.state}`);
      const source = keyOf(consumer.source);
      const { writes } = sources.get(source) ?? { writes: 'absent' };
      if (consumer.state !== 'current' || typeof writes === 'string') continue;
      const version = this.#versions.ofRevision(source, Number(writes.rv)) ?? 0;
      for (const held of this.#kubelets.held(source)) if (isOf(held, consumer)) this.#check(held, version);
    }
  }

  #converged(source: string, revision: number): void {
    const promised = this.#versions.ofRevision(source, revision) ?? 0;
    this.#promised.set(source, Math.max(promised, this.#promised.get(source) ?? 0));
    for (const held of this.#kubelets.held(source)) this.#check(held, promised);
  }

  #check({ pod, use, version }: Held, promised: SourceVersion): void {
    if (version >= promised) return;
    const { namespace, name } = pod.id;
    const what = `${namespace}/${name} ${use.container} (${use.by}) has ${use.source} of ${version}`;
    this.#by.violation('early', `it was said to have the data of ${promised}, but ${what}`);
  }

  /** By the documentation. */
  #isCurrent({ pod, use, startedAt }: Held): boolean {
    const writtenAt = this.#versions.writtenAt(use.source);
    const noticedAt = writtenAt + DELAY * 1_000;
    if (Math.floor(pod.createdAt / 1_000) > Math.floor(writtenAt / 1_000)) return true;
    const restartedAt = startedAt + pod.clock - 1_000;
    if (isGivenOnce(use)) return restartedAt > noticedAt;
    const isReady = !pod.isEnding && pod.containers.every(({ state }) => state !== 'waiting');
    return isReady && this.#by.events.now() > noticedAt;
  }
}

function isOf({ pod, use }: Held, { pod: name, container, use: by }: Consumer): boolean {
  return (
    pod.id.name === name && use.container === container && (use.by === 'projected' ? 'volume' : use.by) === by
  );
}

/** What the command uses of its session. `seen`: something was read at this resourceVersion or later. */
function sessionOf(client: KubeClient, seen: (revision: number) => void): Session {
  const get: KubeClient['get'] = async <T>(...request: Parameters<KubeClient['get']>) => {
    const answer = await client.get<T>(...request);
    seen(Number((answer.body as ApiObject).metadata.resourceVersion));
    return answer;
  };
  const io = { now: () => Date.now(), signal: new AbortController().signal, err: () => undefined };
  return { io, cluster: { client: { get } } } as unknown as Session;
}

function outcomeOf({ isConverged, consumers, error }: Answer): string {
  if (isConverged) return consumers.length > 0 ? 'converged' : 'nobody uses it';
  if (error !== undefined) return 'no answer';
  return consumers.some(({ state }) => state === 'stale') ? 'stale' : 'unknown';
}
