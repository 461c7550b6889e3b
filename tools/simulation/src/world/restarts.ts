/**
 * What starts the pods of a workload, and what Reroll leaves alone, kind by kind and in the checker's own words. The reasons are in
 * docs/adr/0014 and 0015.
 */
import { PENDING_JOB_ANNOTATION } from '@reroll/core/reload/pending-job';
import { STRATEGY, templateOf } from './objects.ts';
import type { KubeObject, PodTemplate } from './shapes.ts';

/** A workload as the rules see it. */
export interface Shown {
  readonly object: KubeObject;
  /** What its pods are made of. `undefined`: the object that has it does not exist. */
  readonly template: PodTemplate | undefined;
  /** The object whose annotations hold the applied record. */
  readonly holder: KubeObject | undefined;
  /** Nothing reloads it as it is now. */
  readonly isLeftAlone: boolean;
}

export type Find = (key: string) => KubeObject | undefined;

interface KindRules {
  /** Default: it has its own template and record. */
  readonly shown?: (object: KubeObject, find: Find) => Shown;
  /** Whether the write between the two starts pods, which then have the data of now. `startedAt`: of those before, in milliseconds. */
  readonly startsPods: (before: Shown, after: Shown, startedAt: number) => boolean;
  /** The key of another object that has its template. */
  readonly templateFrom?: (object: KubeObject) => string | undefined;
}

const BY_TEMPLATE: KindRules = { startsPods: hasOtherTemplate };
const NEVER = { startsPods: () => false } satisfies KindRules;

/** Each kind of workload. */
const KINDS: Readonly<Record<string, KindRules>> = {
  Deployment: BY_TEMPLATE,
  StatefulSet: BY_TEMPLATE,
  DaemonSet: BY_TEMPLATE,
  Rollout: {
    shown: shownRollout,
    startsPods: (before, after, startedAt) =>
      hasOtherTemplate(before, after) || isRestarted(before, after, startedAt),
    templateFrom: deploymentOf,
  },
  // Reroll creates a Job from it (`cronJobOf`). The runs of its schedule read the data of their time anyway.
  CronJob: NEVER,
  // Its pods start once, when it is created; Reroll creates it again (`recreations.ts`).
  Job: { ...NEVER, shown: shownJob },
};

export function isWorkload(object: KubeObject): boolean {
  return object.kind in KINDS && standsFor(object) === undefined;
}

export function shownOf(object: KubeObject, find: Find): Shown {
  const own = { object, template: templateOf(object), holder: object, isLeftAlone: false };
  return KINDS[object.kind]?.shown?.(object, find) ?? own;
}

export function startsPods(before: Shown, after: Shown, startedAt: number): boolean {
  return KINDS[after.object.kind]?.startsPods(before, after, startedAt) ?? false;
}

/** Whether the workload has the pod template of the object with this key. */
export function hasTemplateOf({ object }: Shown, key: string): boolean {
  return KINDS[object.kind]?.templateFrom?.(object) === key;
}

/**
 * Whether a reload that is on its way may still come on top of the restart between the two. `isOwn`: the workload itself was written. A
 * patch of one object tests nothing of another one that has the template, and a `restartAt` that is set back does not count.
 */
export function isRestartUntested(before: Shown, after: Shown, isOwn: boolean): boolean {
  if (isOwn) return restartAtOf(after) < restartAtOf(before);
  return before.holder === before.object && templateOf(before.object) === undefined;
}

/** Whether a reload leaves the pod template as it is, so that no resourceVersion dates the pods. */
export function isRestartedByField({ kind, metadata }: KubeObject): boolean {
  return kind === 'Rollout' && metadata.annotations?.[STRATEGY] === 'restart';
}

/** The uid of the CronJob whose Job this is. */
export function cronJobOf({ kind, metadata }: KubeObject): string | undefined {
  const owner = metadata.ownerReferences?.find((each) => each.kind === 'CronJob');
  return kind === 'Job' ? owner?.uid : undefined;
}

/** A suspended CronJob gets no Job: its next run reads the data of then. */
export function isSuspended({ object }: Shown): boolean {
  return object.kind === 'CronJob' && (object['spec'] as { suspend?: boolean }).suspend === true;
}

export function isFinished({ status }: KubeObject): boolean {
  const { conditions = [] } = (status ?? {}) as { conditions?: readonly { type: string; status: string }[] };
  return conditions.some(({ type, status: is }) => ['Complete', 'Failed'].includes(type) && is === 'True');
}

/** The Job that a pending Job stands for; undefined if the object is none. */
export function standsFor({
  kind,
  metadata,
}: KubeObject): { readonly uid: string; readonly key: string } | undefined {
  const text = kind === 'Job' ? metadata.annotations?.[PENDING_JOB_ANNOTATION] : undefined;
  if (text === undefined) return undefined;
  const { uid, name } = JSON.parse(text) as { uid: string; name: string };
  return { uid, key: `Job/${metadata.namespace}/${name}` };
}

/** A template that is away leaves the pods as they are. */
function hasOtherTemplate(before: Shown, after: Shown): boolean {
  return after.template !== undefined && JSON.stringify(before.template) !== JSON.stringify(after.template);
}

/** Argo Rollouts replaces the pods that are older than `restartAt`. */
function isRestarted(before: Shown, after: Shown, startedAt: number): boolean {
  const at = restartAtOf(after);
  return at !== restartAtOf(before) && at > startedAt;
}

function restartAtOf({ object }: Shown): number {
  return Date.parse((object['spec'] as { restartAt?: string }).restartAt ?? '1970-01-01');
}

/** The key of the Deployment whose pod template a Rollout has. */
export function deploymentOf({ metadata, spec }: KubeObject): string | undefined {
  const { workloadRef } = spec as { workloadRef?: { name: string } };
  return workloadRef && `Deployment/${metadata.namespace}/${workloadRef.name}`;
}

/** One with the template of a Deployment is left alone if the Deployment says itself what it depends on. */
function shownRollout(object: KubeObject, find: Find): Shown {
  const from = deploymentOf(object);
  if (from === undefined) return { object, template: templateOf(object), holder: object, isLeftAlone: false };
  const deployment = find(from);
  return {
    object,
    template: deployment && templateOf(deployment),
    holder: isRestartedByField(object) ? object : deployment,
    isLeftAlone: deployment === undefined || saysWhatItDependsOn(deployment),
  };
}

/** Finished ones stay, and a CronJob's come and go with its runs. */
function shownJob(object: KubeObject): Shown {
  const isLeftAlone = isFinished(object) || cronJobOf(object) !== undefined;
  return { object, template: templateOf(object), holder: object, isLeftAlone };
}

function saysWhatItDependsOn({ metadata }: KubeObject): boolean {
  const keys = Object.keys(metadata.annotations ?? {});
  return keys.some(
    (key) => /reloader\.stakater\.com\/(?:auto|reload|search)$/.test(key) && !key.includes('.exclude.'),
  );
}
