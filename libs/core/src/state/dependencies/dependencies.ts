import { isSameExcess } from '../../annotations/annotation-limits.ts';
import { adoptedNames } from '../../adopted/adopted.ts';
import type { AnnotationKeys } from '../../annotations/annotation-keys.ts';
import type { Annotations, SourceKey, SourceKind } from '../../model.ts';
import { nameList } from '../../patterns/patterns.ts';
import { work } from '../../work.ts';
import {
  decideReload,
  type Decision,
  type DecisionInput,
  type DecisionSettings,
} from '../../rules/decision.ts';
import {
  NO_ANNOTATIONS,
  NO_NAMES,
  sameLists,
  sameRecords,
  sourceNameOf,
  type ObservedWorkload,
  type SourceName,
} from '../rows.ts';

/** A name without characters that are special in a pattern, so that it matches only itself. */
const LITERAL = /^[A-Za-z0-9-]+$/;

type NamedKeys = readonly (readonly [SourceKind, Exclude<keyof AnnotationKeys, 'adopt' | 'limits'>])[];
const NAMED: NamedKeys = [
  ['ConfigMap', 'configMapReload'],
  ['Secret', 'secretReload'],
  ['SecretProviderClass', 'secretProviderClassReload'],
];

/** The fields of a workload that decide its dependencies. */
export type Deciding = Pick<
  ObservedWorkload,
  'kind' | 'annotations' | 'podAnnotations' | 'uses' | 'hasContainers' | 'leftAlone' | 'excess'
>;

type Annotated = Pick<Deciding, 'annotations' | 'podAnnotations'>;

export interface NamedSources {
  /** Names that the annotations spell out. */
  readonly literal: readonly SourceName[];
  /** Kinds whose sources the annotations name by pattern; any source of the namespace may match. */
  readonly patterned: readonly SourceKind[];
}

/** Returns what the named lists in the workload's metadata and pod template can match. */
export function namedSources(workload: Annotated, keys: AnnotationKeys): NamedSources {
  const literal: SourceName[] = [];
  const patterned: SourceKind[] = [];
  for (const [kind, field] of NAMED) {
    const key = keys[field];
    const words = [workload.annotations[key], workload.podAnnotations[key]]
      .flatMap((list) => (list === undefined ? [] : [...nameList(list).words]))
      .filter((word) => word !== '');
    for (const word of words) {
      if (!LITERAL.test(word)) patterned.push(kind);
      if (/^[A-Za-z0-9.-]+$/.test(word)) literal.push(`${kind}/${word}`);
    }
    work.dependencyNames += words.length;
  }
  literal.push(...adoptedSources(workload, keys));
  return { literal, patterned: [...new Set(patterned)] };
}

function adoptedSources({ annotations }: Annotated, { adopt = [] }: AnnotationKeys): SourceName[] {
  return adopt.flatMap((system) =>
    (['ConfigMap', 'Secret'] as const).flatMap((kind) =>
      [...adoptedNames(annotations, system, kind)]
        .filter((name) => name !== '' && !name.includes('/'))
        .map((name) => `${kind}/${name}`),
    ),
  );
}

export interface DependencyQuestion {
  readonly workload: Deciding;
  readonly source: SourceName;
  /** The source's own annotations; undefined if the source is not known. */
  readonly annotations: Annotations | undefined;
  /** Whether a container uses the source, if the caller already knows. */
  readonly isUsed?: boolean | undefined;
}

export interface DependencyJudgement {
  readonly decision: Decision;
  /** Whether a container can carry the marker. If the source is named, any container can; otherwise one that uses it. */
  readonly isCarried: boolean;
}

export function decisionInput(question: DependencyQuestion, settings: DecisionSettings): DecisionInput {
  const { workload, source } = question;
  const slash = source.indexOf('/');
  return {
    source: {
      kind: source.slice(0, slash) as SourceKind,
      name: source.slice(slash + 1),
      annotations: question.annotations ?? NO_ANNOTATIONS,
    },
    workload,
    settings,
  };
}

