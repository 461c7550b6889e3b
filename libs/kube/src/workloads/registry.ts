import { argoRollout } from './argo-rollout.ts';
import { cronJob } from './cron-job.ts';
import { daemonSet } from './daemon-set.ts';
import type { WorkloadKindDefinition } from './definition.ts';
import { deploymentConfig } from './deployment-config.ts';
import { deployment } from './deployment.ts';
import { job } from './job.ts';
import { statefulSet } from './stateful-set.ts';

/** Every kind of workload that is reloaded, in the order in which they are listed and reported. */
export const WORKLOAD_DEFINITIONS: readonly WorkloadKindDefinition[] = [
  deployment,
  statefulSet,
  daemonSet,
  cronJob,
  job,
  argoRollout,
  deploymentConfig,
];

const BY_KIND: ReadonlyMap<string, WorkloadKindDefinition> = new Map(
  WORKLOAD_DEFINITIONS.map((definition) => [definition.kind, definition]),
);

/** Returns the definition of a kind; undefined if Reroll does not know it. */
export function workloadKind(kind: string): WorkloadKindDefinition | undefined {
  return BY_KIND.get(kind);
}
