import type { HistoryEntry, Workload } from '@reroll/shared/api/workloads';
import { age } from '../output/age.ts';
import { toneOf } from '../output/color.ts';
import { toned } from '../output/table.ts';
import type { Branch } from '../output/tree.ts';
import { shortHash, shortKey, shortName } from './names.ts';
import { pendingFacts, rolloutCell } from './workloads.ts';

/** Without `-o wide`; `workloads` shows all of them. */
const EARLIER = 5;

interface WhyOptions {
  readonly now: number;
  readonly wide: boolean;
}

/** What stands under the sentence about the last reload: the rollout, what is pending, the sources, and the reloads before. */
export function whyBranches(workload: Workload, options: WhyOptions): readonly Branch[] {
  const { sourcesInDetail: sources, history, rolloutInDetail } = workload;
  const last = lastReloadOf(workload);
  const earlier = history.filter((entry) => entry !== last);
  const shown = options.wide ? earlier : earlier.slice(0, EARLIER);
  return [
    { name: 'Rollout', cell: rolloutCell(rolloutInDetail) },
    ...pendingFacts(workload, options.now).map(([name, cell]) => ({ name, cell })),
    sources.length === 0
      ? { name: 'Sources', cell: 'none' }
      : { name: 'Sources', below: sources.map((each) => sourceBranch(each, options.wide)) },
    ...(shown.length === 0
      ? []
      : [{ name: 'Earlier', below: shown.map((entry) => historyBranch(entry, options.now)) }]),
  ];
}

const RELOADED = ['reloaded', 'rolledOut', 'stuck'] as const;

/** An entry whose workload was reloaded. */
export type Reload = HistoryEntry & { readonly state: (typeof RELOADED)[number] };

/** Undefined: the history has none. */
export function lastReloadOf({ history }: Workload): Reload | undefined {
  return history.find(isReload);
}

function isReload(entry: HistoryEntry): entry is Reload {
  return RELOADED.some((state) => state === entry.state);
}

type Dependency = Workload['sourcesInDetail'][number];

function sourceBranch(each: Dependency, wide: boolean): Branch {
  const { rolls, reason, exists, due, recorded, current } = each;
  const parts = [
    `${rolls ? 'reloads it' : 'does not reload it'} (${reason})`,
    ...(exists ? [] : ['does not exist']),
    ...(due === 'owed' ? ['a reload for it is pending'] : []),
    ...(wide ? [`recorded ${hashText(recorded)}, current ${hashText(current)}`] : []),
  ];
  const tone = due === 'owed' ? 'waiting' : rolls ? undefined : 'quiet';
  return { name: shortName(each.source), cell: toned(`${parts.join('; ')}: ${each.detail}`, tone) };
}

export function hashText(hash: string | null): string {
  return hash === null ? 'nothing' : shortHash(hash);
}

function historyBranch(entry: HistoryEntry, now: number): Branch {
  const { source, rolled, cause, reason, change, state } = entry;
  const of = source === null ? rolled.map(shortKey).join(', ') : shortName(source);
  const what = [of, cause ?? ''].filter((text) => text !== '').join(' ');
  const because = what === '' ? reason : `${what} (${reason})`;
  const id = change === null ? '' : `, change ${change}`;
  return {
    name: `${age(entry.at, now)} ago`,
    cell: toned(`${state}: ${because}${id}`, toneOf(state)),
  };
}
