import type { AnyOption } from '@reroll/shared/platform/options/parsing/option';
import { chartValues, type Value } from './values-comments.ts';

type Schema = Readonly<Record<string, unknown>>;

/** deploy/helm/reroll/values.schema.json: what values.yaml implies, and of options what their table allows. */
export function valuesSchema(): string {
  const schema = {
    $schema: 'http://json-schema.org/draft-07/schema#',
    $comment: 'Generated from values.yaml and the table of options: run `npm run -s docs`.',
    ...objectOf(chartValues()),
  };
  return `${JSON.stringify(schema, undefined, 2)}\n`;
}

function objectOf(values: readonly Value[]): Schema {
  const properties = values.map((value) => [value.path.split('.').at(-1), schemaOf(value)] as const);
  return { type: 'object', additionalProperties: false, properties: Object.fromEntries(properties) };
}

/** Charts above this one add to `global` what they like. */
function schemaOf(value: Value): Schema {
  const described = value.description === '' ? {} : { description: value.description };
  if (value.children.length > 0) {
    const open = value.path === 'global' ? { additionalProperties: true } : {};
    return { ...objectOf(value.children), ...open };
  }
  const implied = value.option ? optionSchema(value.option, value.initial) : impliedBy(value);
  return { ...described, ...implied, ...value.schema };
}

const STRING = { type: 'string' };

/** Maps in which Kubernetes wants text: Helm's --set makes a number of 1. */
const OF_TEXT = /(labels|annotations|nodeSelector)$/iu;

function impliedBy({ path, initial }: Value): Schema {
  if (Array.isArray(initial)) return { type: 'array' };
  if (typeof initial === 'number') return { type: 'integer' };
  if (initial === null) return {};
  const text = OF_TEXT.test(path) && typeof initial === 'object' ? { additionalProperties: STRING } : {};
  return { type: typeof initial, ...text };
}

const DURATION = String.raw`^$|^0$|^([0-9]+(\.[0-9]*)?(ns|us|µs|ms|s|m|h|d))+$`;

function optionSchema(option: AnyOption, initial: unknown): Schema {
  if (option.form === 'list') return listSchema(option);
  if (option.type === 'integer') return { type: ['integer', 'null'], ...rangeOf(option) };
  if (option.type === 'duration') return { type: 'string', pattern: DURATION };
  if (option.type === 'true | false | auto') return { enum: [true, false, 'auto'] };
  if (typeof initial === 'boolean') return { type: 'boolean' };
  const words = wordsOf(option);
  return words.length > 1 ? { enum: ['', ...words] } : { type: 'string' };
}

/** The words that an option takes; none if it takes others too. */
export function wordsOf({ type }: AnyOption): readonly string[] {
  return type.includes(' | ') ? type.split(' | ') : [];
}

/** A list, or text with commas. */
function listSchema(option: AnyOption): Schema {
  const words = listWordsOf(option);
  const items = { type: 'string', ...(words.length > 1 ? { enum: words } : {}) };
  return { type: ['array', 'string'], items };
}

/** The words that a list may hold; none if it may hold others too. */
export function listWordsOf({ type }: AnyOption): readonly string[] {
  return /^[a-z0-9]+(,[a-z0-9]+)+$/u.test(type) ? type.split(',') : [];
}

/** Of 15 digits, as options have at most. */
const LARGEST = 999_999_999_999_999;

/** `expects` is the one place that tells an option's range. */
function rangeOf({ expects }: AnyOption): Schema {
  const [, from, to = LARGEST] = /(?:from )?(\d+)(?: to (\d+)| or more)/u.exec(expects) ?? [];
  return {
    ...(from === undefined ? {} : { minimum: Number(from) }),
    maximum: Number(to),
  };
}
