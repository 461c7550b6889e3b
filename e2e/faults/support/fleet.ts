import { setTimeout as pause } from 'node:timers/promises';
import { envVarName } from '@reroll/core/marker/env-var-name';
import { markerHash } from '@reroll/core/marker/marker-hash';
import type { SourceKind } from '@reroll/core/model';
import type { HashKeys } from '@reroll/core/record/record-hash';
import { isNewer, parseRv, RV_UNKNOWN, type Rv } from '@reroll/core/rv';
import { collectionPath } from '@reroll/kube/objects';
import { Reflector } from '@reroll/kube/reflector/reflector';
import {
  auto,
  deployment,
  source,
  usingEnvFrom,
  usingEnvKey,
  usingVolume,
} from '../../support/objects/builders.ts';
import { cleanUp } from '../../support/cleanup.ts';
import { resourceOf, type KubeObject, type Ref, type Space } from '../../support/kube.ts';
import type { App } from '../../support/processes.ts';
import type { Reroll } from '../../support/reroll.ts';
import { hashOf, markerVariables, recordOf } from '../../support/objects/rollouts.ts';
import { inLanes } from '../../support/in-lanes.ts';
import { eventually } from '../../support/wait.ts';
import { persistently } from './persistently.ts';

/** A workload without pods, and the one source that it uses. */
export interface Member {
  readonly workload: Ref;
  readonly source: Ref;
}

interface Sight {
  readonly generation: number;
  readonly record: string | undefined;
  /** What pods are started with, as text. */
  readonly template: string;
  readonly rv: Rv;
}

/** Another template is another rollout. (A generation counts corrections of the record, too.) */
interface Rollouts {
  readonly count: number;
  /** The first resourceVersion that the last one was seen with. */
  readonly last: Rv;
}

interface Waiting {
  readonly condition: () => boolean;
  readonly resolve: () => void;
}

/** A patch sent twice would add its variable twice where there are others already. */
const USES = [usingEnvKey, usingEnvFrom, usingVolume];

const NO_ROLLOUTS: Rollouts = { count: 0, last: RV_UNKNOWN };

const LANES = 8;
const PATIENCE = 60_000;

/** Who is to be made: names of one letter do not sort with those of another. */
export function membersNamed(prefix: string, count: number): Member[] {
  return Array.from({ length: count }, (_, index) => {
    const name = `${prefix}-${String(index).padStart(3, '0')}`;
    return {
      workload: `Deployment/${name}`,
      source: index % 2 === 0 ? `ConfigMap/${name}` : `Secret/${name}`,
    };
  });
}

/**
 * Workloads with a source each. It counts what the specs change and follows what becomes of the workloads.
 * Nobody but Reroll writes to them, and once they are recorded it writes nothing but rollouts, so from there
 * on each step of a generation is one. (A Deployment's generation moves with its annotations, too.)
 */
export class Fleet {
  readonly space: Space;
  readonly members: readonly Member[];
  readonly #keys: HashKeys;
  #changes = new Map<Ref, number>();
  #expected = new Map<Ref, string>();
  readonly #seen = new Map<string, Sight>();
  readonly #rollouts = new Map<string, Rollouts>();
  /** Generations and rollouts at which the workloads were recorded. */
  readonly #adopted = new Map<Ref, { readonly generation: number; readonly rollouts: number }>();
  readonly #waiting = new Set<Waiting>();
  #writes = 0;

  /** `keys` are those that Reroll records hashes under. With one, `anomalies` does not apply: markers of Secrets have it, too. */
  constructor(space: Space, members: readonly Member[], keys: HashKeys = []) {
    this.space = space;
    this.members = members;
    this.#keys = keys;
  }

  /** Makes sources and workloads. */
  static async create(space: Space, count = 200, keys: HashKeys = []): Promise<Fleet> {
    const fleet = new Fleet(space, membersNamed('w', count), keys);
    fleet.follow();
    await fleet.createSources();
    await fleet.createWorkloads();
    return fleet;
  }

