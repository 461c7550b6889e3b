/** Why a rollout is in its state, in words for users. A released code keeps its meaning. */
export const ROLLOUT_CODES = {
  Complete: 'Every pod is of the present template and available.',
  PartitionComplete: "It is complete as far as the StatefulSet's partition lets it.",
  NotObserved: "The workload's controller has not looked at the present generation yet.",
  Updating: 'There are fewer pods of the present template than wanted.',
  OldPodsPending: 'Pods of an earlier template are still there.',
  Unavailable: 'Pods of the present template are not available yet.',
  Paused: 'It is paused: it goes on when that is lifted.',
  AwaitingDeletion:
    'Its update strategy is OnDelete: pods are replaced only when somebody deletes the old ones.',
  ProgressDeadlineExceeded: 'Its progressDeadlineSeconds passed without progress.',
  Degraded: "The Rollout's controller calls it degraded: it failed its analysis, its deadline or its checks.",
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
