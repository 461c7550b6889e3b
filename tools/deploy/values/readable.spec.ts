import { describe, expect, it } from 'vitest';
import { parseOptions } from '@reroll/shared/platform/options/parsing/parse';
import { refusalOf, type ChartValues } from '../render.ts';
import { merged } from '../testing/merged.ts';
import { chartValues, leavesOf, type Value } from './values-comments.ts';

/** Each is wrong for some options. What their patterns cannot tell is in patterns.spec.ts of the options. */
const TEXTS = [
  'a b',
  '101%',
  '0,5',
  '1/0s',
  '51/1h',
  '1/25h',
  '25:00-26:00',
  'Frx 22:00-4:00',
  '10.0.0.0/33',
  'fabric8,nobody',
  'team in (a,b',
  'redis://u:p#w@h:6379',
  'redis://u:p%w@h:6379',
  'https://',
  'h:70000',
  '[::1',
  '5 minutes',
  '400d',
  '99999999999999999',
  'ü',
  'a/b/c',
  'x'.repeat(300),
  '"a',
  'a,,b',
];

const OPTIONS = leavesOf(chartValues()).filter(({ option }) => option !== undefined);

function nested(path: string, value: unknown): ChartValues {
  return path.split('.').reduceRight<unknown>((inner, key) => ({ [key]: inner }), value) as ChartValues;
}

/** As a values file would have it. */
function typed({ option }: Value, text: string): unknown {
  return option?.type === 'integer' && Number.isFinite(Number(text)) ? Number(text) : text;
}

/** Those of the values that Helm refuses when all of them are this text. */
async function refused(text: string): Promise<ReadonlySet<string>> {
  const bySchema = await namedIn(OPTIONS, text, (said, path) =>
    said.includes(`at '/${path.replaceAll('.', '/')}'`),
  );
  const rest = OPTIONS.filter(({ path }) => !bySchema.has(path));
  const byTemplate = await namedIn(rest, text, (said, path) =>
    ['is', 'holds', 'cannot be read'].some((verb) => said.includes(`  ${path} ${verb}`)),
  );
  return new Set([...bySchema, ...byTemplate]);
}

async function namedIn(
  values: readonly Value[],
  text: string,
  isNamed: (said: string, path: string) => boolean,
): Promise<ReadonlySet<string>> {
  const given = values.map((value) => nested(value.path, typed(value, text)));
  const said = await refusalOf([{ redis: { enabled: false } }, ...given].reduce(merged));
  return new Set(values.map(({ path }) => path).filter((path) => isNamed(said, path)));
}

/** Whether a process refuses what the chart passes on: the text, or what a list holds. */
function isUnreadable({ option }: Value, text: string): boolean {
  if (option === undefined) return false;
  const isList = option.form === 'list' && option.isOneText !== true;
  const items = text.split(',').map((item) => item.trim());
  const passed = isList ? items.filter((item) => item !== '').join(',') : text;
  const read = parseOptions('standalone', [`${option.flag}=${passed}`], {});
  return (
    !read.ok && read.errors.some((error) => error.startsWith(`${option.flag}: expected ${option.expects}`))
  );
}

describe.concurrent('Helm refuses what a process cannot read:', () => {
  it.each(TEXTS)('%s', async (text) => {
    const named = await refused(text);
    const accepted = OPTIONS.filter(({ path }) => !named.has(path));
    expect(accepted.filter((value) => isUnreadable(value, text)).map(({ path }) => path)).toEqual([]);
  });
});

it('each text is unreadable for some options', () => {
  expect(TEXTS.filter((text) => !OPTIONS.some((value) => isUnreadable(value, text)))).toEqual([]);
});
