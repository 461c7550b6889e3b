import type { Change, ChangeWorkload } from '@reroll/shared/api/changes';
import { took } from '../../time.ts';
import { STATES, type Look, type ReloadState } from '../../words.ts';

/** One step of what happened to a workload. */
export interface Step {
  readonly word: string;
  /** Null: it has not happened, or the history does not tell when. */
  readonly at: string | null;
  /** From the step before, e.g. `840 ms`. */
  readonly after: string | null;
  /** `todo`: it has not happened yet. */
  readonly tone: Look['tone'] | 'todo';
}

type StepInTime = Omit<Step, 'after'>;

/** Seen, decided, patched, pods replaced: as far as it came, and what stopped it. */
export function stepsOf(
  change: Pick<Change, 'source' | 'seenAt' | 'takenUpAt'>,
  workload: Pick<ChangeWorkload, 'state' | 'decidedAt' | 'rollout'>,
): Step[] {
  const steps: StepInTime[] = [
    { word: change.source ? 'Seen' : 'Requested', at: change.seenAt, tone: 'good' },
    { word: 'Decided', at: change.takenUpAt, tone: 'good' },
    ...outcomeSteps(workload),
  ];
  return steps.map((step, index) => ({ ...step, after: between(steps[index - 1]?.at, step.at) }));
}

/** From the first step to the last; null if it is not over, or the history does not tell. */
export function wholeTime(steps: readonly Step[]): string | null {
  const last = steps.at(-1);
  return last?.tone === 'good' ? between(steps[0]?.at, last.at) : null;
}

/** Their reload is still to be done. */
const AHEAD: readonly ReloadState[] = ['pending', 'running', 'delayed', 'held', 'retrying'];
const STILL_TO_DO: readonly StepInTime[] = [
  { word: 'Patched', at: null, tone: 'todo' },
  { word: 'Pods replaced', at: null, tone: 'todo' },
];

function stopStep(state: ReloadState, decidedAt: string | null): StepInTime {
  const { word, tone } = STATES[state];
  return { word, tone, at: tone === 'busy' ? null : decidedAt };
}

function outcomeSteps({
  state,
  decidedAt,
  rollout,
}: Pick<ChangeWorkload, 'state' | 'decidedAt' | 'rollout'>): StepInTime[] {
  const patched = { word: 'Patched', at: decidedAt, tone: 'good' } as const;
  const at = rollout?.at ?? null;
  switch (state) {
    case 'rolledOut':
      return [patched, { word: 'Pods replaced', at, tone: 'good' }];
    case 'stuck':
      return [patched, { word: STATES.stuck.word, at, tone: 'bad' }];
    case 'reloaded':
      return [patched, { word: 'Pods being replaced', at: null, tone: 'busy' }];
    default:
      return [stopStep(state, decidedAt), ...(AHEAD.includes(state) ? STILL_TO_DO : [])];
  }
}

function between(from: string | null | undefined, to: string | null): string | null {
  if (from === null || from === undefined || to === null) return null;
  return took(Date.parse(to) - Date.parse(from));
}
