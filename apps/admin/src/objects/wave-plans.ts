import type { ExplainSettings } from '@reroll/core/explain/facts';
import type { ReloadHold } from '@reroll/core/holds/hold';
import {
  isResumed,
  readBake,
  waveHold,
  waveProblems,
  wavesFor,
  type WaveSettings,
} from '@reroll/core/holds/waves';
import { wavePlan, type PlannedMember, type PlannedWave, type WavePlan } from '@reroll/core/holds/wave-plan';
import { namespaceOf, partsOf, type SourceKey, type WorkloadKey } from '@reroll/core/model';
import { sourceNameOf, type SourceRow } from '@reroll/core/state/rows';
import type { WaveReader } from '@reroll/redis/catalog/wave-reader';
import type { Waves } from '@reroll/shared/api/waves';
import type { ShownHashes } from '../shown-hashes.ts';
import type { NamespaceHoldsReader } from './namespace-holds.ts';

/** Workloads of a wave that are listed; all are counted. */
const MOST_LISTED = 200;

const NO_NAMESPACE =
  'The Namespace could not be read: waves or a bake time set by its annotations are not shown here.';
const DRY_RUN = 'This is a dry run (--dry-run): nothing is rolled out, so there are no waves.';
const NO_ROLLOUTS = 'No watcher has told of rollouts yet.';

/** Tells how changes with waves proceed, by what workers decide from: the catalog and the rollouts of the leader. */
export class WavePlans {
  readonly #reader: Pick<WaveReader, 'progress'>;
  readonly #namespaces: Pick<NamespaceHoldsReader, 'of'>;
  readonly #hashes: Pick<ShownHashes, 'shown'>;

  constructor(
    reader: Pick<WaveReader, 'progress'>,
    namespaces: Pick<NamespaceHoldsReader, 'of'>,
    hashes: Pick<ShownHashes, 'shown'>,
  ) {
    this.#reader = reader;
    this.#namespaces = namespaces;
    this.#hashes = hashes;
  }

  /** Rejects with ioredis' error. */
  async of({ key, row }: { key: SourceKey; row: SourceRow }, settings: ExplainSettings): Promise<Waves> {
    const { namespace } = await this.#namespaces.of(partsOf(key).namespace);
    const waves = wavesFor(row.annotations, namespace ?? {}, settings.holds ?? {});
    const hash = row.exists ? this.#hashes.shown(key, row.hash) : null;
    const none = { ...NONE, hash, problem: namespace ? null : NO_NAMESPACE };
    if (!waves) return none;
    const set = { ...none, waves: waves.waves, bake: shownBake(waves) };
    const [problem] = settings.dryRun ? [DRY_RUN] : waveProblems(waves);
    return problem === undefined
      ? await this.#progress(key, { ...waves, settings, set })
      : { ...set, problem };
  }

  /** Why a workload for which the change is pending waits for its wave; undefined: it does not. Rejects with ioredis' error. */
  async holdOf(
    workload: WorkloadKey,
    { key, row }: { key: SourceKey; row: SourceRow },
    settings: ExplainSettings,
  ): Promise<ReloadHold | undefined> {
    const { namespace = {} } = await this.#namespaces.of(namespaceOf(key));
    const waves = wavesFor(row.annotations, namespace, settings.holds ?? {});
    if (!waves || settings.dryRun) return undefined;
    const { source, members } = await this.#reader.progress(key, settings);
    if (!source || !members) return undefined;
    const change = { source: sourceNameOf(key), isResumed: isResumed(source), members };
    return waveHold({ ...waves, ...change, workload, now: Date.now() });
  }

  async #progress(
    key: SourceKey,
    { settings, set, ...waves }: WaveSettings & { settings: ExplainSettings; set: Waves },
  ): Promise<Waves> {
    const { source, members } = await this.#reader.progress(key, settings);
    if (!source || !members) return { ...set, problem: NO_ROLLOUTS };
    const resumed = isResumed(source);
    const plan = wavePlan({ ...waves, isResumed: resumed, members, now: Date.now() });
    // The plan may be of a moment ago.
    const hash = source.exists ? this.#hashes.shown(key, source.hash) : null;
    return { ...set, hash, resumed, ...planView(plan) };
  }
}

const NONE = { hash: null, waves: null, bake: null, plan: null, halted: null, resumed: false };

function shownBake({ bake = '0' }: WaveSettings): string | null {
  return readBake(bake) === 0 ? null : bake;
}

function planView(plan: WavePlan | undefined): Pick<Waves, 'plan' | 'halted'> {
  if (!plan) return { plan: null, halted: null };
  return { plan: plan.waves.map(waveView), halted: plan.halted ? memberView(plan.halted) : null };
}

function waveView({ state, until, members }: PlannedWave): NonNullable<Waves['plan']>[number] {
  return {
    state,
    until: until === undefined ? null : new Date(until).toISOString(),
    size: members.length,
    reloaded: members.filter(({ isReloaded }) => isReloaded).length,
    workloads: members.slice(0, MOST_LISTED).map(memberView),
  };
}

function memberView({ workload, isReloaded, detail }: PlannedMember): NonNullable<Waves['halted']> {
  return { workload: partsOf(workload), reloaded: isReloaded, detail };
}
