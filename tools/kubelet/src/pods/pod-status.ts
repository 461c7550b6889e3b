import { NODE_IP } from '../network.ts';
import type { Condition, ContainerStatus, Pod } from '../types.ts';

export interface PodFacts {
  readonly pod: Pod;
  readonly ip: string | undefined;
  readonly startTime: string;
  readonly init: readonly ContainerStatus[];
  readonly main: readonly ContainerStatus[];
}

/** The status of a pod from its containers, as kubelets write it; conditions of others stay. */
export function podStatus(facts: PodFacts): Record<string, unknown> {
  const { pod, ip, startTime, init, main } = facts;
  return {
    phase: phaseOf(facts),
    startTime,
    hostIP: NODE_IP,
    hostIPs: [{ ip: NODE_IP }],
    ...(ip === undefined ? {} : { podIP: ip, podIPs: [{ ip }] }),
    conditions: conditions(pod.status?.conditions ?? [], facts),
    containerStatuses: main,
    ...(init.length === 0 ? {} : { initContainerStatuses: init }),
  };
}

/** Whether it has run to its end. */
function isFinished(facts: PodFacts): boolean {
  return ['Succeeded', 'Failed'].includes(phaseOf(facts));
}

function phaseOf({ pod, init, main }: PodFacts): string {
  const ended = main.map(({ state }) => state.terminated?.exitCode);
  if (ended.every((code) => code !== undefined)) {
    return ended.every((code) => code === 0) ? 'Succeeded' : 'Failed';
  }
  const failed = init.some(({ state }) => (state.terminated?.exitCode ?? 0) !== 0);
  if (failed && pod.spec.restartPolicy === 'Never') return 'Failed';
  return main.some(({ containerID }) => containerID !== undefined) ? 'Running' : 'Pending';
}

function conditions(present: readonly Condition[], facts: PodFacts): Condition[] {
  const finished = isFinished(facts);
  const ready = !finished && facts.main.every((each) => each.ready);
  const initialized = facts.init.every(({ state }) => state.terminated?.exitCode === 0);
  const reason = finished ? 'PodCompleted' : 'ContainersNotReady';
  const own: readonly (readonly [string, boolean, string])[] = [
    ['PodReadyToStartContainers', facts.ip !== undefined && !finished, 'NoNetwork'],
    ['Initialized', initialized || finished, 'ContainersNotInitialized'],
    ['ContainersReady', ready, reason],
    ['Ready', ready, reason],
  ];
  const others = present.filter(({ type }) => own.every(([name]) => name !== type));
  return [...others, ...own.map((each) => condition(each, present))];
}

function condition(
  [type, holds, reason]: readonly [string, boolean, string],
  present: readonly Condition[],
): Condition {
  const status = holds ? 'True' : 'False';
  const before = present.find((each) => each.type === type);
  const since = before?.status === status ? before.lastTransitionTime : now();
  return { type, status, lastTransitionTime: since, ...(holds ? {} : { reason }) };
}

/** Without milliseconds, as the API has it. */
export function now(): string {
  return `${new Date().toISOString().slice(0, 19)}Z`;
}
