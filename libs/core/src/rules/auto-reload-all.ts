import type { Facts } from './facts.ts';
import { pass, reloadIfUsed, type RuleAnswer } from './rule.ts';

/**
 * With `--auto-reload-all`, any value of `auto` (in general or for the source's kind) opts the workload out, even an invalid one.
 * An annotation that names other sources does not.
 */
export function autoReloadAll({ settings, typed, auto, typedAuto, readFrom }: Facts): RuleAnswer {
  if (!settings.autoReloadAll) return pass(() => '--auto-reload-all is off');
  return auto || typedAuto
    ? pass(() => `the ${readFrom} has a value for ${auto ? settings.keys.auto : typed.auto}`)
    : reloadIfUsed('AutoReloadAll', () => '--auto-reload-all is on, and the workload does not say otherwise');
}
