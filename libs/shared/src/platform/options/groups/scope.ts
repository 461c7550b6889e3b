/** What is watched, and what is left alone. */
import { BOTH, option, WATCHER } from '../parsing/option.ts';
import { bool, boolOrAuto, boolText, duration, labelSelector, list } from '../parsing/values.ts';

/** The one of these words that equals the text. */
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
    description: 'Watch these namespaces only. Empty: all of them.',
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
    description: 'Watch nothing in these namespaces. Only without --namespaces.',
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
      'Watch the namespaces that have these labels at present. Only without --namespaces. `a:b` is read as `a=b`, and `a:*` and `a=*` as `a`.',
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
      'Watch only ConfigMaps and Secrets with these labels. `a:b` is read as `a=b`, and `a:*` and `a=*` as `a`.',
    incumbent: true,
    ...labelSelector(),
  }),
  resourcesToIgnore: option({
    flag: '--resources-to-ignore',
    env: 'REROLL_RESOURCES_TO_IGNORE',
    default: '',
    apps: BOTH,
    group: 'Scope',
    description: 'Watch no ConfigMaps, or no Secrets. Not both: nothing would be left. Case does not matter.',
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
    description: 'Leave these kinds of workload alone.',
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
    description: 'Roll Rollouts of Argo Rollouts too, as long as the API server has them.',
    incumbent: true,
    ...boolText(),
  }),
  isOpenshift: option({
    flag: '--is-openshift',
    env: 'REROLL_IS_OPENSHIFT',
    default: 'auto',
    apps: WATCHER,
    group: 'Scope',
    description:
      'Roll DeploymentConfigs of OpenShift too, as long as the API server has them. true and auto are the same.',
    ...boolOrAuto(),
  }),
  enableCsiIntegration: option({
    flag: '--enable-csi-integration',
    env: 'REROLL_ENABLE_CSI_INTEGRATION',
    default: 'false',
    apps: WATCHER,
    group: 'Scope',
    description:
      'Watch SecretProviderClasses of the Secrets Store CSI Driver too, as long as the API server has them.',
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
      'How often the API server is asked whether it has the kinds that come with a CRD or an aggregated API.',
    ...duration({ min: 100, max: 3_600_000 }),
  }),
  secretTypesToIgnore: option({
    flag: '--secret-types-to-ignore',
    env: 'REROLL_SECRET_TYPES_TO_IGNORE',
    default: 'helm.sh/release.v1',
    apps: BOTH,
    group: 'Scope',
    description:
      'Secrets of these types are not watched. The default leaves out the releases that Helm stores.',
    ...list({
      type: 'type,…',
      expects: 'types of Secrets, separated by commas',
      read: matching(/^[\w./-]{1,253}$/u),
    }),
  }),
} as const;
