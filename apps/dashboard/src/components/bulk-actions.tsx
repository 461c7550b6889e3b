import type { JSX } from 'preact';
import { useSignal } from '@preact/signals';
import { MOST_FREEZE_REASON } from '@reroll/core/holds/freeze';
import { MOST_IN_BULK } from '@reroll/shared/api/bulk-limits';
import type { Query } from '../router.ts';
import { mayHold, mayReload, maySteer } from '../state/status.ts';
import { Action } from './action.tsx';
import { planBulk, sendBulk, type BulkCall, type BulkStage, type Selector } from './bulk.ts';
import { BulkDone, BulkPlan, doneWords } from './bulk-result.tsx';
import { endOf, UntilField } from './hold-actions.tsx';

/** The filters of the list that the API can select workloads by. */
const SELECTS: readonly string[] = ['namespace', 'kind', 'name', 'due', 'rollout'];

/** Does the same to all workloads that the filters of the list select, for who may. The API has no selector for everything. */
export function BulkActions({ selector: given }: { selector: Query }): JSX.Element | null {
  const selector = selectorOf(given);
  const isSelected = Object.keys(selector).every((name) => SELECTS.includes(name));
  if (Object.keys(selector).length === 0 || !isSelected || (!mayReload() && !mayHold())) return null;
  return (
    <div
      key={JSON.stringify(selector)}
      class="actions bulk"
      role="group"
      aria-label="All workloads that match"
    >
      <span class="muted">All that match:</span>
      {mayReload() ? (
        <BulkAction id="bulkReload" label="Reload all" selector={selector}>
          Their pods are replaced according to their update strategies, if their annotations opt in to
          reloads. Holds are not bypassed.
        </BulkAction>
      ) : null}
      {mayHold() ? (
        <>
          <BulkAction id="bulkFreeze" label="Freeze all" selector={selector}>
            Nothing reloads them while they are frozen. When the freeze ends, each is reloaded once, if a
            reload is pending.
          </BulkAction>
          <BulkAction id="bulkUnfreeze" label="Unfreeze all" selector={selector}>
            Pending reloads are done at once, unless something else holds them.
          </BulkAction>
          <BulkAction id="bulkApprove" label="Approve all" selector={selector}>
            This approves exactly what is pending now in those that await an approval. If that changes first,
            nothing is approved.
          </BulkAction>
        </>
      ) : null}
    </div>
  );
}

/** Retries all failed jobs of a queue, where the list shows just these. The API selects by no other filter of the list. */
export function BulkRetry({ query }: { query: Query }): JSX.Element | null {
  const { state, ...selector } = selectorOf(query);
  const isOfQueue = Object.keys(selector).join() === 'queue';
  if (state !== 'failed' || !isOfQueue || (!mayReload() && !maySteer())) return null;
  return (
    <div key={selector.queue} class="actions bulk" role="group" aria-label="All jobs that match">
      <span class="muted">All that match:</span>
      <BulkAction id="bulkRetry" label="Retry all" selector={selector}>
        They start again, with all their attempts. The retry bypasses no holds.
      </BulkAction>
    </div>
  );
}

function selectorOf(query: Query): Selector {
  return Object.fromEntries(
    Object.entries(query).filter((entry): entry is [string, string] => (entry[1] ?? '') !== ''),
  );
}

interface BulkActionProps {
  readonly id: BulkCall;
  readonly label: string;
  readonly selector: Selector;
  readonly children: string;
}

function BulkAction({ id, label, selector, children }: BulkActionProps): JSX.Element {
  // Signals, which the dialog can change when this is no longer shown.
  const stage = useSignal<BulkStage>({ selector });
  const until = useSignal('');
  const noun = id === 'bulkRetry' ? 'job' : 'workload';
  const plan = (): void => void planBulk(stage, id, selector);
  return (
    <Action
      label={label}
      title={`${label} ${noun}s that match`}
      done={() => doneWords(stage.peek(), noun)}
      result={(close) =>
        stage.value.done ? <BulkDone stage={stage} done={stage.value.done} noun={noun} close={close} /> : null
      }
      onOpen={plan}
      isUnchanged={() => stage.value.planned?.items.some(({ result }) => result !== 'refused') !== true}
      sends={() => JSON.stringify([stage.value.planned?.plan, until.value])}
      {...(id === 'bulkFreeze' ? { mostReason: MOST_FREEZE_REASON } : {})}
      run={(deed) => sendBulk(stage, id, { ...deed, how: endOf(until) })}
    >
      <p>{children}</p>
      <BulkPlan stage={stage} noun={noun} again={() => planBulk(stage, id, stage.peek().selector)} />
      <p class="muted">At most {MOST_IN_BULK} at once: if more match, nothing is done.</p>
      {id === 'bulkFreeze' ? <UntilField until={until} /> : null}
    </Action>
  );
}
