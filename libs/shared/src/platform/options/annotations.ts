/** The keys of the annotations that decide. The defaults are those of stakater/Reloader. */
import { BOTH, option } from './option.ts';
import { annotationKey } from './values.ts';

const shared = { apps: BOTH, group: 'Annotations', incumbent: true, ...annotationKey() } as const;

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
    description: 'On a workload: whether every ConfigMap and Secret that it uses reloads it.',
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
    description: 'On a workload: whether those that it uses and that carry the match annotation reload it.',
  }),
  searchMatchAnnotation: option({
    ...shared,
    flag: '--search-match-annotation',
    env: 'REROLL_SEARCH_MATCH_ANNOTATION',
    default: 'reloader.stakater.com/match',
    description: 'On a ConfigMap or Secret: whether it reloads the workloads that search.',
  }),
  ignoreAnnotation: option({
    ...shared,
    flag: '--ignore-annotation',
    env: 'REROLL_IGNORE_ANNOTATION',
    default: 'reloader.stakater.com/ignore',
    description: 'On a ConfigMap or Secret: whether it reloads nothing.',
  }),
  pauseDeploymentAnnotation: option({
    ...shared,
    flag: '--pause-deployment-annotation',
    env: 'REROLL_PAUSE_DEPLOYMENT_ANNOTATION',
    default: 'deployment.reloader.stakater.com/pause-period',
    description: 'On a Deployment: how long its rollout is held back after a reload, for further changes.',
  }),
  pauseDeploymentTimeAnnotation: option({
    ...shared,
    flag: '--pause-deployment-time-annotation',
    env: 'REROLL_PAUSE_DEPLOYMENT_TIME_ANNOTATION',
    default: 'deployment.reloader.stakater.com/paused-at',
    description: 'On a Deployment, written by Reroll: since when its rollout is held back.',
  }),
} as const;
