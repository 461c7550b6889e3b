import { DEFAULT_ANNOTATION_KEYS } from '@reroll/core/annotations/annotation-keys';
import type { DecisionSettings } from '@reroll/core/rules/decision';
import type { CommonOptions } from './parsing/table.ts';

const KIND_OF_PLURAL = { configmaps: 'ConfigMap', secrets: 'Secret' } as const;

/** The settings of the rules, from the options. */
export function decisionSettings(options: CommonOptions): DecisionSettings {
  return {
    keys: {
      ...DEFAULT_ANNOTATION_KEYS,
      auto: options.autoAnnotation,
      configMapAuto: options.configmapAutoAnnotation,
      secretAuto: options.secretAutoAnnotation,
      configMapReload: options.configmapAnnotation,
      secretReload: options.secretAnnotation,
      search: options.autoSearchAnnotation,
      match: options.searchMatchAnnotation,
      ignore: options.ignoreAnnotation,
      pausePeriod: options.pauseDeploymentAnnotation,
      pausedAt: options.pauseDeploymentTimeAnnotation,
      secretProviderClassReload: options.secretProviderClassAnnotation,
      secretProviderClassAuto: options.secretProviderClassAutoAnnotation,
      configMapExclude: options.configmapExcludeAnnotation,
      secretExclude: options.secretExcludeAnnotation,
      secretProviderClassExclude: options.secretProviderClassExcludeAnnotation,
      rolloutStrategy: options.rolloutStrategyAnnotation,
      lastReloadedFrom: options.lastReloadedFromAnnotation,
      ...(options.adopt.length > 0 ? { adopt: options.adopt } : {}),
      limits: {
        listWords: options.maxListWords,
        listBytes: options.maxListBytes,
        patternCost: options.maxPatternCost,
        sources: options.maxWorkloadSources,
        namespaceSources: options.maxNamespaceSources,
      },
    },
    autoReloadAll: options.autoReloadAll,
    ignoredWorkloadTypes: options.ignoredWorkloadTypes,
    recreateFinishedJobs: options.recreateFinishedJobs,
    ignoredSourceKinds: options.resourcesToIgnore.map((plural) => KIND_OF_PLURAL[plural]),
  };
}
