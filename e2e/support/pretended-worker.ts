import { decisionSettings } from '../../libs/shared/src/platform/options/decision-settings.ts';
import { parseOptions } from '../../libs/shared/src/platform/options/parse.ts';
import { adoptStaleOf, triggersOf } from '../../libs/shared/src/platform/options/triggers.ts';
import type { Reroll } from './reroll.ts';

export async function pretendWorker(reroll: Reroll): Promise<void> {
  const flags = reroll.options.flags ?? [];
  const parsed = parseOptions('worker', [...flags], { ...reroll.redisEnv });
  if (!parsed.ok) throw new Error(parsed.errors.join('\n'));
  const { options } = parsed;
  const settings = {
    decision: decisionSettings(options),
    triggers: triggersOf(options),
    adoptStale: adoptStaleOf(options),
    dryRun: options.dryRun,
    notifyOnly: options.webhookUrl !== undefined,
  };
  const entry = { app: 'worker', name: 'w', version: '0', startedAt: 1, seenAt: Date.now() + 1e9, settings };
  await reroll.redis.hset(reroll.catalog.keys.processes, 'pretended', JSON.stringify(entry));
}
