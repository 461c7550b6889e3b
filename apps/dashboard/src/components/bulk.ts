import type { Signal } from '@preact/signals';
import { MOST_IN_BULK } from '@reroll/shared/api/bulk-limits';
import type { Answer } from '../api/calls.ts';
import { call, CallError } from '../api/client.ts';
import { tellDeed } from '../state/live.ts';
import { asCallError } from '../use-answer.ts';
import type { Deed } from './action.tsx';

export type BulkCall = 'bulkReload' | 'bulkFreeze' | 'bulkUnfreeze' | 'bulkApprove' | 'bulkRetry';
export type BulkAnswer = Answer<BulkCall>;
export type Selector = Readonly<Record<string, string>>;

/** How far a person has come with one bulk request. */
export interface BulkStage {
  readonly selector: Selector;
  /** What a dry run has shown. */
  readonly planned?: BulkAnswer;
  /** Why there is no answer of the dry run, or to the repetition. */
  readonly error?: CallError;
  /** What became of it. */
  readonly done?: BulkAnswer;
  /** Does what is not done. */
  readonly repeat?: () => Promise<void>;
  /** The plan of the same with other details, by these. */
  readonly plans?: Readonly<Record<string, string>>;
}

/** The API asks for a reason, and keeps none of a dry run. */
const DRY_RUN = { reason: 'dry run', dryRun: true };

/** Asks what would be done, which the person then looks at. */
export async function planBulk(stage: Signal<BulkStage>, id: BulkCall, selector: Selector): Promise<void> {
  const mine = { selector };
  stage.value = mine;
  const come = (more: Partial<BulkStage>): void => {
    // Unless it was asked again meanwhile.
    if (stage.peek() === mine) stage.value = { ...mine, ...more };
  };
  try {
    come({ planned: await call(id, { body: { ...DRY_RUN, selector, limit: MOST_IN_BULK } }) });
  } catch (error) {
    come({ error: asCallError(error) });
  }
}

interface BulkDeed extends Deed {
  /** More that the plan depends on, such as the end of a freeze. */
  readonly how: Readonly<Record<string, string>>;
}

/** Does exactly what the dry run has shown, or nothing. */
export async function sendBulk(
  stage: Signal<BulkStage>,
  id: BulkCall,
  { reason, idempotencyKey, how }: BulkDeed,
): Promise<void> {
  const { selector } = stage.peek();
  const plan = await planWith(stage, id, how);
  const body = { reason, selector, limit: MOST_IN_BULK, plan, ...how };
  const repeat = async (): Promise<void> => {
    const done = await call(id, { body, idempotencyKey });
    stage.value = { selector, done, repeat };
    tellDeed();
  };
  await repeat();
}

/** The plan of what was shown. One with other details is another, of the same objects: else it is not what the person looks at. */
async function planWith(stage: Signal<BulkStage>, id: BulkCall, how: BulkDeed['how']): Promise<string> {
  const { selector, planned, plans = {} } = stage.peek();
  const key = JSON.stringify(how);
  const known = key === '{}' ? planned?.plan : plans[key];
  if (known !== undefined) return known;
  const now = await call(id, { body: { ...DRY_RUN, selector, limit: MOST_IN_BULK, ...how } });
  if (!planned || linesOf(now) !== linesOf(planned)) throw new CallError(409, OTHERS_MATCH);
  stage.value = { ...stage.peek(), plans: { ...plans, [key]: now.plan } };
  return now.plan;
}

const OTHERS_MATCH = {
  title: 'something else matches now',
  detail: 'nothing was done; repeat the dry run, and look again',
};

function linesOf({ items }: BulkAnswer): string {
  return JSON.stringify(items.map(({ target, id }) => [target, id]));
}
