import type { Status } from '@reroll/shared/api/status';
import { age, humanDuration } from '../output/age.ts';
import { toned, type Cell, type Column } from '../output/table.ts';

export function statusFacts(status: Status, now: number): (readonly [string, Cell])[] {
  const { history, limits, caller, owed } = status;
  return [
    ['Cluster', status.cluster],
    ['Version', status.version],
    ['Leader', status.leader === null ? toned('none', 'bad') : status.leader],
    ['Pending', owed === null ? 'unknown' : pendingText(owed, now)],
    ['Lag', status.lagSeconds === null ? 'unknown' : humanDuration(status.lagSeconds * 1_000)],
    ['Redis', redisHealth(status.redis)],
    ['API server', health(status.apiServer)],
    ['History', historyText(history, now)],
    ['Concurrency', limitText(limits.concurrency, 'as the flag says')],
    ['Reloads per minute', limitText(limits.reloadsPerMinute, 'as the flag says')],
    ['You are', `${caller.name}, ${rightsText(caller)}`],
  ];
}

/** `unset`: what applies without a limit at run time. */
export function limitText(limit: number | null, unset: string): string {
  if (limit === null) return unset;
  return limit === 0 ? 'no limit' : String(limit);
}

function historyText(history: Status['history'], now: number): string {
  if (history === null) return 'unknown';
  const counted = `${history.changes} ${history.changes === 1 ? 'change' : 'changes'}`;
  return history.oldest === null ? counted : `${counted}, the oldest ${age(history.oldest, now)} ago`;
}

function pendingText({ workloads, oldest }: NonNullable<Status['owed']>, now: number): Cell {
  if (workloads === 0) return toned('nothing', 'good');
  const counted = `${workloads} ${workloads === 1 ? 'workload' : 'workloads'}`;
  return toned(`${counted}${oldest === null ? '' : `, for ${age(oldest, now)}`}`, 'waiting');
}

function health({ ok, milliseconds }: Status['apiServer']): Cell {
  if (ok === null) return 'unknown';
  const time = milliseconds === null ? '' : ` (${milliseconds} ms)`;
  return ok ? toned(`ok${time}`, 'good') : toned('does not answer', 'bad');
}

function redisHealth({ full = false, usedRatio, ...redis }: Status['redis']): Cell {
  const used = usedRatio === undefined ? '' : `, ${Math.round(usedRatio * 100)} % used`;
  if (!redis.ok || (!full && used === '')) return health(redis);
  return full
    ? toned(`full${used}: no history is written`, 'bad')
    : toned(`ok (${redis.milliseconds} ms${used})`, 'good');
}

function rightsText({ clusterWide, mayReload, maySteer }: Status['caller']): string {
  const scope = clusterWide ? 'all namespaces' : 'your namespaces';
  const reload = mayReload ? ['request reloads'] : [];
  const control = maySteer ? ['control queues'] : [];
  const may = LIST.format(['read', ...reload, ...control]);
  return `who may ${may} in ${scope}`;
}

const LIST = new Intl.ListFormat('en-GB');

type Process = Status['processes'][number];

export function processColumns(now: number): readonly Column<Process>[] {
  return [
    { title: 'NAME', cell: ({ name }) => name },
    { title: 'APP', cell: ({ app }) => app },
    { title: 'ROLE', cell: ({ role }) => role ?? '' },
    { title: 'SYNCED', cell: ({ synced }) => (synced === null ? '' : syncedCell(synced)) },
    { title: 'VERSION', cell: ({ version }) => version },
    { title: 'SEEN', cell: ({ seenAt }) => age(seenAt, now) },
    { title: 'AGE', cell: ({ startedAt }) => age(startedAt, now) },
  ];
}

/** Unlike elsewhere, `no` is not to last. */
function syncedCell(value: boolean): Cell {
  return value ? 'yes' : toned('no', 'waiting');
}
