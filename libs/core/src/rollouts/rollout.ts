import { kindOf, type WorkloadKey } from '../model.ts';

/** Whether reloads of the workload begin a rollout. A Job or CronJob is run again instead; other changes do not wait for its run. */
export function hasRollouts(workload: WorkloadKey): boolean {
  const kind = kindOf(workload);
  return kind !== 'Job' && kind !== 'CronJob';
}

/** Why a rollout is in its state, in words for users. A released code keeps its meaning. */
export const ROLLOUT_CODES = {
  Complete: 'Every pod has the current template and is available.',
  PartitionComplete: "It is complete as far as the StatefulSet's partition allows.",
  NotObserved: "The workload's controller has not observed the current generation yet.",
  Updating: 'Not enough pods have the current template yet.',
  OldPodsPending: 'Pods with an earlier template still exist.',
  Unavailable: 'Pods with the current template are not available yet.',
  Paused: 'It is paused, and continues when it is resumed.',
  AwaitingDeletion:
    'Its update strategy is OnDelete: pods are replaced only when somebody deletes the old ones.',
  ProgressDeadlineExceeded: 'Its progressDeadlineSeconds passed without progress.',
  Degraded: "The Rollout's controller reports it as degraded: its analysis, deadline or checks failed.",
  Failed: 'The Job failed.',
} as const;

export type RolloutCode = keyof typeof ROLLOUT_CODES;

/** `stuck`: the cluster reports that it makes no progress by itself. */
export const ROLLOUT_STATES = ['progressing', 'complete', 'stuck'] as const;
export type RolloutState = (typeof ROLLOUT_STATES)[number];

/** Progress of replacing a workload's pods. */
export interface RolloutStatus {
  readonly state: RolloutState;
  readonly code: RolloutCode;
  /** Pods of the present template; how many of them (or of all, if the kind does not tell) are ready; and wanted pods. */
  readonly updated: number;
  readonly ready: number;
  readonly desired: number;
}

/** A condition that the cluster reports for a workload. */
export interface RolloutCondition {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
  /** Only with `--rollout-details`: it may quote values. At most 300 characters. */
  readonly message?: string;
}

/** Why a container of a pod does not run. Only with `--rollout-details`. */
export interface PodTrouble {
  readonly name: string;
  readonly container: string;
  readonly reason: string;
  /** Of the kubelet, at most 300 characters. */
  readonly message: string;
}
