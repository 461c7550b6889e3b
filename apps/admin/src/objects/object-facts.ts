import type { Catalog } from '@reroll/redis/catalog/catalog';
import { Processes, settingsInForce } from '@reroll/redis/processes/processes';
import type { RedisClient } from '@reroll/redis/connection/redis';
import { Rollouts } from '@reroll/redis/history/rollouts';
import type { ExplainedWorkload, ExplainSettings } from '@reroll/core/explain/facts';
import type { RolloutEntry } from '@reroll/core/history/entries';
import {
  NO_NAMES,
  sourceKeyIn,
  sourceNameOf,
  type SourceName,
  type SourceRow,
  type WorkloadRow,
} from '@reroll/core/state/rows';
import { pendingCauseOf } from '@reroll/core/state/pending';
import type { PendingCause } from '@reroll/core/state/outbox';
import { NO_TRIGGERS, type Triggers } from '@reroll/core/state/settings';
import { namespaceOf, type SourceKey, type WorkloadKey } from '@reroll/core/model';
import { KeyIndex } from './key-index.ts';

export interface WorkloadFacts {
  readonly key: WorkloadKey;
  readonly row: WorkloadRow;
  readonly due: PendingCause | null;
  /** Undefined if none is under way. */
  readonly rollout: RolloutEntry | undefined;
}

export interface SourceFacts {
  readonly key: SourceKey;
  /** Undefined if the source does not exist or is not watched. */
  readonly row: SourceRow | undefined;
  /** The workloads that use, name or mention it, and what their rows tell of the sources that were asked for. */
  readonly users: ReadonlyMap<WorkloadKey, WorkloadRow>;
}

/** Rows scanned at once; requests run in between. */
const AT_ONCE = 200;
/** Milliseconds for which settings are kept. */
const SETTINGS_FOR = 2_000;

/** Workloads and sources, from the catalog. Every method rejects with ioredis' error. */
export class ObjectFacts {
  readonly workloads: KeyIndex<PendingCause>;
  readonly sources: KeyIndex<null>;
  readonly #catalog: Catalog;
  readonly #rollouts: Rollouts;
  readonly #processes: Processes;
  #settings: ExplainSettings | undefined;
  #settingsAt = Number.NEGATIVE_INFINITY;

