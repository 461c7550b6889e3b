import { SOURCE_KINDS, WORKLOAD_KINDS, type SourceKind, type WorkloadKind } from '@reroll/core/model';

interface KindNames {
  readonly plural: string;
  readonly short: readonly string[];
  /** '' is the core group. */
  readonly group: string;
}

/** As in `kubectl api-resources`. `ro` and `spc` are what people use; their CRDs define no short names. */
const NAMES: Readonly<Record<WorkloadKind | SourceKind, KindNames>> = {
  Deployment: { plural: 'deployments', short: ['deploy'], group: 'apps' },
  StatefulSet: { plural: 'statefulsets', short: ['sts'], group: 'apps' },
  DaemonSet: { plural: 'daemonsets', short: ['ds'], group: 'apps' },
  CronJob: { plural: 'cronjobs', short: ['cj'], group: 'batch' },
  Job: { plural: 'jobs', short: [], group: 'batch' },
  Rollout: { plural: 'rollouts', short: ['ro'], group: 'argoproj.io' },
  DeploymentConfig: { plural: 'deploymentconfigs', short: ['dc'], group: 'apps.openshift.io' },
  ConfigMap: { plural: 'configmaps', short: ['cm'], group: '' },
  Secret: { plural: 'secrets', short: [], group: '' },
  SecretProviderClass: {
    plural: 'secretproviderclasses',
    short: ['spc'],
    group: 'secrets-store.csi.x-k8s.io',
  },
};

/** Reads a kind as kubectl does: `deploy`, `deployments`, `Deployment`, `deployment.apps`, `deployments.v1.apps`. */
function isNameOf(kind: WorkloadKind | SourceKind, text: string): boolean {
  const [name = '', ...rest] = text.toLowerCase().split('.');
  const { plural, short, group } = NAMES[kind];
  if (name !== kind.toLowerCase() && name !== plural && !short.includes(name)) return false;
  if (rest.length === 0) return true;
  const given = rest.join('.');
  const versioned = /^v\d+(?:(?:alpha|beta)\d+)?(?:\.(.*))?$/.exec(given);
  return given === group || (versioned !== null && (versioned[1] ?? '') === group);
}

export function workloadKindOf(text: string): WorkloadKind | undefined {
  return WORKLOAD_KINDS.find((kind) => isNameOf(kind, text));
}

export function sourceKindOf(text: string): SourceKind | undefined {
  return SOURCE_KINDS.find((kind) => isNameOf(kind, text));
}

/** `deployment.apps`, `secret`: as in kubectl's `-o name`. This program also accepts it. */
export function kindForName(kind: string): string {
  const names = Object.hasOwn(NAMES, kind) ? NAMES[kind as SourceKind] : undefined;
  const lower = kind.toLowerCase();
  return names === undefined || names.group === '' ? lower : `${lower}.${names.group}`;
}

/** `deployment`, as in tables. */
export function kindForTable(kind: string): string {
  return kind.toLowerCase();
}

/** The shortest name of each kind, for help and completion. */
export const WORKLOAD_WORDS: readonly string[] = WORKLOAD_KINDS.map(shortest);
export const SOURCE_WORDS: readonly string[] = SOURCE_KINDS.map(shortest);

function shortest(kind: WorkloadKind | SourceKind): string {
  return NAMES[kind].short[0] ?? kind.toLowerCase();
}
