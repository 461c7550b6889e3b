import { REASONS, type Reason } from '@reroll/core/reasons';

import type { Change, ChangeWorkload } from '@reroll/shared/api/changes';
import type { Consumer } from '@reroll/shared/api/consumers';
import type { Job, Queue } from '@reroll/shared/api/queues';
import type { Waves } from '@reroll/shared/api/waves';
import type { Workload } from '@reroll/shared/api/workloads';

export type ReloadState = ChangeWorkload['state'];

/** How a state looks: its sign, its tone, and both in words. Color is never alone. */
export interface Look {
  readonly word: string;
  readonly meaning: string;
  readonly sign: Sign;
  readonly tone: 'quiet' | 'busy' | 'good' | 'warn' | 'bad';
}
export type Sign =
  | 'circle'
  | 'clock'
  | 'half'
  | 'again'
  | 'arrow'
  | 'check'
  | 'alert'
  | 'dot'
  | 'dash'
  | 'ring'
  | 'cross';

/** In the order in which a list of them reads best. */
export const STATES: Readonly<Record<ReloadState, Look>> = {
  failed: {
    word: 'Failed',
    meaning: 'All attempts failed; a new change, an edit or a manual reload starts again',
    sign: 'cross',
    tone: 'bad',
  },
  stuck: {
    word: 'Stuck',
    meaning: 'Patched, but the cluster says that its new pods will not become ready',
    sign: 'alert',
    tone: 'bad',
  },
  retrying: {
    word: 'Retrying',
    meaning: 'It failed and will be tried again',
    sign: 'again',
    tone: 'warn',
  },
  held: {
    word: 'Held',
    meaning: 'A freeze, a window, an approval or a limit keeps it pending',
    sign: 'clock',
    tone: 'warn',
  },
  running: { word: 'Running', meaning: 'A worker has it', sign: 'half', tone: 'busy' },
  pending: { word: 'Waiting', meaning: 'Its job waits for a worker', sign: 'circle', tone: 'busy' },
  delayed: { word: 'Delayed', meaning: 'Its job is due later', sign: 'clock', tone: 'busy' },
  reloaded: {
    word: 'Reloaded',
    meaning: 'Patched; its pods are being replaced',
    sign: 'arrow',
    tone: 'busy',
  },
  rolledOut: {
    word: 'Rolled out',
    meaning: 'Patched, and all its pods are replaced',
    sign: 'check',
    tone: 'good',
  },
  wouldReload: { word: 'Would reload', meaning: 'A dry run: nothing was sent', sign: 'ring', tone: 'quiet' },
  recorded: {
    word: 'Recorded',
    meaning: 'Only the applied record was written; nothing was reloaded',
    sign: 'dot',
    tone: 'quiet',
  },
  forgotten: {
    word: 'Unknown',
    meaning: 'The history no longer has the outcome',
    sign: 'ring',
    tone: 'quiet',
  },
  skipped: {
    word: 'Skipped',
    meaning: 'Nothing to do, or the rules decided against it',
    sign: 'dash',
    tone: 'quiet',
  },
};

export const ROLLOUTS: Readonly<Record<Workload['rollout'], Look>> = {
  progressing: { word: 'Rolling out', meaning: 'Pods are being replaced', sign: 'half', tone: 'busy' },
  complete: {
    word: 'Complete',
    meaning: 'All pods have the current template',
    sign: 'check',
    tone: 'good',
  },
  stuck: { word: 'Stuck', meaning: 'New pods do not become ready', sign: 'alert', tone: 'bad' },
};

export const JOB_STATES: Readonly<Record<Job['state'], Look>> = {
  waiting: { word: 'Waiting', meaning: 'For a worker', sign: 'circle', tone: 'busy' },
  delayed: { word: 'Delayed', meaning: 'Due later', sign: 'clock', tone: 'busy' },
  active: { word: 'Running', meaning: 'A worker has it', sign: 'half', tone: 'busy' },
  failed: { word: 'Failed', meaning: 'Its attempts are used up', sign: 'cross', tone: 'bad' },
};

