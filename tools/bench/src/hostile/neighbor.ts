import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { markerHash } from '@reroll/core/marker/marker-hash';
import type { PodTemplate } from '@reroll/core/model';
import { collectionPath } from '@reroll/kube/objects';
import { Reflector } from '@reroll/kube/reflector/reflector';
import { CONFIG_MAPS, DEPLOYMENTS } from '../kinds.ts';
import { markersOf } from '../measure/rollout-watch.ts';
import type { Tenant } from './tenant.ts';

/** Workloads of the neighbor, each with a ConfigMap of its own. */
const WORKLOADS = 20;
/** Changes that are under way at a time. */
const LANES = 2;
/** A change that has reloaded nothing after this many milliseconds counts as missed. */
const PATIENCE = 15_000;
/** Who has missed so many is stopped: nothing is learned from the rest. */
const MOST_MISSED = 5;
/** Milliseconds between a reload and the next change of the same lane. */
const PAUSE = 20;

export interface Latencies {
  /** From just before the write of the ConfigMap to the event with the new marker, one for each change that was applied. */
  readonly milliseconds: readonly number[];
  /** The part of it that the API server took for that write: what the load costs those who do not use Reroll. */
  readonly writes: readonly number[];
  /** Changes that reloaded nothing in time. */
  readonly missed: number;
}

interface Sighting {
  readonly name: string;
  readonly markers: readonly string[];
}

interface Awaited {
  readonly hash: string;
  readonly resolve: (at: number) => void;
}

/**
 * A tenant who changes a ConfigMap now and then and expects the workload that uses it to be reloaded. What this
 * tenant notices of another one's worst behavior is the measure of isolation.
 */
export class Neighbor {
  readonly #tenant: Tenant;
  readonly #watch: Reflector<Sighting>;
  /** By the name of the workload. */
  readonly #awaited = new Map<string, Awaited>();
  #changes = 0;

  private constructor(tenant: Tenant) {
    this.#tenant = tenant;
    const see = (sighting: Sighting): void => this.#see(sighting);
    this.#watch = new Reflector<Sighting>({
      client: tenant.client,
      path: collectionPath(DEPLOYMENTS, tenant.namespace),
      convert: (raw) => ({ name: raw.metadata.name, markers: markersOf(templateOf(raw)) }),
      handler: {
        replace: () => undefined,
        upsert: (objects) => objects.forEach(see),
        delete: see,
        synced: () => undefined,
      },
    });
  }

  /** Creates the workloads, and changes each of them. Throws if one was not reloaded. */
  static async settle(tenant: Tenant): Promise<Neighbor> {
    await tenant.createNamespace();
    const neighbor = new Neighbor(tenant);
    neighbor.#watch.start();
    await neighbor.#watch.waitSynced(PATIENCE);
    await tenant.each(WORKLOADS, async (index) => {
      const name = nameOf(index);
      await tenant.createConfigMap(name);
      await tenant.createDeployment(name, {
        annotations: { 'reloader.stakater.com/auto': 'true' },
        configMaps: [name],
      });
    });
    const { missed } = await neighbor.change(WORKLOADS);
    if (missed === 0) return neighbor;
    await neighbor.stop();
    throw new Error(`expected all ${WORKLOADS} workloads of the neighbor to be reloaded, ${missed} were not`);
  }

  /** Makes so many changes, a few at a time, each after the one before it was applied or given up; fewer if many are missed. */
  async change(count: number): Promise<Latencies> {
    const milliseconds: number[] = [];
    const writes: number[] = [];
    let missed = 0;
    let begun = 0;
    const lane = async (): Promise<void> => {
      while (begun < count && missed < MOST_MISSED) {
        begun += 1;
        const { write, reload } = await this.#changeNext();
        writes.push(write);
        if (reload === undefined) missed += 1;
        else milliseconds.push(reload);
        await sleep(PAUSE);
      }
    };
    await Promise.all(Array.from({ length: LANES }, lane));
    return { milliseconds, writes, missed };
  }

  async stop(): Promise<void> {
    await this.#watch.stop(1_000);
  }

  /** Milliseconds of the write, and until the workload was reloaded; undefined: it was not in time. */
  async #changeNext(): Promise<{ write: number; reload: number | undefined }> {
    const name = nameOf(this.#changes % WORKLOADS);
    this.#changes += 1;
    const data = { value: randomUUID() };
    const { promise, resolve } = Promise.withResolvers<number | undefined>();
    const began = performance.now();
    this.#awaited.set(name, { hash: markerHash('ConfigMap', { data }), resolve });
    const late = setTimeout(() => resolve(undefined), PATIENCE);
    await this.#tenant.patch(CONFIG_MAPS, name, { data });
    const write = performance.now() - began;
    const reloadedAt = await promise;
    clearTimeout(late);
    this.#awaited.delete(name);
    return { write, reload: reloadedAt === undefined ? undefined : reloadedAt - began };
  }

  #see({ name, markers }: Sighting): void {
    const awaited = this.#awaited.get(name);
    if (awaited && markers.some((marker) => marker.includes(awaited.hash)))
      awaited.resolve(performance.now());
  }
}

function nameOf(index: number): string {
  return `app-${index}`;
}

function templateOf(raw: unknown): PodTemplate | undefined {
  return (raw as { spec?: { template?: PodTemplate } }).spec?.template;
}
