import type { Change, ChangeSummary, ChangeWorkload } from '@reroll/shared/api/changes';
import type { Waves } from '@reroll/shared/api/waves';
import { age, until } from '../output/age.ts';
import { toneOf } from '../output/color.ts';
import type { ListView } from '../output/print.ts';
import { toned, type Cell, type Column } from '../output/table.ts';
import { shortHash, shortName } from './names.ts';
import { waveText } from './waves.ts';

export interface ViewOptions {
  readonly now: number;
  /** Whether items of several namespaces are shown. */
  readonly namespaces: boolean;
}

export function changesView({ now, namespaces }: ViewOptions): ListView<ChangeSummary> {
  const namespace: Column<ChangeSummary> = {
    title: 'NAMESPACE',
    cell: changeNamespace,
  };
  return {
    nameOf: ({ id }) => id,
    columns: [
      ...(namespaces ? [namespace] : []),
      { title: 'ID', cell: ({ id }) => id },
      { title: 'AGE', cell: ({ seenAt }) => age(seenAt, now) },
      { title: 'SOURCE', cell: sourceText },
      { title: 'CAUSE', cell: ({ cause }) => cause },
      { title: 'WORKLOADS', cell: statesCell },
      { title: 'FROM', wide: true, cell: ({ from }) => shortHash(from) },
      { title: 'TO', wide: true, cell: ({ to }) => shortHash(to) },
      { title: 'BY', wide: true, cell: ({ request }) => request?.actor ?? '' },
      { title: 'BECAUSE', wide: true, cell: ({ request }) => request?.reason ?? '' },
    ],
  };
}

export function changeNamespace({ source, workload }: Pick<Change, 'source' | 'workload'>): string {
  return (source ?? workload)?.namespace ?? '';
}

/** What changed, or what was reloaded at whose request. */
export function sourceText({
  source,
  workload,
  request,
}: Pick<Change, 'source' | 'workload' | 'request'>): string {
  if (source !== null) return shortName(source);
  const parts = [workload && shortName(workload), request && `(requested by ${request.actor})`];
  return parts.filter(Boolean).join(' ');
}

const WORST_FIRST = [
  'failed',
  'stuck',
  'retrying',
  'held',
  'delayed',
  'pending',
  'running',
  'reloaded',
  'rolledOut',
];

/** `2 rolledOut, 1 failed`, `50 rolledOut and 950 more`. */
export function statesCell({ states, more }: Pick<ChangeSummary, 'states' | 'more'>): Cell {
  const counted = Object.entries(states).filter(([, count]) => (count ?? 0) > 0);
  const worst = WORST_FIRST.find((state) => counted.some(([each]) => each === state));
  const text = counted.map(([state, count]) => `${count} ${state}`).join(', ');
  const others = more ? ` and ${more.woken + more.leftAlone} more` : '';
  return toned(text + others, toneOf(worst ?? ''));
}

/** What the list of workloads leaves out; empty if it is complete. */
export function moreText({ more, counted }: Pick<Change, 'more' | 'counted'>): string {
  if (!more) return '';
  const { woken, leftAlone } = more;
  const outcomes = Object.entries(counted ?? {}).map(([reason, count]) => `${count} ${reason}`);
  const known = outcomes.length > 0 ? ` (${outcomes.join(', ')})` : '';
  const parts = [
    ...(woken > 0 ? [`${woken} more with a reload job${known}`] : []),
    ...(leftAlone > 0 ? [`${leftAlone} more not reloaded`] : []),
  ];
  return `and ${parts.join(', and ')}: see \`why\` for any of them`;
}

export function changeFacts(change: Change, now: number): (readonly [string, Cell])[] {
  const { request, source } = change;
  return [
    ['Change', change.id],
    ['Source', source === null ? '' : `${shortName(source)} in the namespace ${source.namespace}`],
    ['Cause', change.cause],
    ...(change.merged === undefined ? [] : ([['Merged', mergedText(change.merged)]] as const)),
    ...(request === null ? [] : ([['Requested by', `${request.actor}: ${request.reason}`]] as const)),
    ['Seen', `${change.seenAt} (${age(change.seenAt, now)} ago)`],
    ['Taken up', change.takenUpAt],
    ['From', shortHash(change.from)],
    ['To', shortHash(change.to)],
  ];
}

function mergedText(merged: number): string {
  return `${merged} earlier ${merged === 1 ? 'change' : 'changes'} that reloaded nothing`;
}

export function changeWorkloadColumns(now: number, waves?: Waves): readonly Column<ChangeWorkload>[] {
  return [
    { title: 'WORKLOAD', cell: ({ workload }) => shortName(workload) },
    { title: 'STATE', cell: ({ state }) => toned(state, toneOf(state)) },
    { title: 'REASON', cell: ({ outcome, reason }) => outcome ?? reason },
    { title: 'ATTEMPTS', cell: attemptsText },
    { title: 'AGE', cell: ({ endedAt, decidedAt }) => age(endedAt ?? decidedAt, now) },
    { title: 'DETAIL', cell: (each) => workloadDetail(each, now, waves) },
  ];
}

function attemptsText({ attempts }: ChangeWorkload): string {
  if (attempts === null) return '';
  return attempts.most === null ? String(attempts.made) : `${attempts.made}/${attempts.most}`;
}

/**
 * What delays it, or the reason that the rules gave. `waves`: how the change proceeds now; what the history says of a wave may be a few
 * minutes old.
 */
export function workloadDetail(each: ChangeWorkload, now: number, waves?: Waves): string {
  if (each.error !== null) return each.error;
  if (each.state === 'stuck' && each.rollout !== null) return stuckText(each.rollout);
  const isTimed = each.state === 'delayed' || each.state === 'retrying';
  if (each.until !== null && isTimed && each.outcome !== 'KeyUnknown') {
    return `in ${until(each.until, now)}`;
  }
  return (waves && waveText(each, waves)) ?? each.detail;
}

type RolloutAnswer = NonNullable<ChangeWorkload['rollout']>;

/** `ProgressDeadlineExceeded; web-7d9/app: ImagePullBackOff …`. */
function stuckText({ code, conditions, pods = [] }: RolloutAnswer): string {
  const reasons = conditions.map(({ reason }) => reason).filter((reason) => reason !== '' && reason !== code);
  const messages = pods.map(({ name, container, reason, message }) =>
    [`${name}/${container}: ${reason}`, message].filter((part) => part !== '').join(' '),
  );
  return [code, ...new Set(reasons), ...messages].join('; ');
}
