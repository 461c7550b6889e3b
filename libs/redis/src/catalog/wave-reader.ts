import { setImmediate as nextTurn } from 'node:timers/promises';
import { annotationOf } from '@reroll/core/annotations/annotation-keys';
import { WAVE_ANNOTATION } from '@reroll/core/holds/hold';
import { inWaveOrder, waveOf, type RolloutSeen, type WaveMember } from '@reroll/core/holds/waves';
import type { RolloutEntry } from '@reroll/core/history/entries';
import type { SourceKey, WorkloadKey } from '@reroll/core/model';
import { recordedHashes } from '@reroll/core/record/record';
import type { Completion } from '@reroll/core/rollouts/completions';
import { isOnlyRecorded } from '@reroll/core/reload/job-of-cron-job';
import { hasRollouts } from '@reroll/core/rollouts/rollout';
import { pendingCauseOfDependency } from '@reroll/core/state/pending';
import { sourceNameOf, type SourceRow, type WorkloadRow } from '@reroll/core/state/rows';
import type { Triggers } from '@reroll/core/state/settings';
import { isInConflict } from '@reroll/core/state/workloads/conflict';
import type { Rollouts, RolloutsKnown } from '../history/rollouts.ts';
import type { Catalog } from './catalog.ts';

export interface WaveReaderSettings {
  readonly triggers: Triggers;
  /** Whether a workload is reloaded that was never recorded and may run old data. */
  readonly adoptStale: 'report' | 'reload';
  /** `--cronjob-strategy`. Default `run`. */
  readonly cronJobStrategy?: 'run' | 'patch' | undefined;
}

/** A change, and how far it has come. */
export interface WaveProgress {
  /** The source as the catalog has it; undefined: it has none. */
  readonly source: SourceRow | undefined;
  /** All that the change concerns, in order. Undefined: no leader has told of rollouts yet. */
  readonly members: readonly WaveMember[] | undefined;
}

/** Milliseconds for which progress is used again, for each workload that was read for it, and at least. */
const FRESH_EACH = 2;
const FRESH_LEAST = 1_000;
const MOST_KNOWN = 100;

interface Known {
  readonly until: number;
  readonly progress: Promise<WaveProgress>;
}

/**
 * Reads how far changes have come, from the catalog alone. A source with 1,000 workloads is read once in two seconds at most, one with
 * 10,000 once in twenty, however many of them ask.
 */
export class WaveReader {
  readonly #catalog: Pick<Catalog, 'sources' | 'eachWorkloadOf' | 'users'>;
  readonly #rollouts: Pick<Rollouts, 'known'>;
  readonly #known = new Map<SourceKey, Known>();

  constructor(
    catalog: Pick<Catalog, 'sources' | 'eachWorkloadOf' | 'users'>,
    rollouts: Pick<Rollouts, 'known'>,
  ) {
    this.#catalog = catalog;
    this.#rollouts = rollouts;
  }

  /** By the settings of the first who asks, while that is fresh. Rejects with ioredis' error. */
  progress(source: SourceKey, settings: WaveReaderSettings): Promise<WaveProgress> {
    const now = performance.now();
    const known = this.#known.get(source);
    if (known && now < known.until) return known.progress;
    const progress = this.#read(source, settings);
    this.#known.delete(source);
    this.#known.set(source, { until: now + FRESH_LEAST, progress });
    progress.then(
      ({ members = [] }) =>
        void this.#known.set(source, {
          until: performance.now() + Math.max(FRESH_LEAST, members.length * FRESH_EACH),
          progress,
        }),
      () => this.#known.delete(source),
    );
    const [oldest] = this.#known.keys();
    if (this.#known.size > MOST_KNOWN && oldest !== undefined) this.#known.delete(oldest);
    return progress;
  }

  async #read(key: SourceKey, settings: WaveReaderSettings): Promise<WaveProgress> {
    const source = (await this.#catalog.sources([key])).get(key);
    if (!source) return { source, members: [] };
    const users = await this.#catalog.users(key);
    const members: WaveMember[] = [];
    for await (const rows of this.#catalog.eachWorkloadOf(users)) {
      // After the rows: no row of a reloaded workload is written before its rollout.
      const known = await this.#rollouts.known([...rows.keys()]);
      if (known.since === undefined) return { source, members: undefined };
      for (const [workload, row] of rows)
        if (isConcerned(row, key, settings))
          members.push(memberOf(workload, row, { key, source, known, settings }));
      await nextTurn();
    }
    return { source, members: inWaveOrder(members) };
  }
}

function memberOf(
  workload: WorkloadKey,
  row: WorkloadRow,
  by: { key: SourceKey; source: SourceRow; known: RolloutsKnown; settings: WaveReaderSettings },
): WaveMember {
  const { source, known } = by;
  const { triggers, adoptStale } = by.settings;
  const name = sourceNameOf(by.key);
  const recorded = recordedHashes(row.record)[name];
  const cause = pendingCauseOfDependency(row, { name, source, recorded }, triggers);
  const isStale = adoptStale === 'reload' && recorded === undefined && row.stale.includes(name);
  return {
    workload,
    wave: waveOf(annotationOf(row.annotations, WAVE_ANNOTATION)),
    isReloaded: cause !== 'owed' && !isStale,
    rollout: seenRollout(hasRollouts(workload) ? known.of.get(workload) : undefined, known.since ?? Infinity),
  };
}

/** A workload that is left alone has no dependencies. */
function isConcerned(row: WorkloadRow, source: SourceKey, settings: WaveReaderSettings): boolean {
  const isReloaded = !isInConflict(row.conflict) && !isOnlyRecorded(row, settings);
  return isReloaded && row.dependencies.includes(sourceNameOf(source));
}

/** Rollouts that wait for somebody. */
const PAUSED: ReadonlySet<string> = new Set(['Paused', 'AwaitingDeletion']);

function seenRollout(rollout: RolloutEntry | Completion | undefined, since: number): RolloutSeen {
  if (!rollout) return { state: 'complete', at: since };
  if ('completeAt' in rollout) {
    const { completeAt, unavailableSince } = rollout;
    return unavailableSince === undefined
      ? { state: 'complete', at: completeAt }
      : { state: 'unavailable', since: unavailableSince };
  }
  if (rollout.state === 'stuck') return { state: 'stuck', code: rollout.code };
  return PAUSED.has(rollout.code) ? { state: 'paused' } : { state: 'underWay', since: rollout.since };
}
