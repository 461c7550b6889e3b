import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { at, workload } from '../look.ts';
import { mapsOf } from './maps-file.ts';
import { manifestsWith, renderChart, type ChartValues } from '../render.ts';
import { merged } from '../testing/merged.ts';
import { CHART, chartValues, leavesOf } from './values-comments.ts';

/** Null at a dotted path: Helm then takes the key out of the values. */
const nullAt = (path: string): ChartValues =>
  path.split('.').reduceRight<unknown>((inner, key) => ({ [key]: inner }), null) as ChartValues;

const kindsOf = async (values: ChartValues): Promise<readonly string[]> =>
  (await manifestsWith(values)).map(({ kind, metadata }) => `${kind} ${metadata.name}`);

const MAPS = mapsOf(chartValues()).map(({ path }) => path);
const [INNERMOST, OUTER] = [true, false].map((isInnermost) =>
  MAPS.filter((path) => MAPS.every((other) => !other.startsWith(`${path}.`)) === isInnermost),
);

const BOOLEANS = leavesOf(chartValues())
  .filter(({ initial }) => typeof initial === 'boolean')
  .map(({ path }) => path);

/** Of any two maps, each is in a set in which the other one is not. */
function pairwise(paths: readonly string[] = []): readonly (readonly string[])[] {
  const bits = Array.from({ length: Math.ceil(Math.log2(paths.length)) }, (_, bit) => bit);
  return bits.flatMap((bit) =>
    [0, 1].map((side) => paths.filter((_path, index) => ((index >> bit) & 1) === side)),
  );
}

/** Null takes the maps within it away too, so those that have some come apart from the innermost. */
const SETS = [...pairwise(INNERMOST), ...pairwise(OUTER)].map((paths, index) => [index, paths] as const);

it.concurrent.each(SETS)(
  'an install is whole with null instead of the maps of set %i',
  async (_index, paths) => {
    const outermost = paths.filter((path) => !paths.some((other) => path.startsWith(`${other}.`)));
    const kinds = await kindsOf(outermost.map(nullAt).reduce(merged));
    expect(kinds, `with null instead of ${paths.join(', ')}`).toEqual(await kindsOf({}));
  },
);

it('null gives a map with keys of its own its defaults', async () => {
  const values = ['reloader', 'image', 'redis', 'worker'].map(nullAt);
  for (const each of values) expect(await manifestsWith(each)).toHaveLength((await manifestsWith()).length);
  const { container, args } = workload(await manifestsWith(nullAt('reloader')), 'watcher');
  const before = workload(await manifestsWith(), 'watcher');
  expect(args).toEqual(before.args);
  expect(at(container, 'ports')).toEqual(at(before.container, 'ports'));
});

it.concurrent.each(BOOLEANS)('null instead of %s renders, or is refused in words', async (path) => {
  const result = await renderChart(nullAt(path));
  expect(result.ok ? '' : result.error).not.toMatch(/wrong type|invalid value/u);
});

it('null takes limits and requests away', async () => {
  const { container } = workload(await manifestsWith(nullAt('worker.resources')), 'worker');
  expect(at(container, 'resources')).toEqual({});
});

it('every template that is rendered begins with it', () => {
  const files = readdirSync(join(CHART, 'templates'), { recursive: true, encoding: 'utf8' });
  const rendered = files.filter((file) => /(^|\/)[^_/]+\.(yaml|txt)$/u.test(file));
  expect(rendered.length).toBeGreaterThan(40);
  const begins = (file: string): boolean =>
    readFileSync(join(CHART, 'templates', file), 'utf8').startsWith('{{- include "reroll.fillMaps" . }}\n');
  expect(rendered.filter((file) => !begins(file))).toEqual([]);
});
