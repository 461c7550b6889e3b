import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isMap, isScalar, parse, parseDocument, type Pair, type YAMLMap } from 'yaml';
import type { AnyOption } from '@reroll/shared/platform/options/parsing/option';
import { OPTION_LIST } from '@reroll/shared/platform/options/parsing/table';
import { CHART } from '../images/chart-image.ts';

export { CHART };

/** A value of the chart, as values.yaml has it and speaks of it. Its first lines say what the comments mean. */
export interface Value {
  /** Dotted. */
  readonly path: string;
  readonly initial: unknown;
  /** Without `# --`; '' if it has none. */
  readonly description: string;
  /** Passed on as this option. */
  readonly option: AnyOption | undefined;
  /** Flags that a template derives from it. */
  readonly sets: readonly string[];
  /** What `@schema` adds. */
  readonly schema: Readonly<Record<string, unknown>>;
  /** Of a map with keys of its own. */
  readonly children: readonly Value[];
}

/** Every value of the chart, in the order of values.yaml. */
export function chartValues(file = join(CHART, 'values.yaml')): readonly Value[] {
  const { contents } = parseDocument(readFileSync(file, 'utf8'));
  if (!isMap(contents)) throw new Error(`expected a map in ${file}`);
  return valuesOf(contents, '');
}

/** The same without its structure: those that have no keys of their own. */
export function leavesOf(values: readonly Value[]): readonly Value[] {
  return values.flatMap((value) => (value.children.length === 0 ? [value] : leavesOf(value.children)));
}

function valuesOf(map: YAMLMap, parent: string): readonly Value[] {
  return map.items.map((pair, index) => {
    const key = keyOf(pair);
    const path = parent === '' ? key : `${parent}.${key}`;
    // The comment above the first key is the map's.
    const above = index === 0 ? map.commentBefore : undefined;
    const comment = (isScalar(pair.key) ? pair.key.commentBefore : undefined) ?? above ?? '';
    const nested = isMap(pair.value) && !pair.value.flow ? pair.value : undefined;
    return {
      path,
      ...meaningOf(comment, path),
      initial: nested ? undefined : plain(pair.value),
      children: nested ? valuesOf(nested, path) : [],
    };
  });
}

function keyOf({ key }: Pair): string {
  if (isScalar(key)) return String(key.value);
  throw new Error('expected plain keys in values.yaml');
}

function plain(node: unknown): unknown {
  return (node as { toJSON?: () => unknown } | null)?.toJSON?.() ?? null;
}

type Meaning = Pick<Value, 'description' | 'option' | 'sets' | 'schema'>;

/** Only what follows the last `# --` or the last empty line belongs to the value. */
function meaningOf(comment: string, path: string): Meaning {
  const block = comment.split(/\n[ \t]*\n/u).at(-1) ?? '';
  const lines = block.split('\n').map((line) => line.trim());
  const begins = lines.findLastIndex((line) => line.startsWith('--'));
  const own = begins < 0 ? [] : lines.slice(begins).map((line) => line.replace(/^--\s*/u, ''));
  const tagged = (tag: string): readonly string[] =>
    own.filter((line) => line.startsWith(`@${tag} `)).map((line) => line.slice(tag.length + 2).trim());
  const [flag] = tagged('option');
  const option = flag === undefined ? undefined : optionOf(flag, path);
  const said = own.filter((line) => !line.startsWith('@')).join(' ');
  return {
    description: said === '' ? (option?.description ?? '') : said,
    option,
    sets: tagged('sets'),
    schema: Object.assign({}, ...tagged('schema').map((text) => parse(text) as object)) as Value['schema'],
  };
}

function optionOf(flag: string, path: string): AnyOption {
  const found = OPTION_LIST.find(([, option]) => option.flag === flag);
  if (!found)
    throw new Error(`values.yaml, ${path}: expected @option with a flag of the table, given ${flag}`);
  return found[1];
}
