/** What is watched, and what is ignored. */
import { BOTH, option, WATCHER } from '../parsing/option.ts';
import { bool, boolOrAuto, boolText, duration, labelSelector, list } from '../parsing/values.ts';

/** The word that equals the text. */
function word<const T extends string>(words: readonly T[]): (text: string) => T | undefined {
  return (text) => words.find((each) => each === text);
}

const NAMESPACE = /^[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?$/u;
const SOURCES = ['configmaps', 'secrets'] as const;
const WORKLOADS = ['jobs', 'cronjobs'] as const;

function matching(pattern: RegExp): (text: string) => string | undefined {
  return (text) => (pattern.test(text) ? text : undefined);
}

export const scopeOptions = {
  namespaces: option({
    flag: '--namespaces',
    env: 'KUBERNETES_NAMESPACE',
    default: '',
    apps: BOTH,
    group: 'Scope',
    description: 'Watch only these namespaces. Default: all namespaces.',
    incumbent: true,
    ...list({
      type: 'namespace,…',
      expects: 'names of namespaces, separated by commas',
      read: matching(NAMESPACE),
    }),
  }),
  namespacesToIgnore: option({
    flag: '--namespaces-to-ignore',
    env: 'REROLL_NAMESPACES_TO_IGNORE',
    default: '',
    apps: WATCHER,
    group: 'Scope',
    description: 'Namespaces that are not watched. Cannot be combined with --namespaces.',
    incumbent: true,
    ...list({
      type: 'namespace,…',
      expects: 'names of namespaces, separated by commas',
      read: matching(NAMESPACE),
    }),
  }),
  namespaceSelector: option({
    flag: '--namespace-selector',
    env: 'REROLL_NAMESPACE_SELECTOR',
    default: '',
    apps: WATCHER,
    group: 'Scope',
    description:
      'Watch only namespaces with these labels. Cannot be combined with --namespaces. `a:b` means `a=b`; `a:*` and `a=*` mean `a`.',
    incumbent: true,
    ...labelSelector(),
  }),
  resourceLabelSelector: option({
    flag: '--resource-label-selector',
    env: 'REROLL_RESOURCE_LABEL_SELECTOR',
    default: '',
    apps: BOTH,
    group: 'Scope',
    description:
      'Watch only ConfigMaps and Secrets with these labels. `a:b` means `a=b`; `a:*` and `a=*` mean `a`.',
    incumbent: true,
    ...labelSelector(),
  }),
  resourcesToIgnore: option({
    flag: '--resources-to-ignore',
    env: 'REROLL_RESOURCES_TO_IGNORE',
    default: '',
    apps: BOTH,
    group: 'Scope',
    description:
      'Do not watch ConfigMaps, or do not watch Secrets. Only one of the two can be ignored. Case-insensitive.',
    incumbent: true,
    ...list(
      {
        type: 'configmaps | secrets',
        expects: "'configmaps' or 'secrets', not both",
        read: (text) => word(SOURCES)(text.toLowerCase()),
      },
      1,
    ),
  }),
  ignoredWorkloadTypes: option({
    flag: '--ignored-workload-types',
    env: 'REROLL_IGNORED_WORKLOAD_TYPES',
    default: '',
    apps: BOTH,
    group: 'Scope',
    description: 'Kinds of workloads that are never reloaded.',
    incumbent: true,
    ...list({
      type: 'jobs,cronjobs',
      expects: "'jobs' or 'cronjobs' or both, separated by a comma",
      read: word(WORKLOADS),
    }),
  }),
  isArgoRollouts: option({
    flag: '--is-Argo-Rollouts',
    aliases: ['--is-argo-rollouts'],
    env: 'REROLL_IS_ARGO_ROLLOUTS',
    default: 'false',
    apps: WATCHER,
    group: 'Scope',
    description: 'Also reload Argo Rollouts, if the API server serves them.',
    incumbent: true,
    ...boolText(),
  }),
  isOpenshift: option({
    flag: '--is-openshift',
    env: 'REROLL_IS_OPENSHIFT',
    default: 'auto',
    apps: WATCHER,
    group: 'Scope',
    description: 'Also reload DeploymentConfigs, if the API server serves them. true and auto mean the same.',
    ...boolOrAuto(),
  }),
  enableCsiIntegration: option({
    flag: '--enable-csi-integration',
    env: 'REROLL_ENABLE_CSI_INTEGRATION',
    default: 'false',
    apps: WATCHER,
    group: 'Scope',
    description:
      'Also watch the SecretProviderClasses of the Secrets Store CSI Driver, if the API server serves them.',
    incumbent: true,
    ...bool(),
  }),
  discoveryInterval: option({
    flag: '--discovery-interval',
    env: 'REROLL_DISCOVERY_INTERVAL',
    default: '30s',
    apps: WATCHER,
    group: 'Scope',
    description:
      'How often to check whether the API server serves the kinds that come with a CRD or an aggregated API.',
    ...duration({ min: 100, max: 3_600_000 }),
  }),
  secretTypesToIgnore: option({
    flag: '--secret-types-to-ignore',
    env: 'REROLL_SECRET_TYPES_TO_IGNORE',
    default: 'helm.sh/release.v1',
    apps: BOTH,
    group: 'Scope',
    description: "Types of Secrets that are not watched. The default skips Helm's release Secrets.",
    ...list({
      type: 'type,…',
      expects: 'types of Secrets, separated by commas',
      read: matching(/^[\w./-]{1,253}$/u),
    }),
  }),
} as const;
