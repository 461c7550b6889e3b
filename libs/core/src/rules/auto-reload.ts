import { parseGoBool } from '../annotations/annotation-keys.ts';
import type { Facts } from './facts.ts';
import { pass, reloadIfUsed, type RuleAnswer } from './rule.ts';

/** Either annotation suffices: `auto: "false"` does not override the annotation for the source's kind. */
export function autoReload({ settings, typed, auto, typedAuto, readFrom }: Facts): RuleAnswer {
  const answers = [
    { key: settings.keys.auto, value: auto },
    { key: typed.auto, value: typedAuto },
  ];
  const on = answers.find(({ value }) => parseGoBool(value ?? '') === true);
  return on
    ? reloadIfUsed('AutoReload', () => `the ${readFrom} has ${on.key}: ${JSON.stringify(on.value)}`)
    : pass(() => `neither ${settings.keys.auto} nor ${typed.auto} of the ${readFrom} is true`);
}
