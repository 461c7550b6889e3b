import { namespaceName, objectName } from '@reroll/shared/api/common';
import { isSourceKind, type SourceKind, type WorkloadKind } from '@reroll/core/model';
import { usageError, type CliError } from '../errors.ts';
import { SOURCE_WORDS, sourceKindOf, WORKLOAD_WORDS, workloadKindOf } from './kinds.ts';

interface ObjectRef<Kind extends string> {
  readonly kind: Kind;
  readonly namespace: string;
  readonly name: string;
}
export type WorkloadRef = ObjectRef<WorkloadKind>;
export type SourceRef = ObjectRef<SourceKind>;

interface Sort<Kind extends string> {
  readonly noun: string;
  readonly words: readonly string[];
  readonly example: string;
  readonly kindOf: (text: string) => Kind | undefined;
}

const WORKLOAD: Sort<WorkloadKind> = {
  noun: 'a workload',
  words: WORKLOAD_WORDS,
  example: 'deploy/web',
  kindOf: workloadKindOf,
};
const SOURCE: Sort<SourceKind> = {
  noun: 'a source',
  words: SOURCE_WORDS,
  example: 'secret/db',
  kindOf: sourceKindOf,
};

const EITHER: Sort<SourceKind | WorkloadKind> = {
  noun: `${SOURCE.noun} or ${WORKLOAD.noun}`,
  words: [...SOURCE_WORDS, ...WORKLOAD_WORDS],
  example: SOURCE.example,
  kindOf: (text) => sourceKindOf(text) ?? workloadKindOf(text),
};

/**
 * Reads the object that `deploy/web`, `deployment.apps/web`, `deploy web` or `Deployment/shop/web` names. The last form,
 * which the API uses, has its own namespace; the others are in `namespace`.
 * @throws a usage error that says what was
 * expected and what was given
 */
export function workloadRef(words: readonly string[], namespace: string): WorkloadRef {
  return objectRef(WORKLOAD, words, namespace);
}

export function sourceRef(words: readonly string[], namespace: string): SourceRef {
  return objectRef(SOURCE, words, namespace);
}

/** A source or a workload, for commands that take both. */
export function anyRef(words: readonly string[], namespace: string): SourceRef | WorkloadRef {
  return objectRef(EITHER, words, namespace);
}

export function isSourceRef(object: SourceRef | WorkloadRef): object is SourceRef {
  return isSourceKind(object.kind);
}

function partsOf(words: readonly string[]): string[] {
  return words.length === 1 ? (words[0] ?? '').split('/') : [...words];
}

function objectRef<Kind extends string>(
  sort: Sort<Kind>,
  words: readonly string[],
  namespace: string,
): ObjectRef<Kind> {
  const parts = partsOf(words);
  const isMixed = words.length > 1 && words.some((word) => word.includes('/'));
  if (parts.length < 2 || parts.length > 3 || isMixed) {
    throw unexpected(`${sort.noun} as <kind>/<name>, e.g. ${sort.example}`, words.join(' '));
  }
  const [kindWord = '', second = '', third] = parts;
  const kind = sort.kindOf(kindWord);
  if (kind === undefined) throw unexpected(`${sort.noun} (${sort.words.join(', ')})`, kindWord);
  const named = third === undefined ? { namespace, name: second } : { namespace: second, name: third };
  checkNames(sort.noun, named);
  return { kind, ...named };
}

function checkNames(noun: string, { namespace, name }: { namespace: string; name: string }): void {
  if (!objectName.safeParse(name).success) throw unexpected(`the name of ${noun}`, name);
  if (!namespaceName.safeParse(namespace).success) throw unexpected('the name of a namespace', namespace);
}

function unexpected(expected: string, given: string): CliError {
  return usageError(`expected ${expected}, given ${JSON.stringify(given)}`);
}
