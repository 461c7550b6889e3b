import { settingsInForce, type Process } from '@reroll/redis/processes/processes';
import type { Status } from '@reroll/shared/api/status';

/** Seconds for which a job may be due, or a reload pending, before it needs attention. */
const LONG_LAG = 60;
const LONG_OWED = 600;

/** What needs attention, in sentences. `processes`: undefined while Redis is unreachable. */
export function warningsOf(by: {
  status: Pick<Status, 'redis' | 'apiServer' | 'leader' | 'lagSeconds' | 'owed' | 'frozen'>;
  processes: readonly Process[] | undefined;
  paused: readonly string[];
  now: number;
}): string[] {
  const { status, processes, paused, now } = by;
  if (!status.redis.ok || !processes) return ['Redis does not respond, so nothing else is known.'];
  const live = processes.filter(({ isLive }) => isLive);
  const { dryRun } = settingsInForce(live) ?? { dryRun: false };
  const versions = new Set(live.map(({ version }) => version));
  const { lagSeconds, owed } = status;
  const oldest = owed?.oldest ? (now - Date.parse(owed.oldest)) / 1000 : 0;
  const warnings: [boolean, string][] = [
    [status.apiServer.ok === false, 'The API server does not respond to the admin.'],
    [status.redis.full === true, fullText(status.redis.usedRatio)],
    [status.leader === null, 'No watcher leads: changes are not seen.'],
    [!live.some(({ app }) => app === 'worker'), 'No worker is running: nothing is reloaded.'],
    [dryRun, 'The workers run with --dry-run: nothing is reloaded.'],
    [versions.size > 1, `Processes of several versions run: ${[...versions].sort().join(', ')}.`],
    [(lagSeconds ?? 0) > LONG_LAG, `A job has waited for a worker for ${Math.round(lagSeconds ?? 0)} s.`],
    [oldest > LONG_OWED, `A workload has been pending for ${Math.round(oldest)} s.`],
  ];
  const frozen = typeof status.frozen === 'string' ? [`${status.frozen}.`] : [];
  const queues = paused.map((name) => `The queue ${name} is paused.`);
  return [...warnings.filter(([holds]) => holds).map(([, sentence]) => sentence), ...frozen, ...queues];
}

function fullText(usedRatio: number | undefined): string {
  const used = usedRatio === undefined ? '' : ` (${Math.round(usedRatio * 100)} % of maxmemory)`;
  return `Redis is full${used}: the history is dropped and not written. Reloads continue.`;
}