export const DUE: Readonly<Record<'owed' | 'correct' | 'none', Look>> = {
  owed: { word: 'Pending', meaning: 'A reload is needed and not done yet', sign: 'clock', tone: 'busy' },
  correct: {
    word: 'Record outdated',
    meaning: 'Only the applied record is to be corrected; nothing is reloaded',
    sign: 'dot',
    tone: 'quiet',
  },
  none: { word: 'Nothing pending', meaning: 'No reload is needed', sign: 'dash', tone: 'quiet' },
};

export const CONFLICT: Look = {
  word: 'Conflict',
  meaning: 'Another controller keeps removing the marker',
  sign: 'cross',
  tone: 'bad',
};

export const WAVES: Readonly<Record<NonNullable<Waves['plan']>[number]['state'], Look>> = {
  waiting: { word: 'Waiting', meaning: 'For an earlier wave', sign: 'clock', tone: 'quiet' },
  underWay: {
    word: 'In progress',
    meaning: 'Its workloads are being reloaded and rolled out',
    sign: 'half',
    tone: 'busy',
  },
  baking: {
    word: 'Baking',
    meaning: 'It is observed before the next wave begins',
    sign: 'clock',
    tone: 'busy',
  },
  halted: {
    word: 'Halted',
    meaning: 'A workload of it has failed, and the others wait until that is resolved',
    sign: 'alert',
    tone: 'bad',
  },
  failed: {
    word: 'Failed',
    meaning: 'One of its workloads has failed; no later wave waits for it',
    sign: 'cross',
    tone: 'bad',
  },
  done: { word: 'Done', meaning: 'The next wave may begin, or has', sign: 'check', tone: 'good' },
};

export const CONSUMER_STATES: Readonly<Record<Consumer['state'], Look>> = {
  stale: { word: 'Stale', meaning: 'It has older data', sign: 'alert', tone: 'bad' },
  unknown: { word: 'Unknown', meaning: 'Nothing tells which data it has', sign: 'ring', tone: 'warn' },
  current: { word: 'Current', meaning: 'It has the current data', sign: 'check', tone: 'good' },
};

export const USES: Readonly<Record<Consumer['use'], string>> = {
  env: 'Variable',
  envFrom: 'Variables (envFrom)',
  volume: 'Volume',
  subPath: 'Volume with a subPath',
  csiVolume: 'CSI volume',
  imagePull: 'Pulls images with it',
};

export const RULE_OUTCOMES: Readonly<Record<'reload' | 'skip' | 'pass', Look>> = {
  reload: { word: 'Reload', meaning: 'The rule asks for a reload', sign: 'check', tone: 'good' },
  skip: { word: 'No reload', meaning: 'The rule forbids it', sign: 'cross', tone: 'warn' },
  pass: { word: 'No opinion', meaning: 'The rule leaves it to the next one', sign: 'dash', tone: 'quiet' },
};

export const CAUSES: Readonly<Record<Change['cause'], string>> = {
  updated: 'Changed',
  created: 'Created',
  deleted: 'Deleted',
  missed: 'Changed while no watcher saw it, and found later',
  repeated: 'The job ran again; the data is the same',
  manual: 'Requested by a user',
};

export const CAUSE_WORDS: Readonly<Record<Change['cause'], string>> = {
  updated: 'changed',
  created: 'created',
  deleted: 'deleted',
  missed: 'found later',
  repeated: 'repeated',
  manual: 'manual',
};

export const HOW: Readonly<Record<'used' | 'mentioned' | 'named', string>> = {
  used: 'A container uses it',
  mentioned: 'In the pod template, but in no container',
  named: 'Named by an annotation only',
};

export const QUEUES: Readonly<Record<Queue['name'], string>> = {
  changes: 'Changes of sources',
  reloads: 'Reloads of workloads',
  resumes: 'Ends of pauses',
  notifications: 'Alerts and webhooks',
};

/** What a reason says; the code itself where this build does not know it. */
export function reasonWords(reason: string): string {
  return Object.hasOwn(REASONS, reason) ? REASONS[reason as Reason] : reason;
}

export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count.toLocaleString('en')} ${count === 1 ? one : many}`;
}
