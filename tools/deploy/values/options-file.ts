import { parseDuration } from '@reroll/core/durations';
import { defaultText, type AnyOption } from '@reroll/shared/platform/options/parsing/option';
import { linesOfJson } from './lines-of-json.ts';
import { chartValues, leavesOf } from './values-comments.ts';
import { listWordsOf } from './values-schema.ts';

/** deploy/helm/reroll/options.json: what the templates turn into an argument, or if it is a credential into a variable. */
export function optionsFile(): string {
  const lines = leavesOf(chartValues()).flatMap(({ path, option }) => {
    if (option === undefined) return [];
    const { flag, env, form, apps, sensitive = false } = option;
    const line = { value: path, flag, env, form, default: defaultText(option), apps, sensitive };
    return [{ ...line, expects: option.expects, ...rangeOf(option), ...patternOf(option) }];
  });
  return linesOfJson('options', lines);
}

/** What the templates compare with the value, and what they say then. */
function patternOf(option: AnyOption): object {
  const words = listWordsOf(option);
  const { pattern = words.length > 1 ? `^(?:${words.join('|')})$` : undefined } = option;
  return pattern === undefined ? {} : { pattern, isOneText: option.isOneText ?? false };
}

/** Of a duration, also behind a number: `min` and `max` in milliseconds, from `expects`, the one place that tells. */
function rangeOf({ flag, type, expects }: AnyOption): object {
  if (!['duration', 'count/duration'].includes(type)) return {};
  const { from = '', to = '' } = / (?:from|in) (?<from>\w+) to (?<to>\w+)/u.exec(expects)?.groups ?? {};
  const [min, max] = [parseDuration(from), parseDuration(to)];
  if (min === undefined || max === undefined)
    throw new Error(`expected a range of ${flag}, found ${expects}`);
  return { min, max };
}
