/** The keys of the annotations that the rules read. The defaults are those of stakater/Reloader. */
import { DEFAULT_ANNOTATION_KEYS as KEYS } from '@reroll/core/annotations/annotation-keys';
import { DEFAULT_ANNOTATION_LIMITS as LIMITS } from '@reroll/core/annotations/annotation-limits';
import { PATTERN_LIMITS } from '@reroll/core/patterns/pattern-cost';
import { BOTH, option } from './option.ts';
import { annotationKey, integer, writtenAnnotationKey } from './values.ts';

const shared = { apps: BOTH, group: 'Annotations', incumbent: true, ...annotationKey() } as const;
/** The keys for which stakater/Reloader has no flag. */
const own = { apps: BOTH, group: 'Annotations', ...annotationKey() } as const;

const limit = { apps: BOTH, group: 'Annotations' } as const;

export const annotationOptions = {
  configmapAnnotation: option({
    ...shared,
    flag: '--configmap-annotation',
    env: 'REROLL_CONFIGMAP_ANNOTATION',
    default: 'configmap.reloader.stakater.com/reload',
    description: 'On a workload: the names of the ConfigMaps that reload it, as regular expressions.',
  }),
  secretAnnotation: option({
    ...shared,
    flag: '--secret-annotation',
    env: 'REROLL_SECRET_ANNOTATION',
    default: 'secret.reloader.stakater.com/reload',
    description: 'On a workload: the names of the Secrets that reload it, as regular expressions.',
  }),
  autoAnnotation: option({
    ...shared,
    flag: '--auto-annotation',
    env: 'REROLL_AUTO_ANNOTATION',
    default: 'reloader.stakater.com/auto',
    description:
      'On a workload: whether every ConfigMap, Secret and SecretProviderClass that it uses reloads it.',
  }),
  configmapAutoAnnotation: option({
    ...shared,
    flag: '--configmap-auto-annotation',
    env: 'REROLL_CONFIGMAP_AUTO_ANNOTATION',
    default: 'configmap.reloader.stakater.com/auto',
    description: 'On a workload: whether every ConfigMap that it uses reloads it.',
  }),
  secretAutoAnnotation: option({
    ...shared,
    flag: '--secret-auto-annotation',
    env: 'REROLL_SECRET_AUTO_ANNOTATION',
    default: 'secret.reloader.stakater.com/auto',
    description: 'On a workload: whether every Secret that it uses reloads it.',
  }),
  autoSearchAnnotation: option({
    ...shared,
    flag: '--auto-search-annotation',
    env: 'REROLL_AUTO_SEARCH_ANNOTATION',
    default: 'reloader.stakater.com/search',
    description: 'On a workload: whether sources that it uses and that carry the match annotation reload it.',
  }),
  searchMatchAnnotation: option({
    ...shared,
    flag: '--search-match-annotation',
    env: 'REROLL_SEARCH_MATCH_ANNOTATION',
    default: 'reloader.stakater.com/match',
    description:
      'On a ConfigMap, Secret or SecretProviderClass: whether it reloads workloads that carry the search annotation.',
  }),
  ignoreAnnotation: option({
    ...shared,
    flag: '--ignore-annotation',
    env: 'REROLL_IGNORE_ANNOTATION',
    default: 'reloader.stakater.com/ignore',
    description: 'On a ConfigMap, Secret or SecretProviderClass: whether its changes are ignored.',
  }),
  pauseDeploymentAnnotation: option({
    ...shared,
    flag: '--pause-deployment-annotation',
    env: 'REROLL_PAUSE_DEPLOYMENT_ANNOTATION',
    default: 'deployment.reloader.stakater.com/pause-period',
    description:
      'On a Deployment: how long to pause its rollout after a reload, to wait for further changes.',
  }),
  pauseDeploymentTimeAnnotation: option({
    ...shared,
    flag: '--pause-deployment-time-annotation',
    env: 'REROLL_PAUSE_DEPLOYMENT_TIME_ANNOTATION',
    default: 'deployment.reloader.stakater.com/paused-at',
    description: 'On a Deployment, written by Reroll: the time at which its rollout was paused.',
    ...writtenAnnotationKey(),
  }),
  secretProviderClassAnnotation: option({
    ...own,
    flag: '--secret-provider-class-annotation',
    env: 'REROLL_SECRET_PROVIDER_CLASS_ANNOTATION',
    default: KEYS.secretProviderClassReload,
    description:
      'On a workload: the names of the SecretProviderClasses that reload it, as regular expressions.',
  }),
  secretProviderClassAutoAnnotation: option({
    ...own,
    flag: '--secret-provider-class-auto-annotation',
    env: 'REROLL_SECRET_PROVIDER_CLASS_AUTO_ANNOTATION',
    default: KEYS.secretProviderClassAuto,
    description: 'On a workload: whether every SecretProviderClass that it uses reloads it.',
  }),
  configmapExcludeAnnotation: option({
    ...own,
    flag: '--configmap-exclude-annotation',
    env: 'REROLL_CONFIGMAP_EXCLUDE_ANNOTATION',
    default: KEYS.configMapExclude,
    description: 'On a workload: the names of ConfigMaps that never reload it.',
  }),
  secretExcludeAnnotation: option({
    ...own,
    flag: '--secret-exclude-annotation',
    env: 'REROLL_SECRET_EXCLUDE_ANNOTATION',
    default: KEYS.secretExclude,
    description: 'On a workload: the names of Secrets that never reload it.',
  }),
  secretProviderClassExcludeAnnotation: option({
    ...own,
    flag: '--secret-provider-class-exclude-annotation',
    env: 'REROLL_SECRET_PROVIDER_CLASS_EXCLUDE_ANNOTATION',
    default: KEYS.secretProviderClassExclude,
    description: 'On a workload: the names of SecretProviderClasses that never reload it.',
  }),
  rolloutStrategyAnnotation: option({
    ...own,
    flag: '--rollout-strategy-annotation',
    env: 'REROLL_ROLLOUT_STRATEGY_ANNOTATION',
    default: KEYS.rolloutStrategy,
    description: 'On an Argo Rollout: whether to reload it by a restart or by a rollout.',
  }),
  lastReloadedFromAnnotation: option({
    ...own,
    flag: '--last-reloaded-from-annotation',
    env: 'REROLL_LAST_RELOADED_FROM_ANNOTATION',
    default: KEYS.lastReloadedFrom,
    description: 'On a pod template: the marker that the annotations strategy writes.',
    ...writtenAnnotationKey(),
  }),
  maxListWords: option({
    ...limit,
    flag: '--max-list-words',
    env: 'REROLL_MAX_LIST_WORDS',
    default: String(LIMITS.listWords),
    description:
      'Maximum number of names and patterns in one list annotation. A workload beyond this or one of the following limits is not reloaded (InvalidAnnotation).',
    ...integer({ min: 1, max: 10_000 }),
  }),
  maxListBytes: option({
    ...limit,
    flag: '--max-list-bytes',
    env: 'REROLL_MAX_LIST_BYTES',
    default: String(LIMITS.listBytes),
    description: 'Maximum size of one list annotation, in bytes.',
    ...integer({ min: 256, max: 262_144 }),
  }),
  maxPatternCost: option({
    ...limit,
    flag: '--max-pattern-cost',
    env: 'REROLL_MAX_PATTERN_COST',
    default: String(LIMITS.patternCost),
    description:
      'Maximum cost of all patterns of one workload: about 1 for each character that is not part of a plain name. A counted repetition costs as much as the repeated pattern written out.',
    ...integer({ min: 1, max: PATTERN_LIMITS.cost }),
  }),
  maxWorkloadSources: option({
    ...limit,
    flag: '--max-workload-sources',
    env: 'REROLL_MAX_WORKLOAD_SOURCES',
    default: String(LIMITS.sources),
    description:
      'Maximum number of sources that one workload may refer to, in its pod template and annotations together.',
    ...integer({ min: 1, max: 10_000 }),
  }),
} as const;
