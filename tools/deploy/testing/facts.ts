import { at, titleOf, variablesOf } from '../look.ts';
import type { Manifest } from '../render.ts';

/**
 * What objects say, a line for each thing, so that two renders can be compared:
 * `Deployment reroll-watcher arg --debounce=1s`, `… env NAME=value`, `… pod.nodeSelector.disk="ssd"`,
 * `… container.image="…"`, `ClusterRole … may list,watch apps/deployments`, else `Kind name path=value`.
 */
export function factsOf(manifests: readonly Manifest[]): ReadonlyMap<string, readonly string[]> {
  return new Map(manifests.map((object) => [titleIn(object), lines(object)]));
}

/** `+` what is more and `-` what is less; of an object that is only on one side, no more than that. */
export function difference(before: readonly Manifest[], after: readonly Manifest[]): readonly string[] {
  const [old, now] = [factsOf(before), factsOf(after)];
  const titles = [...new Set([...old.keys(), ...now.keys()])].sort();
  return titles.flatMap((title) => {
    const [was, is] = [old.get(title), now.get(title)];
    if (was === undefined) return [`+ ${title}`];
    if (is === undefined) return [`- ${title}`];
    const less = was.filter((line) => !is.includes(line)).map((line) => `- ${title} ${line}`);
    const more = is.filter((line) => !was.includes(line)).map((line) => `+ ${title} ${line}`);
    return [...less, ...more];
  });
}

function titleIn({ kind, metadata: { name, namespace = 'reroll' } }: Manifest): string {
  return namespace === 'reroll' ? titleOf(kind, name) : `${titleOf(kind, name)} in ${namespace}`;
}

function lines(object: Manifest): readonly string[] {
  const rules = at(object, 'rules');
  if (Array.isArray(rules))
    return [...rulesOf(rules as readonly Rule[]), ...flat('metadata', object.metadata)];
  const pod = at(object, 'spec.template.spec') ?? (object.kind === 'Pod' ? at(object, 'spec') : undefined);
  return pod === undefined ? flat('', object) : workloadLines(object, pod);
}

function workloadLines(object: Manifest, pod: unknown): readonly string[] {
  const { containers, ...rest } = pod as { containers: readonly Readonly<Record<string, unknown>>[] };
  const spec = { ...(at(object, 'spec') as object), template: undefined };
  const { args = [], env, ...container } = containers[0] ?? {};
  return [
    ...(args as readonly string[]).map((arg) => `arg ${arg}`),
    ...variablesOf({ env: env ?? [] }).map((variable) => `env ${variable}`),
    ...flat('container', container),
    ...flat('pod', rest),
    ...flat('pod.metadata', at(object, 'spec.template.metadata')),
    ...flat('metadata', object.kind === 'Job' ? { ...object.metadata, name: undefined } : object.metadata),
    ...(object.kind === 'Pod' ? [] : flat('spec', spec)),
  ];
}

interface Rule {
  readonly apiGroups?: readonly string[];
  readonly resources?: readonly string[];
  readonly nonResourceURLs?: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly verbs: readonly string[];
}

/** `may get,list apps/deployments`; of the core group without a slash; with names in brackets; `may get /a/path`. */
export function rulesOf(rules: readonly Rule[]): readonly string[] {
  return rules.flatMap(({ apiGroups = [], resources = [], resourceNames, nonResourceURLs = [], verbs }) => [
    ...nonResourceURLs.map((url) => `may ${[...verbs].sort().join(',')} ${url}`),
    ...apiGroups.flatMap((group) =>
      resources.map((resource) => {
        const names = resourceNames === undefined ? '' : `[${resourceNames.join(',')}]`;
        return `may ${[...verbs].sort().join(',')} ${group === '' ? '' : `${group}/`}${resource}${names}`;
      }),
    ),
  ]);
}

function flat(path: string, value: unknown): readonly string[] {
  if (value === undefined) return [];
  const isBranch = typeof value === 'object' && value !== null && Object.keys(value).length > 0;
  if (!isBranch) return [`${path}=${path.includes('checksum/') ? '…' : JSON.stringify(value)}`];
  const entries = Object.entries(value);
  return entries.flatMap(([key, inner]) => flat(path === '' ? key : `${path}.${key}`, inner));
}
