import { labelSelectorText, matchesLabels } from '@reroll/core/label-selector';
import type { ExplainedSource } from '@reroll/core/explain/facts';
import { kindOf, type SourceKey } from '@reroll/core/model';
import { METADATA_ONLY } from '@reroll/kube/client/connection';
import { KubeError } from '@reroll/kube/client/errors';
import { namespacePath, type KubeObject } from '@reroll/kube/objects';
import type { WorkloadKindDefinition } from '@reroll/kube/workloads/definition';
import { WORKLOAD_DEFINITIONS, workloadKind } from '@reroll/kube/workloads/registry';
import { OPTIONS } from '@reroll/shared/platform/options/parsing/table';
import type { SourceRef, WorkloadRef } from '../args/object-ref.ts';
import { CliError } from '../errors.ts';
import type { Session } from '../session.ts';
import { findSettings, type FoundSettings } from './settings.ts';

/**
 * Finds the settings that decide about the object.
 * @throws a `CliError` if Reroll does not watch its namespace, or workloads of its kind; the admin does not know it then, either
 */
export async function settingsFor(
  session: Session,
  flags: readonly string[],
  { kind, namespace }: SourceRef | WorkloadRef,
): Promise<FoundSettings> {
  const found = await findSettings(session, flags);
  const why = unwatchedKind(found, kind) ?? unwatchedNamespace(found, namespace);
  if (why !== undefined) throw notWatched(why, found);
  const isSelected = await isSelectedNamespace(session, found, namespace);
  if (isSelected === 'unknown') {
    const { flag } = OPTIONS.namespaceSelector;
    const unknown = `you may not read the Namespace, so whether ${flag} selects it is not known`;
    return { ...found, from: `${found.from}; ${unknown}` };
  }
  if (isSelected) return found;
  throw notWatched(
    `the namespace ${namespace}: it does not match ${OPTIONS.namespaceSelector.flag}=${selectorOf(found)}`,
    found,
  );
}

function notWatched(what: string, { from }: FoundSettings): CliError {
  const hints = [`settings: ${from}`, 'to assume others, give flags of Reroll after --'];
  return new CliError(`Reroll does not watch ${what}`, { hints });
}

function unwatchedKind({ options }: FoundSettings, kind: string): string | undefined {
  const isWanted = workloadKind(kind)?.isWanted?.(options) ?? true;
  if (isWanted) return undefined;
  const { flag } = kind === 'Rollout' ? OPTIONS.isArgoRollouts : OPTIONS.isOpenshift;
  return `${kind}s: ${flag} is false`;
}

function unwatchedNamespace({ options }: FoundSettings, namespace: string): string | undefined {
  const { namespaces, namespacesToIgnore } = options;
  const [flag, isWatched] =
    namespaces.length > 0
      ? ([OPTIONS.namespaces.flag, namespaces.includes(namespace)] as const)
      : ([OPTIONS.namespacesToIgnore.flag, !namespacesToIgnore.includes(namespace)] as const);
  if (isWatched) return undefined;
  return `the namespace ${namespace}: ${flag}=${(namespaces.length > 0 ? namespaces : namespacesToIgnore).join(',')}`;
}

async function isSelectedNamespace(
  { cluster, io }: Session,
  { options: { namespaces, namespaceSelector } }: FoundSettings,
  name: string,
): Promise<boolean | 'unknown'> {
  if (namespaceSelector === undefined || namespaces.length > 0) return true;
  try {
    const read = { accept: METADATA_ONLY, signal: io.signal };
    const { body } = await cluster.client.get<KubeObject>(namespacePath(name), read);
    return matchesLabels(namespaceSelector, body.metadata.labels);
  } catch (error) {
    if (error instanceof KubeError && error.status === 403) return 'unknown';
    // The caller finds out that there is no such object.
    if (error instanceof KubeError && error.status === 404) return true;
    throw error;
  }
}

function selectorOf({ options: { namespaceSelector = [] } }: FoundSettings): string {
  return labelSelectorText(namespaceSelector);
}

/** The kinds of workloads that are watched. */
export function watchedKinds({ options }: FoundSettings): readonly WorkloadKindDefinition[] {
  const ignored: readonly string[] = options.ignoredWorkloadTypes;
  return WORKLOAD_DEFINITIONS.filter(
    ({ isWanted, plural }) => (isWanted?.(options) ?? true) && !ignored.includes(plural),
  );
}

/** Those of the sources that are not watched, and why. */
export function unwatchedOf(
  found: FoundSettings,
  sources: readonly ExplainedSource[],
): ReadonlyMap<SourceKey, string> {
  return new Map(
    sources.flatMap((source) => {
      const why = unwatchedSource(found, source);
      return why === undefined ? [] : [[source.key, why] as const];
    }),
  );
}

/** The labels of a SecretProviderClass do not count: those of the statuses of its pods do. */
function unwatchedSource(
  { options: { enableCsiIntegration, resourceLabelSelector: selector } }: FoundSettings,
  { key, row, labels, isUnreadable }: ExplainedSource,
): string | undefined {
  if (kindOf(key) === 'SecretProviderClass')
    return enableCsiIntegration
      ? undefined
      : 'SecretProviderClasses are not watched without `--enable-csi-integration`.';
  if (selector === undefined || !row || isUnreadable === true || matchesLabels(selector, labels))
    return undefined;
  return `The source is not watched: its labels do not match \`--resource-label-selector=${labelSelectorText(selector)}\`.`;
}
