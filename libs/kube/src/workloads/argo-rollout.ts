import type { PodTemplate } from '@reroll/core/model';
import type { Reason } from '@reroll/core/reasons';
import type { RolloutCode, RolloutStatus } from '@reroll/core/rollouts/rollout';
import type { KubeObject } from '../objects.ts';
import type { WorkloadKindDefinition } from './definition.ts';

interface ArgoRolloutObject extends KubeObject {
  readonly spec?: {
    readonly replicas?: number;
    readonly restartAt?: string;
    readonly template?: PodTemplate;
    /** The object whose pod template it uses instead of its own; the controller accepts several kinds. */
    readonly workloadRef?: { readonly apiVersion?: string; readonly kind?: string; readonly name?: string };
  };
  readonly status?: {
    /** A number as text; controllers before v1.0 wrote a hash. */
    readonly observedGeneration?: string;
    /** Of the Deployment in `workloadRef`; a number as text. */
    readonly workloadObservedGeneration?: string;
    readonly phase?: string;
    readonly restartedAt?: string;
    readonly updatedReplicas?: number;
    readonly readyReplicas?: number;
  };
}

type WorkloadRef = NonNullable<NonNullable<ArgoRolloutObject['spec']>['workloadRef']>;

const CODE_OF_PHASE: ReadonlyMap<string, RolloutCode> = new Map([
  ['Healthy', 'Complete'],
  ['Paused', 'Paused'],
  ['Degraded', 'Degraded'],
]);

/** Once the generation is observed and requested restarts are done, the controller's phase decides. */
function codeOf({ metadata, spec, status = {} }: ArgoRolloutObject): RolloutCode {
  if (Number(status.observedGeneration ?? 0) < (metadata.generation ?? 0)) return 'NotObserved';
  if (spec?.restartAt !== undefined && secondOf(spec.restartAt) !== secondOf(status.restartedAt))
    return 'Updating';
  return CODE_OF_PHASE.get(status.phase ?? '') ?? 'Updating';
}

/** The controller writes times in UTC and whole seconds, whatever form it reads. */
function secondOf(time: string | undefined): number | undefined {
  return time === undefined ? undefined : Math.floor(Date.parse(time) / 1000);
}

const STATE_OF: Partial<Record<RolloutCode, RolloutStatus['state']>> = {
  Complete: 'complete',
  Degraded: 'stuck',
};

function rolloutStatus(object: ArgoRolloutObject): RolloutStatus {
  const code = codeOf(object);
  return {
    state: STATE_OF[code] ?? 'progressing',
    code,
    updated: object.status?.updatedReplicas ?? 0,
    ready: object.status?.readyReplicas ?? 0,
    desired: object.spec?.replicas ?? 1,
  };
}

function isFollowed({ apiVersion, kind, name }: WorkloadRef): boolean {
  return kind === 'Deployment' && apiVersion?.startsWith('apps/') === true && Boolean(name);
}

function templateFrom({ spec }: ArgoRolloutObject): { kind: 'Deployment'; name: string } | undefined {
  const ref = spec?.workloadRef;
  return ref && isFollowed(ref) ? { kind: 'Deployment', name: ref.name ?? '' } : undefined;
}

function templateGeneration({ status }: ArgoRolloutObject): number | undefined {
  const text = status?.workloadObservedGeneration ?? '';
  return text === '' ? undefined : Number(text);
}

function leftAlone({ spec }: ArgoRolloutObject): Reason | undefined {
  return spec?.workloadRef && !isFollowed(spec.workloadRef) ? 'WorkloadRefUnsupported' : undefined;
}

/** Argo Rollouts' replacement for a Deployment. Its CRD has a status subresource, so generation counts changes of the spec. */
export const argoRollout: WorkloadKindDefinition = {
  kind: 'Rollout',
  group: 'argoproj.io',
  version: 'v1alpha1',
  plural: 'rollouts',
  reloadedBy: 'patch',
  isWanted: ({ isArgoRollouts }) => isArgoRollouts,
  podTemplatePath: '/spec/template',
  template: ({ spec }: ArgoRolloutObject) => (spec?.workloadRef ? undefined : spec?.template),
  templateFrom,
  templateGeneration,
  leftAlone,
  restartAt: {
    path: '/spec/restartAt',
    read: (object: ArgoRolloutObject) => object.spec?.restartAt,
  },
  rolloutStatus,
  updateStrategyOnDelete: () => false,
};
