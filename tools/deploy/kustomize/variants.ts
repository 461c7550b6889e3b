import type { ChartValues } from '../render.ts';

/** The Secret with the URL of a Redis of yours: nothing that is in git may be a password. */
export const CREDENTIALS = 'reroll-credentials';

export interface Variant {
  /** Lines of the comment that its kustomization.yaml begins with. */
  readonly about: readonly string[];
  /** What it is in the chart. */
  readonly values: ChartValues;
  /** Of an overlay: the file with the objects that the base does not have. Default: there are none. */
  readonly addsIn?: string;
}

const worker = { admissionPolicy: { enabled: true } };

export const BASE: Variant = {
  about: ['Reroll with a Redis of its own, for all namespaces.'],
  values: { worker },
};

/** Watchers, workers and admins each spread by themselves, over nodes whose taints they tolerate: others would count as empty. */
function spreadOver(topologyKey: string, whenUnsatisfiable: string): ChartValues {
  const labelSelector = { matchLabels: { 'app.kubernetes.io/instance': 'reroll' } };
  const matchLabelKeys = ['app.kubernetes.io/component'];
  return {
    maxSkew: 1,
    topologyKey,
    whenUnsatisfiable,
    nodeTaintsPolicy: 'Honor',
    labelSelector,
    matchLabelKeys,
  };
}

/** By the name of their folder below deploy/kustomize/overlays. */
export const OVERLAYS: Readonly<Record<string, Variant>> = {
  namespaced: {
    about: ['Watches the namespace that it is in and nothing else: Roles, no ClusterRoles, and so no admin.'],
    addsIn: 'roles.yaml',
    values: { reloader: { watchGlobally: false } },
  },
  'high-availability': {
    about: [
      'Three watchers, four workers and two admins, each spread evenly over the nodes, and over zones as far as there is room.',
      'While Redis is away nothing is lost, but nothing is reloaded either: see ../external-redis.',
    ],
    values: {
      watcher: { replicas: 3 },
      worker: { ...worker, replicas: 4 },
      admin: { replicas: 2 },
      reloader: {
        deployment: {
          topologySpreadConstraints: [
            spreadOver('kubernetes.io/hostname', 'DoNotSchedule'),
            spreadOver('topology.kubernetes.io/zone', 'ScheduleAnyway'),
          ],
        },
      },
    },
  },
  standalone: {
    about: [
      'Watcher, worker, admin and Redis in one pod. To change an install of the base into this one, delete what this one does not',
      'have: deploy/README.md says how.',
    ],
    addsIn: 'standalone.yaml',
    values: { mode: 'standalone', worker },
  },
  'external-redis': {
    about: [
      'Without a Redis. A Secret of yours, reroll-credentials, says where Redis is: a URL such as',
      'rediss://user:password@redis.example:6379/0 under the key redis-url.',
    ],
    addsIn: 'make-secrets.yaml',
    values: {
      redis: {
        enabled: false,
        external: { existingSecret: CREDENTIALS, existingSecretKeys: { url: 'redis-url' } },
      },
      worker,
    },
  },
};
