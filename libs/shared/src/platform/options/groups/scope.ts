/** What is watched, and what is ignored. */
import { BOTH, options, WATCHER } from '../parsing/option.ts';
import { bool, boolOrAuto, boolText, duration, labelSelector, list } from '../parsing/values.ts';

function word<const T extends string>(words: readonly T[]): (text: string) => T | undefined {
  return (text) => words.find((each) => each === text);
}

const NAMESPACE = /^[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?$/u;
const SOURCES = ['configmaps', 'secrets'] as const;
const WORKLOADS = ['jobs', 'cronjobs'] as const;

const SECRET_TYPE = /^[\w./-]{1,253}$/u;

function matching(pattern: RegExp): (text: string) => string | undefined {
  return (text) => (pattern.test(text) ? text : undefined);
}

export const scopeOptions = options('Scope', {
  namespaces: {
    flag: '--namespaces',
    env: 'KUBERNETES_NAMESPACE',
    default: '',
    apps: BOTH,
    description: 'Watch only these namespaces. Default: all.',
    incumbent: true,
    ...list({
      type: 'namespace,…',
      expects: 'names of namespaces, separated by commas',
      read: matching(NAMESPACE),
    }),
  },
  namespacesToIgnore: {
    flag: '--namespaces-to-ignore',
    default: '',
    apps: WATCHER,
    description: 'Do not watch these namespaces. Ignored, with a warning, if --namespaces is set.',
    incumbent: true,
    ...list({
      type: 'namespace,…',
      expects: 'names of namespaces, separated by commas',
      read: matching(NAMESPACE),
    }),
  },
  namespaceSelector: {
    flag: '--namespace-selector',
    default: '',
    apps: WATCHER,
    description:
      'Watch only namespaces with these labels. Ignored, with a warning, if --namespaces is set. `a:b` means `a=b`; `a:*` and `a=*` mean `a`.',
    incumbent: true,
    ...labelSelector(),
  },
  resourceLabelSelector: {
    flag: '--resource-label-selector',
    default: '',
    apps: BOTH,
    description:
      'Watch only ConfigMaps, Secrets and SecretProviderClassPodStatuses with these labels. `a:b` means `a=b`; `a:*` and `a=*` mean `a`.',
    incumbent: true,
    ...labelSelector(),
  },
  resourcesToIgnore: {
    flag: '--resources-to-ignore',
    default: '',
    apps: BOTH,
    description: 'Kind of sources not to watch: ConfigMaps or Secrets, not both. Case-insensitive.',
    incumbent: true,
    ...list(
      {
        type: 'configmaps | secrets',
        expects: "'configmaps' or 'secrets', not both",
        read: (text) => word(SOURCES)(text.toLowerCase()),
      },
      1,
    ),
  },
  ignoredWorkloadTypes: {
    flag: '--ignored-workload-types',
    default: '',
    apps: BOTH,
    description: 'Workload kinds that are never reloaded.',
    incumbent: true,
    ...list({
      type: 'jobs,cronjobs',
      expects: "'jobs' or 'cronjobs' or both, separated by a comma",
      read: word(WORKLOADS),
    }),
  },
  isArgoRollouts: {
    flag: '--is-Argo-Rollouts',
    aliases: ['--is-argo-rollouts'],
    default: 'false',
    apps: WATCHER,
    description: 'Also reload Argo Rollouts, if the API server serves them.',
    incumbent: true,
    ...boolText(),
  },
  isOpenshift: {
    flag: '--is-openshift',
    default: 'auto',
    apps: WATCHER,
    description: 'Also reload DeploymentConfigs, if the API server serves them. true and auto mean the same.',
    ...boolOrAuto(),
  },
  enableCsiIntegration: {
    flag: '--enable-csi-integration',
    default: 'false',
    apps: WATCHER,
    description:
      'Also watch SecretProviderClasses (Secrets Store CSI Driver), if the API server serves them.',
    incumbent: true,
    ...bool(),
  },
  discoveryInterval: {
    flag: '--discovery-interval',
    default: '30s',
    apps: WATCHER,
    description:
      'How often to check whether the API server serves kinds that come with a CRD or an aggregated API.',
    ...duration({ min: 100, max: 3_600_000 }),
  },
  secretTypesToIgnore: {
    flag: '--secret-types-to-ignore',
    default: 'helm.sh/release.v1',
    apps: BOTH,
    description: "Types of Secrets that are not watched. The default skips Helm's release Secrets.",
    ...list({
      type: 'type,…',
      expects: 'types of Secrets, separated by commas',
      read: matching(SECRET_TYPE),
      pattern: SECRET_TYPE.source,
    }),
  },
});
