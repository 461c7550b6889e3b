import { formatDuration } from '@reroll/core/durations';
import type { ExplainSettings } from '@reroll/core/explain/facts';
import type { HoldDefaults } from '@reroll/core/holds/reload-hold';
import { decisionSettings } from './decision-settings.ts';
import type { WorkerOptions } from './parsing/table.ts';
import { adoptStaleOf, triggersOf } from './triggers.ts';

export function explainSettings(options: WorkerOptions): ExplainSettings {
  return {
    decision: decisionSettings(options),
    triggers: triggersOf(options),
    adoptStale: adoptStaleOf(options),
    dryRun: options.dryRun,
    notifyOnly: options.webhookUrl !== undefined,
    cronJobStrategy: options.cronjobStrategy,
    holds: holdDefaults(options),
  };
}

/** What the flags hold where no annotation says otherwise. */
export function holdDefaults(options: WorkerOptions): HoldDefaults {
  const { reloadWindow: window, requireApproval, workloadReloadLimit: limit, waves } = options;
  const { maxConcurrentRollouts: rollouts } = options;
  const bake = formatDuration(options.bake);
  return { window, approval: requireApproval ? 'required' : 'none', limit, waves, bake, rollouts };
}
