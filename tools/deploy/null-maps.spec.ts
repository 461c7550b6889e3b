import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { at, workload } from './look.ts';
import { mapsOf } from './maps-file.ts';
import { manifestsWith, type ChartValues } from './render.ts';
import { CHART, chartValues } from './values-comments.ts';

/** Null at a dotted path: Helm then takes the key out of the values. */
const nullAt = (path: string): ChartValues =>
  path.split('.').reduceRight<unknown>((inner, key) => ({ [key]: inner }), null) as ChartValues;

const kindsOf = async (values: ChartValues): Promise<readonly string[]> =>
  (await manifestsWith(values)).map(({ kind, metadata }) => `${kind} ${metadata.name}`);

describe.concurrent('an install is whole with null instead of the map', () => {
  it.each(mapsOf(chartValues()).map(({ path }) => [path]))('%s', async (path) => {
    expect(await kindsOf(nullAt(path))).toEqual(await kindsOf({}));
  });
});

it('null gives a map with keys of its own its defaults', async () => {
  const values = ['reloader', 'watcher.image', 'redis', 'worker'].map(nullAt);
  for (const each of values) expect(await manifestsWith(each)).toHaveLength((await manifestsWith()).length);
  const { container, args } = workload(await manifestsWith(nullAt('reloader')), 'watcher');
  const before = workload(await manifestsWith(), 'watcher');
  expect(args).toEqual(before.args);
  expect(at(container, 'ports')).toEqual(at(before.container, 'ports'));
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
