import type { Explanation as Explained } from '@reroll/core/explain/explain';
import type { FactsFrom } from '@reroll/core/explain/facts';
import type { Preview as Previewed, PreviewedPair } from '@reroll/core/explain/preview';
import type { ReloadHold } from '@reroll/core/holds/hold';
import { partsOf } from '@reroll/core/model';
import type { RecordHash } from '@reroll/core/record/record-hash';
import type { Explanation, Preview } from './explain.ts';

/** An explanation as the API returns it. `shown` returns a hash as it may be shown: see `shownHash`. */
export function explanationAnswer(
  explained: Explained,
  facts: FactsFrom,
  shown: (hash: RecordHash) => string,
): Explanation {
  const { workload, source, conclusion, reloads, reason, rules, use, record, due, holds } = explained;
  const { recorded, current, agrees, isUnverified } = record;
  return {
    workload: partsOf(workload),
    source: partsOf(source),
    conclusion,
    reloads,
    reason,
    rules: rules.map((step) => ({
      rule: step.rule,
      outcome: step.outcome,
      decides: step.decides,
      reason: step.reason ?? null,
      detail: step.detail,
    })),
    use: useAnswer(use),
    edge: explained.isDependency,
    record: {
      recorded: recorded === null ? null : shown(recorded),
      current: current === null ? null : shown(current),
      agrees,
      doubtful: isUnverified,
    },
    due: { state: due.state, known: due.isKnown, detail: due.detail },
    holds: [...holds],
    facts,
  };
}

export function previewAnswer({ verdicts, today, conclusion }: Previewed): Preview {
  return { verdicts: verdicts.map(verdictAnswer), today: today.map(verdictAnswer), conclusion };
}

function useAnswer({
  used,
  mentioned,
  hasContainers,
  isNeeded,
  places,
  detail,
}: Explained['use']): Explanation['use'] {
  return {
    used,
    mentioned,
    hasContainers,
    needed: isNeeded,
    places:
      places?.map(({ by, container, init, name }) => ({
        by,
        container: container ?? null,
        init,
        name: name ?? null,
      })) ?? null,
    detail,
  };
}

function verdictAnswer(verdict: PreviewedPair): Preview['verdicts'][number] {
  const { workload, source, reloads, reason, detail, wave = null, held } = verdict;
  return {
    workload: partsOf(workload),
    source: partsOf(source),
    reloads,
    reason,
    detail,
    wave,
    held: held ? heldAnswer(held) : null,
  };
}

export function heldAnswer({
  reason,
  until,
  detail,
}: ReloadHold): NonNullable<Preview['verdicts'][number]['held']> {
  return { reason, until: until === undefined ? null : new Date(until).toISOString(), detail };
}
