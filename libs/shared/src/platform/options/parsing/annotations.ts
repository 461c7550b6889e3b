/** The keys of the annotations that the rules read. The defaults are those of stakater/Reloader. */
import { DEFAULT_ANNOTATION_KEYS as KEYS } from '@reroll/core/annotations/annotation-keys';
import { DEFAULT_ANNOTATION_LIMITS as LIMITS, UNCOUNTED } from '@reroll/core/annotations/annotation-limits';
import { PATTERN_LIMITS } from '@reroll/core/patterns/pattern-cost';
import { BOTH, options } from './option.ts';
import { annotationKey, integer, writtenAnnotationKey } from './values.ts';

const shared = { apps: BOTH, incumbent: true, ...annotationKey() } as const;
/** The keys for which stakater/Reloader has no flag. */
const own = { apps: BOTH, ...annotationKey() } as const;

const limit = { apps: BOTH } as const;

export const annotationOptions = options('Annotations', {
  configmapAnnotation: {
    ...shared,
    flag: '--configmap-annotation',
    default: 'configmap.reloader.stakater.com/reload',
    description: 'On a workload: names of ConfigMaps that reload it, as regular expressions.',
  },
  secretAnnotation: {
    ...shared,
    flag: '--secret-annotation',
    default: 'secret.reloader.stakater.com/reload',
    description: 'On a workload: names of Secrets that reload it, as regular expressions.',
  },
  autoAnnotation: {
    ...shared,
    flag: '--auto-annotation',
    default: 'reloader.stakater.com/auto',
    description: 'On a workload: whether every source that it uses reloads it.',
  },
  configmapAutoAnnotation: {
    ...shared,
    flag: '--configmap-auto-annotation',
    default: 'configmap.reloader.stakater.com/auto',
    description: 'On a workload: whether every ConfigMap that it uses reloads it.',
  },
  secretAutoAnnotation: {
    ...shared,
    flag: '--secret-auto-annotation',
    default: 'secret.reloader.stakater.com/auto',
    description: 'On a workload: whether every Secret that it uses reloads it.',
  },
  autoSearchAnnotation: {
    ...shared,
    flag: '--auto-search-annotation',
    default: 'reloader.stakater.com/search',
    description: 'On a workload: whether sources that it uses and that have the match annotation reload it.',
  },
  searchMatchAnnotation: {
    ...shared,
    flag: '--search-match-annotation',
    default: 'reloader.stakater.com/match',
    description: 'On a source: whether it reloads workloads that have the search annotation.',
  },
  ignoreAnnotation: {
    ...shared,
    flag: '--ignore-annotation',
    default: 'reloader.stakater.com/ignore',
    description: 'On a source: whether its changes are ignored.',
  },
  pauseDeploymentAnnotation: {
    ...shared,
    flag: '--pause-deployment-annotation',
    default: 'deployment.reloader.stakater.com/pause-period',
    description:
      'On a Deployment: how long to pause its rollout after a reload, to wait for further changes.',
  },
  pauseDeploymentTimeAnnotation: {
    ...shared,
    flag: '--pause-deployment-time-annotation',
    default: 'deployment.reloader.stakater.com/paused-at',
    description: 'On a Deployment, written by Reroll: when its rollout was paused.',
    ...writtenAnnotationKey(),
  },
  secretProviderClassAnnotation: {
    ...own,
    flag: '--secret-provider-class-annotation',
    default: KEYS.secretProviderClassReload,
    description: 'On a workload: names of SecretProviderClasses that reload it, as regular expressions.',
  },
  secretProviderClassAutoAnnotation: {
    ...own,
    flag: '--secret-provider-class-auto-annotation',
    default: KEYS.secretProviderClassAuto,
    description: 'On a workload: whether every SecretProviderClass that it uses reloads it.',
  },
  configmapExcludeAnnotation: {
    ...own,
    flag: '--configmap-exclude-annotation',
    default: KEYS.configMapExclude,
    description: 'On a workload: names of ConfigMaps that never reload it.',
  },
  secretExcludeAnnotation: {
    ...own,
    flag: '--secret-exclude-annotation',
    default: KEYS.secretExclude,
    description: 'On a workload: names of Secrets that never reload it.',
  },
  secretProviderClassExcludeAnnotation: {
    ...own,
    flag: '--secret-provider-class-exclude-annotation',
    default: KEYS.secretProviderClassExclude,
    description: 'On a workload: names of SecretProviderClasses that never reload it.',
  },
  rolloutStrategyAnnotation: {
    ...own,
    flag: '--rollout-strategy-annotation',
    default: KEYS.rolloutStrategy,
    description: 'On an Argo Rollout: whether to reload it by a restart or a rollout.',
  },
  lastReloadedFromAnnotation: {
    ...own,
    flag: '--last-reloaded-from-annotation',
    default: KEYS.lastReloadedFrom,
    description: 'On a pod template: the marker of the annotations strategy.',
    ...writtenAnnotationKey(),
  },
  maxListWords: {
    ...limit,
    flag: '--max-list-words',
    default: String(LIMITS.listWords),
    description:
      'Maximum names and patterns in one list annotation. A workload that exceeds this limit, or one of the limits below, is not reloaded (InvalidAnnotation).',
    ...integer({ min: 1, max: 10_000 }),
  },
  maxListBytes: {
    ...limit,
    flag: '--max-list-bytes',
    default: String(LIMITS.listBytes),
    description: 'Maximum size of one list annotation, in bytes.',
    ...integer({ min: 256, max: 262_144 }),
  },
  maxPatternCost: {
    ...limit,
    flag: '--max-pattern-cost',
    default: String(LIMITS.patternCost),
    description:
      "Maximum cost of a workload's patterns: about 1 for each character outside plain names. A counted repetition costs as much as the pattern written out.",
    ...integer({ min: 1, max: PATTERN_LIMITS.cost }),
  },
  maxWorkloadSources: {
    ...limit,
    flag: '--max-workload-sources',
    default: String(LIMITS.sources),
    description:
      'Maximum sources that a workload may name in its pod template and annotations together, and maximum dependencies, including sources that its patterns match.',
    ...integer({ min: 1, max: 10_000 }),
  },
  maxNamespaceSources: {
    ...limit,
    flag: '--max-namespace-sources',
    default: String(LIMITS.namespaceSources),
    description: `Maximum sources that all workloads of a namespace may refer to together, including those in applied records. A source counts once for each workload; ${UNCOUNTED} of each workload do not count.`,
    ...integer({ min: 1, max: 10_000_000 }),
  },
});
