import { setImmediate as nextTurn } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { DEFAULT_ANNOTATION_KEYS as KEYS } from '@reroll/core/annotations/annotation-keys';
import { ClusterState } from '@reroll/core/state/cluster-state';
import { observeSource } from '@reroll/core/state/observe';
import type { ObservedSource, ObservedWorkload } from '@reroll/core/state/rows';
import type { KubeObject } from '@reroll/kube/objects';
import { configMap } from '@reroll/kube/sources/config-map';
import { deployment } from '@reroll/kube/workloads/deployment';
import { observed } from '@reroll/kube/workloads/observe';
import { servedSource, servedWorkload, type Served } from './state-load.ts';

export interface StateFigures {
  /** Workloads, and as many sources. */
  readonly size: number;
  /** Bytes in V8's heap for each, after a collection. */
  readonly bytesEach: { readonly source: number; readonly workload: number };
  /** Resident bytes of this process: when it began, at most. */
  readonly resident: { readonly before: number; readonly peak: number };
  /** Milliseconds, as all times of CPU of the main thread, whoever else uses the machine. Objects are parsed in this time. */
  readonly sync: number;
  /** Milliseconds of an event of a source that one workload uses, with the evaluation of that: the mean, as the kernel counts in ticks. */
  readonly event: number;
  readonly longestTurn: number;
}

/** As the reflector hands objects of a list over, and as the watcher publishes rows. */
const PORTION = 100;
const ROWS = 250;
const EVENTS = 1_000;
const SOURCES = { kind: 'ConfigMap', namespace: '' };
const WORKLOADS = { kind: 'Deployment', namespace: '' };
const NO_ROWS = new Map<string, never>();

/** Feeds a cluster state as a watcher's streams do, without an API server, a catalog and queues. */
export async function measureState(size: number, signal: AbortSignal): Promise<StateFigures> {
  const before = process.memoryUsage.rss();
  const run = new StateRun(size, signal);
  const empty = heapUsed();
  const begin = now();
  await run.listSources();
  const withSources = run.aside(heapUsed);
  await run.listWorkloads();
  const sync = now() - begin - run.timeAside;
  const all = run.aside(heapUsed);
  const event = await run.events();
  return {
    size,
    bytesEach: { source: (withSources - empty) / size, workload: (all - withSources) / size },
    resident: { before, peak: process.resourceUsage().maxRSS * 1024 },
    sync,
    event,
    longestTurn: run.longestTurn,
  };
}

function now(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}

function heapUsed(): number {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  collect();
  collect();
  return process.memoryUsage().heapUsed;
}

class StateRun {
  /** Milliseconds that do not count. */
  timeAside = 0;
  longestTurn = 0;
  readonly #size: number;
  readonly #signal: AbortSignal;
  readonly #state = new ClusterState({
    decision: { keys: KEYS, autoReloadAll: false, ignoredWorkloadTypes: [] },
    adoptedAt: 0,
    evaluatesLater: true,
  });

  constructor(size: number, signal: AbortSignal) {
    this.#size = size;
    this.#signal = signal;
  }

  /** Does what no watcher does. */
  aside<T>(action: () => T): T {
    const begin = now();
    const result = action();
    this.timeAside += now() - begin;
    return result;
  }

  async listSources(): Promise<void> {
    const found = new Set<string>();
    for (const texts of this.#portions(servedSource, 1))
      // oxlint-disable-next-line no-await-in-loop -- one portion after the other
      await this.#turn(() => {
        const objects = texts.map(seenSource);
        this.#state.sourcesFound({ scope: SOURCES, objects, catalog: NO_ROWS });
        for (const { key } of objects) found.add(key);
      });
    const list = { scope: SOURCES, rv: String(this.#size), objects: [], found, catalog: NO_ROWS };
    await this.#slices(this.#state.sourceListEnds(list));
  }

  async listWorkloads(): Promise<void> {
    const found = new Set<string>();
    this.#state.workloadListBegins(WORKLOADS);
    for (const texts of this.#portions(servedWorkload, this.#size + 1))
      // oxlint-disable-next-line no-await-in-loop -- one portion after the other
      await this.#turn(() => {
        const objects = texts.map(seenWorkload);
        this.#state.workloadsFound({ scope: WORKLOADS, objects, catalog: NO_ROWS });
        for (const { key } of objects) found.add(key);
      });
    const list = { scope: WORKLOADS, rv: String(2 * this.#size), objects: [], found, catalog: NO_ROWS };
    await this.#slices(this.#state.eachAbsentWorkload(list, (key) => this.#state.workloadDeleted(key)));
    await this.#evaluate();
    while (this.#state.outbox.hasRows)
      // oxlint-disable-next-line no-await-in-loop -- one portion after the other
      await this.#turn(() => void this.#state.outbox.takeRows(ROWS));
  }

  /** Returns the mean of their times. */
  async events(): Promise<number> {
    const count = Math.min(EVENTS, this.#size);
    const texts = Array.from({ length: count }, (_, at) => {
      const index = Math.floor((at * this.#size) / count);
      return servedSource(index, 3 * this.#size + at + 1);
    });
    const begin = now();
    for (const text of texts) {
      // oxlint-disable-next-line no-await-in-loop -- one event after the other
      await this.#turn(() => this.#state.sourceWritten(seenSource(text), SOURCES));
      // oxlint-disable-next-line no-await-in-loop -- the same
      await this.#evaluate();
    }
    return (now() - begin) / count;
  }

  async #evaluate(): Promise<void> {
    const { evaluation } = this.#state;
    while (await this.#turn(() => evaluation.slice()));
    evaluation.nextWindow();
  }

  async #slices(slices: Iterable<unknown>): Promise<void> {
    const iterator = slices[Symbol.iterator]();
    const next = (): boolean => iterator.next().done !== true;
    while (await this.#turn(next));
  }

  async #turn<T>(action: () => T): Promise<T> {
    const begin = now();
    const result = action();
    this.longestTurn = Math.max(this.longestTurn, now() - begin);
    await nextTurn();
    this.#signal.throwIfAborted();
    return result;
  }

  /** Resource versions begin with `rv`. What it takes to make the texts does not count. */
  *#portions(served: Served, rv: number): Generator<readonly string[], void, void> {
    for (let from = 0; from < this.#size; from += PORTION) {
      const count = Math.min(PORTION, this.#size - from);
      yield this.aside(() => Array.from({ length: count }, (_, at) => served(from + at, rv + from + at)));
    }
  }
}

function seenSource(text: string): ObservedSource {
  const raw = JSON.parse(text) as KubeObject;
  return observeSource({ kind: 'ConfigMap', metadata: raw.metadata, data: configMap.data(raw) }, KEYS, []);
}

function seenWorkload(text: string): ObservedWorkload {
  return observed(deployment, JSON.parse(text) as KubeObject, KEYS);
}
