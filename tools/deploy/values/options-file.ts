import { parseDuration } from '@reroll/core/durations';
import { defaultText, type AnyOption } from '@reroll/shared/platform/options/parsing/option';
import { linesOfJson } from './lines-of-json.ts';
import { chartValues, leavesOf } from './values-comments.ts';

/** deploy/helm/reroll/options.json: what the templates turn into an argument, or if it is a credential into a variable. */
export function optionsFile(): string {
  const lines = leavesOf(chartValues()).flatMap(({ path, option }) => {
    if (option === undefined) return [];
    const { flag, env, form, apps, sensitive = false } = option;
    const line = { value: path, flag, env, form, default: defaultText(option), apps, sensitive };
    return [{ ...line, ...rangeOf(option), ...patternOf(option) }];
  });
  return linesOfJson('options', lines);
}

/** What the templates compare with the value, and what they say then. */
function patternOf({ pattern, expects }: AnyOption): object {
  return pattern === undefined ? {} : { pattern, expects };
}

/** Of a duration: `from` and `to` as its `expects` has them, the one place that tells, and in milliseconds. */
function rangeOf({ flag, type, expects }: AnyOption): object {
  if (type !== 'duration') return {};
  const { from = '', to = '' } = / from (?<from>\S+) to (?<to>\S+)$/u.exec(expects)?.groups ?? {};
  const [min, max] = [parseDuration(from), parseDuration(to)];
  if (min === undefined || max === undefined)
    throw new Error(`expected a range of ${flag}, found ${expects}`);
  return { from, to, min, max };
}