  async createSources(members: readonly Member[] = this.members): Promise<void> {
    await inLanes(members, LANES, async (member) => {
      const [created] = await persistently(() =>
        this.space.apply(source(member.source, { key: this.#nextValue() })),
      );
      if (created) this.#expected.set(member.workload, hashOf(created, this.#keys));
    });
  }

  async createWorkloads(members: readonly Member[] = this.members): Promise<void> {
    await this.space.applyAll(
      members.map(({ workload, source: ref }, index) => {
        const using = USES[index % USES.length] ?? usingEnvFrom;
        return deployment(nameOf(workload), auto(), using(ref));
      }),
    );
  }

  /** Gives each source data that it never had. */
  async change(members: readonly Member[] = this.members): Promise<void> {
    await inLanes(members, LANES, async (member) => {
      const data = { key: this.#nextValue() };
      const changed = await persistently(() => this.space.setData(member.source, data));
      this.#expected.set(member.workload, hashOf(changed, this.#keys));
      this.#changes.set(member.workload, (this.#changes.get(member.workload) ?? 0) + 1);
    });
    this.#look();
  }

  /**
   * Changes two thirds of the sources and begins the fault as soon as a third of the workloads has been
   * reloaded. The fault says when the rest is changed.
   */
  async inTheMiddle(fault: (changeTheRest: () => Promise<void>) => Promise<void>): Promise<void> {
    const third = Math.ceil(this.members.length / 3);
    const changing = this.change(this.members.slice(0, 2 * third));
    await this.rolled(third);
    await fault(() => this.change(this.members.slice(2 * third)));
    await changing;
  }

  /** Resolves when every workload is in step. What comes from now on is strictly counted, from nothing. */
  async adopted(): Promise<void> {
    await this.inStep();
    this.#changes.clear();
    for (const { workload } of this.members) {
      this.#adopted.set(workload, {
        generation: this.#sight(workload)?.generation ?? 0,
        rollouts: this.#rollouts.get(nameOf(workload))?.count ?? 0,
      });
    }
  }

  /** How often its source was changed since it was adopted. */
  changesOf({ workload }: Member): number {
    return this.#changes.get(workload) ?? 0;
  }

  /** What it expects now. The result is to be called when etcd has been set back to now; what comes after is counted on. */
  backUp(): () => void {
    const [changes, expected] = [new Map(this.#changes), new Map(this.#expected)];
    return () => {
      this.#changes = new Map(changes);
      this.#expected = new Map(expected);
      // Its own stream is of a history that is no more.
      this.follow();
    };
  }

  /** Of the workloads adopted, those that have been reloaded since. */
  get rolledNow(): number {
    return [...this.#adopted].filter(([name, from]) => (this.#sight(name)?.generation ?? 0) > from.generation)
      .length;
  }

  async rolled(count: number): Promise<void> {
    await this.#until(() => this.rolledNow >= count, `${count} workloads to be rolled`);
  }

  /** Resolves when every workload's record has the hash of what was last written to its source. */
  async inStep(): Promise<void> {
    const isInStep = ({ workload }: Member): boolean =>
      this.#sight(workload)?.record === this.#expected.get(workload);
    await this.#until(() => this.members.every(isInStep), 'every workload to be in step');
  }

  /** Resolves when all are in step, no job is left, and two resyncs after that have left it so. */
  async settled(reroll: Reroll): Promise<void> {
    await this.inStep();
    await reroll.idle();
    await resyncs(reroll, 2);
    await reroll.idle();
  }

  /**
   * What is wrong, by what the API server has now, a line each: a marker or a record that is not of the
   * current data, a workload reloaded more often or, as each had the time to, less often than its source changed.
   */
  async anomalies(expectedRollouts?: (member: Member) => readonly number[]): Promise<string[]> {
    const [workloads, configMaps, secrets] = await Promise.all(
      ['Deployment', 'ConfigMap', 'Secret'].map((kind) => this.space.list(kind)),
    );
    const byName = (objects: KubeObject[] = []): Map<string, KubeObject> =>
      new Map(objects.map((object) => [object.metadata.name, object]));
    const found = { Deployment: byName(workloads), ConfigMap: byName(configMaps), Secret: byName(secrets) };
    return this.members.flatMap((member) => {
      const kind = kindOf(member.source);
      const workload = found.Deployment.get(nameOf(member.workload));
      const present = found[kind].get(nameOf(member.source));
      if (!workload || !present) return [`${member.workload}: not found`];
      const allowed = expectedRollouts?.(member) ?? [this.changesOf(member)];
      const from = this.#adopted.get(member.workload)?.generation;
      return anomaliesOf({ member, workload, present, allowed, from });
    });
  }

  /**
   * What is wrong when sources were changed again and again, also while their workloads were being reloaded. Several changes may then
   * be one rollout. A source may have been changed between a worker's read and its patch: the marker is of the data before then,
   * and only the order of the writes tells that the pods have the current data.
   */
  async anomaliesOfChurn(): Promise<string[]> {
    const sources = [...(await this.space.list('ConfigMap')), ...(await this.space.list('Secret'))];
    const versions = new Map(
      sources.map(({ metadata }) => [metadata.name, parseRv(metadata.resourceVersion)]),
    );
    return this.members.flatMap((member) => {
      const { workload } = member;
      const { count, last } = this.#rollouts.get(nameOf(workload)) ?? NO_ROLLOUTS;
      const rollouts = count - (this.#adopted.get(workload)?.rollouts ?? 0);
      const changes = this.changesOf(member);
      const found: string[] = [];
      if (rollouts > changes || (changes > 0 && rollouts === 0)) {
        found.push(`${workload}: rolled ${rollouts} times for ${changes} changes`);
      }
      if (changes > 0 && !isNewer(last, versions.get(nameOf(workload)) ?? RV_UNKNOWN)) {
        found.push(`${workload}: its pods are older than the current data of ${member.source}`);
      }
      if (this.#sight(workload)?.record !== this.#expected.get(workload)) {
        found.push(`${workload}: its record is not of the current data of ${member.source}`);
      }
      return found;
    });
  }

  /** Follows the workloads until the test ends. */
  follow(): void {
    const look = (objects: readonly (readonly [string, Sight])[]): void => {
      for (const [name, sight] of objects) this.#see(name, sight);
      this.#look();
    };
    const reflector = new Reflector<readonly [string, Sight]>({
      client: this.space.client,
      path: collectionPath(resourceOf('Deployment'), this.space.name),
      convert: (raw) => sightOf(raw as unknown as KubeObject),
      handler: {
        replace: () => undefined,
        upsert: look,
        delete: (object) => look([object]),
        synced: () => undefined,
      },
    });
    reflector.start();
    cleanUp(() => reflector.stop());
  }

  #see(name: string, sight: Sight): void {
    const before = this.#seen.get(name);
    this.#seen.set(name, sight);
    if (before?.template === sight.template) return;
    const { count } = this.#rollouts.get(name) ?? NO_ROLLOUTS;
    this.#rollouts.set(name, { count: count + (before ? 1 : 0), last: sight.rv });
  }

  #nextValue(): string {
    this.#writes += 1;
    return `value ${this.#writes}`;
  }

  #sight(workload: Ref): Sight | undefined {
    return this.#seen.get(nameOf(workload));
  }

  #look(): void {
    for (const waiting of this.#waiting) if (waiting.condition()) waiting.resolve();
  }

  /** Looks at every event, so that it resolves at the very moment. */
  async #until(condition: () => boolean, what: string): Promise<void> {
    if (condition()) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const waiting = { condition, resolve };
    this.#waiting.add(waiting);
    const timeout = new AbortController();
    const late = pause(PATIENCE, 'late', { signal: timeout.signal }).catch(() => undefined);
    const outcome = await Promise.race([promise, late]);
    timeout.abort();
    this.#waiting.delete(waiting);
    if (outcome === 'late') throw new Error(`expected ${what} within ${PATIENCE} ms; ${this.#state()}`);
  }

  #state(): string {
    const behind = this.members.filter(
      ({ workload }) => this.#sight(workload)?.record !== this.#expected.get(workload),
    );
    const some = behind.slice(0, 5).map(({ workload }) => workload);
    return `${this.rolledNow} rolled, ${behind.length} not in step: ${some.join(', ')}`;
  }
}

/** Resolves when a leader has done so many resyncs more. If it ends meanwhile, those of the next one count. */
export async function resyncs(reroll: Reroll, more: number): Promise<void> {
  const leader = await reroll.leader();
  try {
    await resyncsOf(leader, more);
  } catch (error) {
    if (leader.isRunning) throw error;
    await resyncs(reroll, more);
  }
}

export async function resyncsOf(leader: App, more: number): Promise<void> {
  const count = async (): Promise<number> =>
    Number(/^reroll_sweep_duration_seconds_count (\d+)/m.exec(await leader.metrics())?.[1] ?? 0);
  const first = await count();
  await eventually(async () => (await count()) >= first + more, { what: 'resyncs', within: 30_000 });
}

function anomaliesOf(by: {
  member: Member;
  workload: KubeObject;
  present: KubeObject;
  allowed: readonly number[];
  /** The generation at its adoption; undefined: it was not adopted before it was reloaded, if it was. */
  from: number | undefined;
}): string[] {
  const { member, workload, present, allowed, from = 1 } = by;
  const found: string[] = [];
  const kind = kindOf(member.source);
  const marker = markerVariables(workload)['app']?.[envVarName(kind, nameOf(member.source))];
  const rollouts = marker === undefined ? 0 : workload.metadata.generation - from;
  if (!allowed.includes(rollouts)) {
    found.push(`${member.workload}: rolled ${rollouts} times, expected ${allowed.join(' or ')}`);
  }
  if (recordOf(workload)[member.source] !== hashOf(present)) {
    found.push(`${member.workload}: its record is not of the current data of ${member.source}`);
  }
  if (rollouts > 0 && marker !== markerHash(kind, present)) {
    found.push(`${member.workload}: its marker is not of the current data of ${member.source}`);
  }
  return found;
}

function sightOf(object: KubeObject): readonly [string, Sight] {
  const { name, generation, resourceVersion } = object.metadata;
  const [record] = Object.values(recordOf(object));
  return [
    name,
    { generation, record, template: JSON.stringify(object.spec.template), rv: parseRv(resourceVersion) },
  ];
}

function kindOf(ref: Ref): SourceKind & ('ConfigMap' | 'Secret') {
  return ref.startsWith('Secret/') ? 'Secret' : 'ConfigMap';
}

function nameOf(ref: Ref): string {
  return ref.slice(ref.indexOf('/') + 1);
}
