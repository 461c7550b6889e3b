import { decidingAnnotations, sourceAnnotations } from '../state/observe.ts';
import { conflictAfter } from '../state/workloads/conflict.ts';
import { withTemplateOf, withoutRoomOf } from '../state/workloads/template-owner.ts';
import { withinLimits } from '../state/workloads/within-limits.ts';
import { NO_ANNOTATIONS, type WorkloadRow } from '../state/rows.ts';
import { isSameExcess } from '../annotations/annotation-limits.ts';
import type { AnnotationKeys } from '../annotations/annotation-keys.ts';
import { kindOf, namespaceOf, type Annotations } from '../model.ts';
import type { DecisionSettings } from '../rules/decision.ts';
import type { ExplainedSource, ExplainedWorkload } from './facts.ts';

/** Annotations that would replace the present ones. */
export interface ProposedAnnotations {
  /** On the workload's own metadata. */
  readonly annotations: Annotations;
  /** On its pod template; undefined: unchanged. */
  readonly podAnnotations?: Annotations | undefined;
}

/** No hash of a template ends like this. */
const EDITED = '~';

/**
 * Returns the workload as it would be with other annotations. Annotations of other systems (`--adopt`) stay, because their
 * translation needs the pod template.
 */
export function withProposed(
  workload: ExplainedWorkload,
  proposed: ProposedAnnotations,
  keys: AnnotationKeys,
): ExplainedWorkload {
  const { conflict: _conflict, ...row } = workload.row;
  const annotations = {
    ...foreign(row.annotations, keys),
    ...decidingAnnotations(proposed.annotations, keys),
  };
  const { podAnnotations } = proposed;
  // Not all annotations of the pod template are known, so those that are given count as an edit.
  const template = podAnnotations ? `${row.template}${EDITED}` : row.template;
  const conflict = conflictAfter(workload.row, { ...row, template, annotations }, true);
  const then = {
    ...row,
    ...(conflict ? { conflict } : {}),
    template,
    annotations,
    podAnnotations: podAnnotations ? decidingAnnotations(podAnnotations, keys) : row.podAnnotations,
    excess: row.excess?.inTemplate ? row.excess : workload.ownerExcess,
  };
  return { ...workload, row: withinLimits(then, keys) };
}

/** Returns a workload that follows a pod template, as it would be if its owner changed so. */
export function followerOf(
  { key, ...rest }: ExplainedWorkload,
  { before, owner }: { readonly before: ExplainedWorkload; readonly owner: ExplainedWorkload },
  settings: DecisionSettings,
): ExplainedWorkload {
  const { leftAlone: _leftAlone, conflict: _conflict, templateOwner, ...row } = rest.row;
  if (templateOwner?.key !== owner.key) return { key, ...rest };
  const identity = { key, kind: kindOf(key), namespace: namespaceOf(key) };
  const templateFrom = { owner: owner.key, isMarkedThere: templateOwner.isMarked };
  // A row does not tell whose excess it has.
  const excess = isSameExcess(row.excess, before.row.excess) ? undefined : row.excess;
  const followed = withTemplateOf({ ...row, excess, ...identity, templateFrom }, owner.row, settings);
  const seen = withoutRoomOf(rest.row, followed);
  const {
    key: _key,
    kind: _kind,
    namespace: _namespace,
    writtenAt: _at,
    templateFrom: _from,
    ...joined
  } = seen;
  const conflict = conflictAfter(rest.row, seen, true);
  return { ...rest, key, row: { ...datesOf(rest.row), ...joined, ...(conflict ? { conflict } : {}) } };
}

/** Returns a source as it would be with other annotations; unchanged without a proposal. */
export function sourceWithProposed(
  source: ExplainedSource,
  annotations: Annotations,
  keys: AnnotationKeys,
): ExplainedSource {
  const { row } = source;
  return row ? { ...source, row: { ...row, annotations: sourceAnnotations(annotations, keys) } } : source;
}

function datesOf({ templateRv, dependencies, unverified, baselines, stale }: WorkloadRow) {
  return { templateRv, dependencies, unverified, baselines, stale };
}

/** Returns the annotations of a row that are not this installation's own. */
function foreign(annotations: Annotations, keys: AnnotationKeys): Annotations {
  const own = decidingAnnotations(annotations, keys);
  const others = Object.entries(annotations).filter(([key]) => !Object.hasOwn(own, key));
  return others.length === 0 ? NO_ANNOTATIONS : Object.fromEntries(others);
}

/** Returns remarks on keys that look as if they had an effect but have none, because they are often misspelt. */
export function unreadKeys(annotations: Annotations, deciding: readonly string[]): string[] {
  return Object.keys(annotations)
    .filter((key) => /reload|reroll/i.test(key) && !deciding.includes(key))
    .map((key) => `The annotation ${JSON.stringify(key)} has no effect here.`);
}
