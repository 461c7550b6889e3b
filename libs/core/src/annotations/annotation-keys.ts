import { LAST_RELOADED_FROM } from '../marker/last-reloaded-from.ts';
import type { AdoptedSystem } from '../adopted/adopted.ts';
import type { AnnotationLimits } from './annotation-limits.ts';
import type { Annotations, SourceKind } from '../model.ts';

/**
 * The annotation keys of an installation. The defaults are those of stakater/Reloader. Every key can be set, even those for which
 * stakater/Reloader has no flag.
 */
export interface AnnotationKeys {
  /** On a workload: reload when a source of any kind that it uses changes. */
  readonly auto: string;
  /** On a workload: as `auto`, for one kind of source. */
  readonly configMapAuto: string;
  readonly secretAuto: string;
  readonly secretProviderClassAuto: string;
  /** On a workload: reload when a source changes whose name matches one of these patterns. */
  readonly configMapReload: string;
  readonly secretReload: string;
  readonly secretProviderClassReload: string;
  /** On a workload: never reload for the sources with these names. */
  readonly configMapExclude: string;
  readonly secretExclude: string;
  readonly secretProviderClassExclude: string;
  /** On a workload: reload when a source changes that it uses and that carries `match`. */
  readonly search: string;
  /** On a source: the annotation that `search` looks for. */
  readonly match: string;
  /** On a source: never reload a workload for it. */
  readonly ignore: string;
  /** On a Deployment: how long its rollout is paused after a reload. */
  readonly pausePeriod: string;
  /** On a Deployment, written with a pause: the time at which it began. */
  readonly pausedAt: string;
  /** On an Argo Rollout: `restart` or `rollout`. */
  readonly rolloutStrategy: string;
  /** On a pod template, written at a reload with the annotations strategy. */
  readonly lastReloadedFrom: string;
  /** Other systems whose annotations count too. Default none. */
  readonly adopt?: readonly AdoptedSystem[] | undefined;
  /** The limits of annotations and pod templates. Default `DEFAULT_ANNOTATION_LIMITS`. */
  readonly limits?: AnnotationLimits | undefined;
}

export const DEFAULT_ANNOTATION_KEYS: AnnotationKeys = {
  auto: 'reloader.stakater.com/auto',
  configMapAuto: 'configmap.reloader.stakater.com/auto',
  secretAuto: 'secret.reloader.stakater.com/auto',
  secretProviderClassAuto: 'secretproviderclass.reloader.stakater.com/auto',
  configMapReload: 'configmap.reloader.stakater.com/reload',
  secretReload: 'secret.reloader.stakater.com/reload',
  secretProviderClassReload: 'secretproviderclass.reloader.stakater.com/reload',
  configMapExclude: 'configmaps.exclude.reloader.stakater.com/reload',
  secretExclude: 'secrets.exclude.reloader.stakater.com/reload',
  secretProviderClassExclude: 'secretproviderclasses.exclude.reloader.stakater.com/reload',
  search: 'reloader.stakater.com/search',
  match: 'reloader.stakater.com/match',
  ignore: 'reloader.stakater.com/ignore',
  pausePeriod: 'deployment.reloader.stakater.com/pause-period',
  pausedAt: 'deployment.reloader.stakater.com/paused-at',
  rolloutStrategy: 'reloader.stakater.com/rollout-strategy',
  lastReloadedFrom: LAST_RELOADED_FROM,
};

/** The keys that are read for one kind of source. */
export interface TypedKeys {
  readonly reload: string;
  readonly auto: string;
  readonly exclude: string;
}

const TYPED_KEYS: Readonly<Record<SourceKind, (keys: AnnotationKeys) => TypedKeys>> = {
  ConfigMap: (keys) => ({
    reload: keys.configMapReload,
    auto: keys.configMapAuto,
    exclude: keys.configMapExclude,
  }),
  Secret: (keys) => ({
    reload: keys.secretReload,
    auto: keys.secretAuto,
    exclude: keys.secretExclude,
  }),
  SecretProviderClass: (keys) => ({
    reload: keys.secretProviderClassReload,
    auto: keys.secretProviderClassAuto,
    exclude: keys.secretProviderClassExclude,
  }),
};

export function typedKeys(keys: AnnotationKeys, kind: SourceKind): TypedKeys {
  return TYPED_KEYS[kind](keys);
}

/** Returns the keys whose values are lists of sources. */
export function sourceListKeys(keys: AnnotationKeys): string[] {
  return [
    keys.configMapReload,
    keys.secretReload,
    keys.secretProviderClassReload,
    keys.configMapExclude,
    keys.secretExclude,
    keys.secretProviderClassExclude,
  ];
}

/** Returns the value of an annotation, or undefined; never an inherited property of a JavaScript object. */
export function annotationOf(annotations: Annotations, key: string): string | undefined {
  return Object.hasOwn(annotations, key) ? annotations[key] : undefined;
}

const TRUE = new Set(['1', 't', 'T', 'true', 'TRUE', 'True']);
const FALSE = new Set(['0', 'f', 'F', 'false', 'FALSE', 'False']);

/** Go's `strconv.ParseBool`: undefined where that returns an error (`yes`, `on`, ` true`, the empty text). */
export function parseGoBool(value: string): boolean | undefined {
  if (TRUE.has(value)) return true;
  return FALSE.has(value) ? false : undefined;
}