  constructor(redis: RedisClient, catalog: Catalog) {
    this.#catalog = catalog;
    this.#rollouts = new Rollouts(redis, catalog.keys.rollouts);
    this.#processes = new Processes(redis, catalog.keys);
    this.workloads = new KeyIndex(() => this.#scanWorkloads());
    this.sources = new KeyIndex(() => this.#scanSources());
  }

  /** `settingsInForce`, at most two seconds old. */
  async settings(): Promise<ExplainSettings | undefined> {
    if (performance.now() - this.#settingsAt < SETTINGS_FOR) return this.#settings;
    this.#settings = settingsInForce(await this.#processes.all());
    this.#settingsAt = performance.now();
    return this.#settings;
  }

  /** The facts of the workload if it exists. Takes two round trips. */
  async workloadFacts(key: WorkloadKey): Promise<WorkloadFacts | undefined> {
    for await (const [found] of this.eachWorkloadFacts([key])) return found;
    return undefined;
  }

  /** The facts of the workloads that exist, in portions of `Catalog.eachWorkloadOf`. Takes two round trips for each. */
  async *eachWorkloadFacts(keys: readonly WorkloadKey[]): AsyncGenerator<WorkloadFacts[], void, void> {
    const settings = await this.settings();
    for await (const rows of this.#catalog.eachWorkloadOf(keys)) {
      // Read after the rows, because a rollout is written before its row.
      const [dues, rollouts] = await Promise.all([
        this.#dues([...rows], settings?.triggers),
        this.#rollouts.of([...rows.keys()]),
      ]);
      yield [...rows].map(([key, row]) => ({
        key,
        row,
        due: dues.get(key) ?? null,
        rollout: rollouts.get(key),
      }));
    }
  }

  /** The rollouts that are not complete. */
  async underWay(): Promise<Map<WorkloadKey, RolloutEntry>> {
    return await this.#rollouts.all();
  }

  /** The facts of each source, whether or not it exists. Takes two round trips, or more if its users' rows are large. */
  async sourceFacts(keys: readonly SourceKey[]): Promise<SourceFacts[]> {
    const [rows, users] = await Promise.all([
      this.#catalog.sources(keys),
      Promise.all(keys.map((key) => this.#catalog.users(key))),
    ]);
    const workloads = await this.#rowsAbout(keys, new Set(users.flat()));
    return keys.map((key, index) => ({
      key,
      row: rows.get(key),
      users: new Map(
        (users[index] ?? []).flatMap((user) => {
          const row = workloads.get(user);
          return row ? [[user, row] as const] : [];
        }),
      ),
    }));
  }

  /** The workloads that use, name or mention it, by name alone. */
  async usersOf(source: SourceKey): Promise<WorkloadKey[]> {
    return await this.#catalog.users(source);
  }

  /** Those of the sources that make one of their users owed. Reads each row once. */
  async owing(users: ReadonlyMap<SourceKey, readonly WorkloadKey[]>): Promise<Set<SourceKey>> {
    const triggers = (await this.settings())?.triggers;
    const sources = await this.#catalog.sources([...users.keys()]);
    const owing = new Set<SourceKey>();
    const isOwing = (source: SourceKey, row: WorkloadRow): boolean => {
      if (!users.has(source)) return false;
      const only = { ...row, dependencies: [sourceNameOf(source)] };
      return pendingCauseOf(only, () => sources.get(source), triggers) === 'owed';
    };
    for await (const portion of this.#catalog.eachWorkloadOf([...new Set([...users.values()].flat())]))
      for (const [key, row] of portion)
        for (const source of dependenciesOf({ key, row }).filter((each) => isOwing(each, row)))
          owing.add(source);
    return owing;
  }

  async sourceRows(keys: readonly SourceKey[]): Promise<Map<SourceKey, SourceRow>> {
    return await this.#catalog.sources(keys);
  }

  async #rowsAbout(
    sources: readonly SourceKey[],
    users: ReadonlySet<WorkloadKey>,
  ): Promise<Map<WorkloadKey, WorkloadRow>> {
    const names = new Set(sources.map(sourceNameOf));
    const found = new Map<WorkloadKey, WorkloadRow>();
    for await (const rows of this.#catalog.eachWorkloadOf([...users]))
      for (const [key, row] of rows) found.set(key, rowAbout(row, names));
    return found;
  }

  async #dues(
    rows: readonly (readonly [WorkloadKey, WorkloadRow])[],
    triggers: Triggers = NO_TRIGGERS,
  ): Promise<Map<WorkloadKey, PendingCause>> {
    const wanted = new Set(rows.flatMap(([key, row]) => dependenciesOf({ key, row })));
    const sources = await this.#catalog.sources([...wanted]);
    return new Map(
      rows.flatMap(([key, row]) => {
        const due = pendingCauseOf(row, (name) => sources.get(sourceKeyIn(namespaceOf(key), name)), triggers);
        return due === null ? [] : [[key, due] as const];
      }),
    );
  }

  async *#scanWorkloads(): AsyncGenerator<(readonly [WorkloadKey, PendingCause | null])[]> {
    const settings = await this.settings();
    for await (const portion of this.#catalog.eachWorkload(() => true, AT_ONCE)) {
      const dues = await this.#dues(portion, settings?.triggers);
      yield portion.map(([key]) => [key, dues.get(key) ?? null] as const);
    }
  }

  async *#scanSources(): AsyncGenerator<(readonly [SourceKey, null])[]> {
    for await (const portion of this.#catalog.eachSource(() => true, AT_ONCE))
      yield portion.filter(([, { exists }]) => exists).map(([key]) => [key, null] as const);
  }
}

function dependenciesOf({ key, row }: Pick<ExplainedWorkload, 'key' | 'row'>): SourceKey[] {
  return row.dependencies.map((name) => sourceKeyIn(namespaceOf(key), name));
}

/** The row without the names of other sources, which may take a megabyte. */
function rowAbout(row: WorkloadRow, names: ReadonlySet<SourceName>): WorkloadRow {
  const among = (each: readonly SourceName[]): readonly SourceName[] =>
    each.filter((name) => names.has(name));
  return {
    ...row,
    uses: among(row.uses),
    mentions: among(row.mentions),
    marks: NO_NAMES,
    dependencies: among(row.dependencies),
    unverified: among(row.unverified),
    stale: among(row.stale),
    baselines: Object.fromEntries(Object.entries(row.baselines).filter(([name]) => names.has(name))),
  };
}
