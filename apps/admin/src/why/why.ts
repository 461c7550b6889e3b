import type { Explanation, Preview, PreviewRequest } from '@reroll/shared/api/explain';
import { explanationAnswer, previewAnswer } from '@reroll/shared/api/explained';
import { explain, type Explanation as Explained } from '@reroll/core/explain/explain';
import type { ExplainInput, ExplainSettings } from '@reroll/core/explain/facts';
import { PreviewedPairs } from '@reroll/core/explain/preview';
import { planOfSource } from '@reroll/core/explain/preview-source';
import { planOfWorkload } from '@reroll/core/explain/preview-workload';
import { withProposed } from '@reroll/core/explain/proposed';
import type { ReloadHold } from '@reroll/core/holds/hold';
import {
  kindOf,
  namespaceOf,
  keyOf,
  type SourceKey,
  type WorkloadKey,
  type WorkloadKind,
} from '@reroll/core/model';
import { decideReload } from '@reroll/core/rules/decision';
import { shownHash } from '@reroll/core/record/shown-hash';
import type { Caller } from '../auth/caller.ts';
import { ProblemError } from '../http/problem-error.ts';
import type { NamespaceHoldsReader } from '../objects/namespace-holds.ts';
import type { WavePlans } from '../objects/wave-plans.ts';
import { inTurns } from './in-turns.ts';
import { noSettings } from './no-settings.ts';
import type { WhyFacts } from './why-facts.ts';

const from = 'catalog';
const NOT_KNOWN = 'Its namespace or kind may not be watched.';

interface WhyContext {
  readonly facts: WhyFacts;
  readonly namespaces: Pick<NamespaceHoldsReader, 'of'>;
  readonly waves: Pick<WavePlans, 'holdOf'>;
}

interface PreviewBy {
  readonly settings: ExplainSettings;
  readonly signal: AbortSignal;
}

/** Explains and previews by what the catalog knows, as far as the caller sees it. */
export class Why {
  readonly #facts: WhyFacts;
  readonly #namespaces: WhyContext['namespaces'];
  readonly #waves: WhyContext['waves'];

  constructor({ facts, namespaces, waves }: WhyContext) {
    this.#facts = facts;
    this.#namespaces = namespaces;
    this.#waves = waves;
  }

  /** Rejects with a `ProblemError`, or ioredis' error. */
  async explain(asked: { workload: WorkloadKey; source: SourceKey }, caller: Caller): Promise<Explanation> {
    const namespace = namespaceOf(asked.workload);
    if (namespaceOf(asked.source) !== namespace) throw otherNamespace();
    await mustSee(caller, namespace);
    const [settings, workload, source, secret, pausedQueues, namespaces] = await Promise.all([
      this.#settings(),
      this.#facts.workload(asked.workload),
      this.#facts.source(asked.source),
      this.#facts.hashSecret(),
      this.#facts.pausedQueues(),
      this.#namespaces.of(namespace),
    ]);
    if (!workload) throw notKnown(asked.workload, settings);
    const now = Date.now();
    const sharers = await this.#facts.sharersOf(workload, settings);
    const input = { workload, source, settings, from, pausedQueues, now, namespaces, sharers } as const;
    const explained = explain(input);
    const wave = await this.#waveHold(input, explained);
    return explanationAnswer(wave ? explain({ ...input, wave }) : explained, from, (hash) =>
      shownHash(asked.source, hash, secret),
    );
  }

  /** Only what is pending waits for a wave. */
  async #waveHold(
    { workload, source: { key, row }, settings }: ExplainInput,
    { due }: Explained,
  ): Promise<ReloadHold | undefined> {
    if (due.state !== 'owed' || !row) return undefined;
    return await this.#waves.holdOf(workload.key, { key, row }, settings);
  }

  /** As `explain`. Takes long, and stops when the signal fires. */
  async preview(asked: PreviewRequest, caller: Caller, signal: AbortSignal): Promise<Preview> {
    await mustSee(caller, (asked.of === 'source' ? asked.source : asked.workload).namespace);
    const by = { settings: await this.#settings(), signal };
    return asked.of === 'source' ? await this.#ofSource(asked, by) : await this.#ofWorkload(asked, by);
  }

  async #ofSource(
    { source: id, annotations }: Extract<PreviewRequest, { of: 'source' }>,
    { settings, signal }: PreviewBy,
  ): Promise<Preview> {
    const source = await this.#facts.source(keyOf(id));
    const namespaces = await this.#namespaces.of(id.namespace);
    const known = { source, annotations, settings, from, now: Date.now(), namespaces } as const;
    const found = new PreviewedPairs(planOfSource({ ...known, workloads: [] }));
    // The index of the source's users lacks those that only a pattern or an exclusion relates to it.
    for await (const workloads of this.#facts.eachWorkloadOf(id.namespace))
      await inTurns(found.add(planOfSource({ ...known, workloads }).pairs), signal);
    const preview = found.preview();
    if (!source.row && preview.verdicts.length === 0) throw notKnown();
    return previewAnswer(preview);
  }

  async #ofWorkload(
    { workload: id, ...proposed }: Extract<PreviewRequest, { of: 'workload' }>,
    { settings, signal }: PreviewBy,
  ): Promise<Preview> {
    const workload = await this.#facts.workload(keyOf(id));
    if (!workload) throw notKnown(keyOf(id), settings);
    const read = this.#facts.sourcesOf(id.namespace, settings);
    const then = withProposed(workload, proposed, settings.decision.keys);
    const sources = await read([workload, then]);
    const namespaces = await this.#namespaces.of(id.namespace);
    const plan = planOfWorkload({ workload, proposed, sources, settings, namespaces, from, now: Date.now() });
    const found = new PreviewedPairs(plan);
    await inTurns(found.add(plan.pairs), signal);
    for await (const followers of this.#facts.eachFollowerOf(workload))
      await inTurns(found.add(plan.pairsOfFollowers(followers, await read(followers))), signal);
    return previewAnswer(found.preview());
  }

  async #settings(): Promise<ExplainSettings> {
    const settings = await this.#facts.settings();
    if (settings) return settings;
    throw noSettings();
  }
}

async function mustSee(caller: Caller, namespace: string): Promise<void> {
  if (!(await caller.seesAll()) && !(await caller.sees(namespace))) throw notKnown();
}

/**
 * The same for a workload that does not exist and one that the caller may not see. Of a kind that is ignored as a whole,
 * nothing is known either.
 */
function notKnown(workload?: WorkloadKey, settings?: ExplainSettings): ProblemError {
  const ignored = workload && settings && ignoredKind(kindOf(workload), settings);
  return new ProblemError('NotFound', { detail: ignored ?? NOT_KNOWN });
}

function ignoredKind(kind: WorkloadKind, { decision }: ExplainSettings): string | undefined {
  const none = { annotations: {}, podAnnotations: {} };
  const source = { kind: 'ConfigMap', name: '', annotations: {} } as const;
  const { rule, detail } = decideReload({ source, workload: { ...none, kind }, settings: decision });
  return rule === 'IgnoredWorkloadKind' ? `None is watched: ${detail}.` : undefined;
}

function otherNamespace(): ProblemError {
  return new ProblemError('InvalidRequest', {
    errors: [{ path: 'query.source', expected: "a source of the workload's namespace" }],
  });
}
