/** The rules that the world uses, once more and without regard to speed; the vectors prove Reroll's own. */
import { isExcessive, typeOf } from './objects.ts';
import type { Shown } from './restarts.ts';
import { hasLabel } from './scope.ts';
import type { KubeObject, PodTemplate } from './shapes.ts';

type Annotations = Readonly<Record<string, string>>;

/** Whether a change of the source is to reload the workload, as both are now. `source`: `ConfigMap/ns/name`; the object if there is one. */
export type DependsOn = (workload: Shown, object: KubeObject | undefined, source: string) => boolean;

const AUTO = 'reloader.stakater.com/auto';

export interface DependenciesBy {
  /** Who says nothing of `auto` asks for it. */
  readonly isAutoReloadAll: boolean;
  /** Sources without the label count for nothing. That of a class is looked for on its statuses, which have none here. */
  readonly isByLabel: boolean;
}

export function dependencies({ isAutoReloadAll, isByLabel }: DependenciesBy): DependsOn {
  return (workload, object, source) => {
    const [kind = '', , name = ''] = source.split('/');
    const annotations = annotationsOf(workload.object);
    const { one, several } = typeOf(kind);
    if (isLeftAlone(workload, isAutoReloadAll) || isLeftOut(object, isByLabel)) return false;
    if (listIn(annotations, `${several}.exclude.reloader.stakater.com/reload`).includes(name)) return false;
    const patterns = listIn(annotations, `${one}.reloader.stakater.com/reload`);
    if (patterns.some((each) => isMatch(each, name))) return true;
    if (!uses(workload.template, kind, name)) return false;
    const isAuto = asksForAll(annotations, one, isAutoReloadAll);
    return isAuto || isFound(annotations, annotationsOf(object));
  };
}

/** A pattern that cannot be read matches nothing. */
function isMatch(pattern: string, name: string): boolean {
  try {
    return new RegExp(`^(${pattern})$`).test(name);
  } catch {
    return false;
  }
}

/** For every source of this type that it uses. */
function asksForAll(annotations: Annotations, type: string, isAutoReloadAll: boolean): boolean {
  const own = [annotations[AUTO], annotations[`${type}.${AUTO}`]];
  const isUnsaid = own.every((auto) => auto === undefined);
  return own.includes('true') || (isUnsaid && isAutoReloadAll);
}

/** One whose template is a Deployment's is left to the reload of that. */
function isLeftAlone({ object, isLeftAlone: isByItself }: Shown, isAutoReloadAll: boolean): boolean {
  const { workloadRef } = object['spec'] as { workloadRef?: unknown };
  return isByItself || isExcessive(object) || (isAutoReloadAll && workloadRef !== undefined);
}

function isLeftOut(source: KubeObject | undefined, isByLabel: boolean): boolean {
  return isIgnored(source) || (isByLabel && isUnlabelled(source));
}

function isIgnored(source: KubeObject | undefined): boolean {
  return annotationsOf(source)['reloader.stakater.com/ignore'] === 'true';
}

function isUnlabelled(source: KubeObject | undefined): boolean {
  return source !== undefined && (source.kind === 'SecretProviderClass' || !hasLabel(source));
}

function listIn(annotations: Annotations, key: string): string[] {
  return (annotations[key] ?? '').split(',');
}

function annotationsOf(object: KubeObject | undefined): Annotations {
  return object?.metadata.annotations ?? {};
}

function isFound(annotations: Annotations, ofSource: Annotations): boolean {
  const searches = annotations['reloader.stakater.com/search'] === 'true';
  return searches && ofSource['reloader.stakater.com/match'] === 'true';
}

const USES: Readonly<Record<string, (name: string) => string>> = {
  ConfigMap: (name) => `{"name":"${name}"}`,
  Secret: (name) => `"secretName":"${name}"`,
  SecretProviderClass: (name) => `"secretProviderClass":"${name}"`,
};

export function uses(template: PodTemplate | undefined, kind: string, name: string): boolean {
  const use = USES[kind]?.(name);
  return use !== undefined && JSON.stringify(template ?? {}).includes(use);
}
