/**
 * The contents of the ConfigMap `reloader-meta-info`, which describes an installation under stakater/Reloader's keys. It
 * holds no credentials: of the webhook's URL only the host is shown.
 */
import { formatDuration } from '@reroll/core/durations';
import { labelSelectorText, type LabelSelector } from '@reroll/core/label-selector';
import { formatListenAddress } from '../http/listen-address.ts';
import type { WatcherOptions } from '../options/parsing/table.ts';
import { VERSION } from './version.ts';

export const META_INFO_NAME = 'reloader-meta-info';
export const META_INFO_LABELS = { 'reloader.stakater.com/meta-info': 'reloader' } as const;

const COMMIT_UNKNOWN = { commitHash: 'unknown', commitTime: '0001-01-01T00:00:00Z' };

/** The `host:port` of a URL; '' if there is none. */
function hostOf(url: string | undefined): string {
  return url === undefined ? '' : new URL(url).host;
}

/** stakater/Reloader's names of the fields that are keys of annotations, and the options. */
export const META_ANNOTATIONS = {
  configmapUpdateOnChangeAnnotation: 'configmapAnnotation',
  secretUpdateOnChangeAnnotation: 'secretAnnotation',
  secretProviderClassUpdateOnChangeAnnotation: 'secretProviderClassAnnotation',
  reloaderAutoAnnotation: 'autoAnnotation',
  ignoreResourceAnnotation: 'ignoreAnnotation',
  configmapReloaderAutoAnnotation: 'configmapAutoAnnotation',
  secretReloaderAutoAnnotation: 'secretAutoAnnotation',
  secretProviderClassReloaderAutoAnnotation: 'secretProviderClassAutoAnnotation',
  configmapExcludeReloaderAnnotation: 'configmapExcludeAnnotation',
  secretExcludeReloaderAnnotation: 'secretExcludeAnnotation',
  secretProviderClassExcludeReloaderAnnotation: 'secretProviderClassExcludeAnnotation',
  autoSearchAnnotation: 'autoSearchAnnotation',
  searchMatchAnnotation: 'searchMatchAnnotation',
  rolloutStrategyAnnotation: 'rolloutStrategyAnnotation',
  pauseDeploymentAnnotation: 'pauseDeploymentAnnotation',
  pauseDeploymentTimeAnnotation: 'pauseDeploymentTimeAnnotation',
} as const satisfies Readonly<Record<string, keyof WatcherOptions>>;

/** Our own options that decide, for tools that explain decisions by this ConfigMap: by the form of their values. */
export const META_OWN = {
  texts: ['lastReloadedFromAnnotation', 'reloadWindow', 'workloadReloadLimit', 'waves'],
  booleans: ['recreateFinishedJobs', 'requireApproval', 'dryRun'],
  numbers: [
    'maxConcurrentRollouts',
    'maxListWords',
    'maxListBytes',
    'maxPatternCost',
    'maxWorkloadSources',
    'maxNamespaceSources',
  ],
  lists: ['namespaces', 'adopt'],
} as const satisfies Readonly<Record<string, readonly (keyof WatcherOptions)[]>>;

/** stakater/Reloader's name of each field that is an option, and its value if Reroll has no such option. */
const FIELDS: Readonly<Record<string, readonly [option: string, otherwise: unknown]>> = {
  logLevel: ['logLevel', 'info'],
  isArgoRollouts: ['isArgoRollouts', false],
  reloadStrategy: ['reloadStrategy', 'env-vars'],
  reloadOnCreate: ['reloadOnCreate', false],
  reloadOnDelete: ['reloadOnDelete', false],
  syncAfterRestart: ['syncAfterRestart', false],
  enableHA: ['enableHa', false],
  enableCSIIntegration: ['enableCsiIntegration', false],
  resourcesToIgnore: ['resourcesToIgnore', []],
  workloadTypesToIgnore: ['ignoredWorkloadTypes', []],
  namespacesToIgnore: ['namespacesToIgnore', []],
  enablePProf: ['enablePprof', false],
  ...Object.fromEntries(
    Object.values(META_OWN)
      .flat()
      .map((name) => [name, [name, undefined]]),
  ),
};

function requirementsOf(selector: LabelSelector | undefined): string[] {
  return (selector ?? []).map((requirement) => labelSelectorText([requirement]));
}

function optionFields(options: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(FIELDS).map(([field, [name, otherwise]]) => [field, options[name] ?? otherwise]),
  );
}

/** The data of the ConfigMap: three JSON texts. */
export function metaInfo(
  options: WatcherOptions,
  runtime: string,
): Readonly<Record<'buildInfo' | 'reloaderOptions' | 'deploymentInfo', string>> {
  const { autoReloadAll, logFormat, webhookUrl, pprofAddr } = options;
  return {
    buildInfo: JSON.stringify({
      goVersion: runtime,
      releaseVersion: VERSION,
      ...COMMIT_UNKNOWN,
      edition: 'oss',
    }),
    reloaderOptions: JSON.stringify({
      autoReloadAll,
      ...Object.fromEntries(Object.entries(META_ANNOTATIONS).map(([field, name]) => [field, options[name]])),
      // stakater/Reloader writes the text format as ''.
      logFormat: logFormat === 'text' ? '' : logFormat,
      ...optionFields(options),
      bake: formatDuration(options.bake),
      isOpenshift: String(options.isOpenshift),
      namespaceSelectors: requirementsOf(options.namespaceSelector),
      resourceSelectors: requirementsOf(options.resourceLabelSelector),
      webhookUrl: hostOf(webhookUrl),
      pprofAddr: formatListenAddress(pprofAddr),
    }),
    deploymentInfo: JSON.stringify({
      name: options.reloaderDeploymentName,
      namespace: options.reloaderNamespace,
    }),
  };
}
