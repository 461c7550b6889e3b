import { isDependency, namedSources } from '../state/dependencies/dependencies.ts';
import { sourcesExcess } from '../state/dependencies/dependency-limits.ts';
import { decidingKeys } from '../state/observe.ts';
import { sourceKeyIn, sourceNameOf, type SourceRow } from '../state/rows.ts';
import type { AnnotationKeys } from '../annotations/annotation-keys.ts';
import { kindOf, namespaceOf, type SourceKey, type SourceKind } from '../model.ts';
import { RECORD_ANNOTATION, recordedHashes } from '../record/record.ts';
import { NEXT_JOB_ANNOTATION } from '../reload/job-of-cron-job.ts';
import { PENDING_JOB_ANNOTATION } from '../reload/pending-job.ts';
import { REQUEST_ANNOTATION } from '../reload/request.ts';
import type { DecisionSettings } from '../rules/decision.ts';
import type { ExplainedSource, ExplainedWorkload, ExplainInput } from './facts.ts';
import { unreadNamespaces } from './holds.ts';
import { preview, type Preview, type PreviewPair, type PreviewPlan } from './preview.ts';
import { followerOf, unreadKeys, withProposed, type ProposedAnnotations } from './proposed.ts';

export interface WorkloadPreviewInput extends Pick<
  ExplainInput,
  'settings' | 'from' | 'now' | 'namespaces' | 'unwatched'
> {
  readonly workload: ExplainedWorkload;
  readonly proposed: ProposedAnnotations;
  /** The sources of its namespace: at least `sourcesOf`, and all sources of the kinds that a pattern may match. */
  readonly sources: ReadonlyMap<SourceKey, SourceRow>;
}

const ROLLS_ITSELF = 'Changing annotations of the pod template starts a rollout by itself.';

export interface WorkloadPreviewPlan extends PreviewPlan {
  /**
   * Returns the pairs of workloads that follow its pod template. `sources`: as in the input, for these workloads and the one that they
   * follow.
   */
  readonly pairsOfFollowers: (
    followers: readonly ExplainedWorkload[],
    sources: WorkloadPreviewInput['sources'],
  ) => Iterable<PreviewPair>;
}

/** Previews what changes of its sources would do if a workload had other annotations. `sources`: for the followers, too. */
export function previewWorkload({
  followers,
  ...input
}: WorkloadPreviewInput & {
  /** Workloads that follow its pod template. */
  readonly followers: readonly ExplainedWorkload[];
}): Preview {
  const plan = planOfWorkload(input);
  return preview({ ...plan, pairs: all() });

  function* all(): Generator<PreviewPair, void, void> {
    yield* plan.pairs;
    yield* plan.pairsOfFollowers(followers, input.sources);
  }
}

/** Its pairs are those of the workload itself. */
export function planOfWorkload(input: WorkloadPreviewInput): WorkloadPreviewPlan {
  const { workload, proposed, sources, ...rest } = input;
  const { decision } = rest.settings;
  const { keys } = decision;
  const then = withMatches(withProposed(workload, proposed, keys), sources, decision);
  const given = { ...proposed.annotations, ...proposed.podAnnotations };
  const rolls = proposed.podAnnotations === undefined ? [] : [ROLLS_ITSELF];
  const unread = unreadKeys(given, [...decidingKeys(keys), ...writtenKeys(keys)]);
  return {
    pairs: pairsOf(workload, then, sources),
    *pairsOfFollowers(followers, known) {
      const change = { before: workload, owner: then };
      for (const follower of followers)
        yield* pairsOf(follower, followerOf(follower, change, decision), known);
    },
    remarks: [...rolls, ...unread, ...unreadNamespaces(rest)],
  };

  function pairsOf(
    today: ExplainedWorkload,
    other: ExplainedWorkload,
    known: WorkloadPreviewInput['sources'],
  ): PreviewPair[] {
    return candidates([today, other], known, keys).map((source) => ({
      today: { ...rest, workload: today, source },
      proposed: { ...rest, workload: other, source },
    }));
  }
}

/** Annotations that Reroll writes on workloads and pod templates. They must not be called useless. */
function writtenKeys({ pausedAt, lastReloadedFrom }: AnnotationKeys): string[] {
  const own = [RECORD_ANNOTATION, REQUEST_ANNOTATION, NEXT_JOB_ANNOTATION, PENDING_JOB_ANNOTATION];
  return [...own, pausedAt, lastReloadedFrom];
}

/** Returns the workload as it is with these sources: left alone if it would depend on too many of them. */
function withMatches(
  { key, row, ...rest }: ExplainedWorkload,
  sources: ReadonlyMap<SourceKey, SourceRow>,
  decision: DecisionSettings,
): ExplainedWorkload {
  const dependencies = candidates([{ key, row }], sources, decision.keys).filter((source) => {
    const asked = { workload: { ...row, kind: kindOf(key) }, source: sourceNameOf(source.key) };
    return isDependency({ ...asked, annotations: source.row?.annotations }, decision);
  });
  const excess = row.excess ?? sourcesExcess(dependencies.length, decision.keys.limits);
  return { key, row: { ...row, excess }, ...rest };
}

/** Annotations may name what no object can be called. */
const NAMEABLE = /^\w+\/[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/;

/** Returns the sources that a workload uses, mentions, has recorded or names literally. */
export function sourcesOf({ key, row }: ExplainedWorkload, keys: AnnotationKeys): SourceKey[] {
  const { literal } = namedSources(row, keys);
  const names = [
    ...row.uses,
    ...row.mentions,
    ...row.dependencies,
    ...literal,
    ...Object.keys(recordedHashes(row.record)),
  ];
  return [...new Set(names)]
    .filter((name) => NAMEABLE.test(name))
    .map((name) => sourceKeyIn(namespaceOf(key), name));
}

/** Returns the kinds of which a pattern may match any source of the namespace. */
export function patternedKinds({ row }: ExplainedWorkload, keys: AnnotationKeys): readonly SourceKind[] {
  return namedSources(row, keys).patterned;
}

/** Returns the sources that the workloads name literally, and the existing ones of the kinds that they name by pattern. */
function candidates(
  workloads: readonly ExplainedWorkload[],
  known: ReadonlyMap<SourceKey, SourceRow>,
  keys: AnnotationKeys,
): ExplainedSource[] {
  const found = new Set(workloads.flatMap((workload) => sourcesOf(workload, keys)));
  const patterned = workloads.flatMap((workload) => patternedKinds(workload, keys));
  for (const source of known.keys()) if (patterned.some((kind) => kind === kindOf(source))) found.add(source);
  return [...found].map((key) => ({ key, row: known.get(key) }));
}