/** Returns the decision of the rules, and whether a container can carry the marker. */
export function judgeDependency(
  question: DependencyQuestion,
  settings: DecisionSettings,
): DependencyJudgement {
  const { workload, source } = question;
  const decision = decideReload(decisionInput(question, settings));
  const isUsed = question.isUsed ?? workload.uses.includes(source);
  return { decision, isCarried: decision.auto ? isUsed : workload.hasContainers };
}

interface JudgedBy {
  readonly settings: DecisionSettings;
  readonly annotationsOf: (source: SourceName) => Annotations | undefined;
}

/** Returns a predicate that tells whether a source is a dependency of this workload. */
export function dependencyJudge(workload: Deciding, by: JudgedBy): (source: SourceName) => boolean {
  const used = new Set(workload.uses);
  return (source) =>
    isDependency(
      { workload, source, annotations: by.annotationsOf(source), isUsed: used.has(source) },
      by.settings,
    );
}

/**
 * Returns the candidates that are dependencies, each once. Stops when `isOver` says so, and leaves the other candidates in the
 * iterator.
 */
export function dependenciesAmong(
  candidates: Iterator<SourceName>,
  isDependency: (source: SourceName) => boolean,
  isOver: () => boolean,
): SourceName[] {
  const dependencies: SourceName[] = [];
  const asked = new Set<SourceName>();
  for (let next = candidates.next(); !next.done; next = candidates.next()) {
    const source = next.value;
    if (asked.has(source)) continue;
    asked.add(source);
    if (isDependency(source)) dependencies.push(source);
    if (isOver()) break;
  }
  return dependencies;
}

/**
 * Yields every source that can be a dependency of the workload, some more than once; first those that it uses or names literally.
 */
export function* candidatesOf(
  workload: Deciding,
  keys: AnnotationKeys,
  sources: {
    /** The dependencies until now. */
    readonly before: readonly SourceName[] | undefined;
    /** Returns the known sources of a kind in the workload's namespace. */
    readonly known: (kind: SourceKind) => Iterable<SourceKey>;
  },
): Generator<SourceName, void, void> {
  yield* workload.uses;
  const { literal, patterned } = namedSources(workload, keys);
  yield* literal;
  if (patterned.length > 0) yield* sources.before ?? NO_NAMES;
  for (const kind of patterned) for (const key of sources.known(kind)) yield sourceNameOf(key);
}

/** Whether two sightings of a workload have the same dependencies while its sources stay the same. */
export function decidesTheSame(a: Omit<Deciding, 'kind'>, b: Omit<Deciding, 'kind'>): boolean {
  return (
    a.hasContainers === b.hasContainers &&
    a.leftAlone === b.leftAlone &&
    isSameExcess(a.excess, b.excess) &&
    sameRecords(a.annotations, b.annotations) &&
    sameRecords(a.podAnnotations, b.podAnnotations) &&
    sameLists(a.uses, b.uses)
  );
}

/** Whether a change of the source's data reloads the workload: the rules allow it, and a container can carry the marker. */
export function isDependency(question: DependencyQuestion, settings: DecisionSettings): boolean {
  const { decision, isCarried } = judgeDependency(question, settings);
  return decision.reload && isCarried;
}

/** A cheap check: true if no annotation and no setting can make a dependency, or the workload exceeds a limit. */
export function hasNoDependencies(workload: Deciding, settings: DecisionSettings): boolean {
  if (workload.excess) return true;
  if (settings.autoReloadAll) return false;
  return isEmpty(workload.annotations) && isEmpty(workload.podAnnotations);
}

function isEmpty(annotations: Annotations): boolean {
  for (const _ in annotations) return false;
  return true;
}

/** Returns the list, or the shared empty list if it is empty. */
export function compact(names: readonly SourceName[]): readonly SourceName[] {
  return names.length === 0 ? NO_NAMES : names;
}
