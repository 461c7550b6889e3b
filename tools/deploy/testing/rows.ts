import { isDeepStrictEqual } from 'node:util';
import { manifestsWith, renderChart, type ChartValues, type Manifest } from '../render.ts';
import { difference } from './facts.ts';
import { merged } from './merged.ts';

/** Values, and what they change of the default install: all of it. */
export type Row = readonly [sentence: string, values: ChartValues, changes: readonly string[]];

/** The objects that are compared. */
type Look = (manifests: readonly Manifest[]) => readonly Manifest[];

/**
 * Rows that are not as expected, by their sentence, and what they change. Those that touch nothing in common are rendered
 * at once; where that does not add up, each half of them, and in the end one row alone.
 */
export async function wrongRows(rows: readonly Row[], look: Look): Promise<ReadonlyMap<string, unknown>> {
  const before = look(await manifestsWith());
  const wrong = await Promise.all(independent(rows).map((set) => wrongOf(set, before, look)));
  return new Map(wrong.flat());
}

type Wrong = readonly (readonly [string, unknown])[];

async function wrongOf(rows: readonly Row[], before: readonly Manifest[], look: Look): Promise<Wrong> {
  const expected = [...new Set(rows.flatMap(([, , changes]) => changes))].sort();
  const rendered = await renderChart(rows.map(([, values]) => values).reduce(merged, {}));
  const found = rendered.ok ? [...difference(before, look(rendered.manifests))].sort() : rendered.error;
  if (isDeepStrictEqual(found, expected)) return [];
  if (rows.length === 1) return [[rows[0]?.[0] ?? '', found]];
  const half = Math.ceil(rows.length / 2);
  const halves = await Promise.all(
    [rows.slice(0, half), rows.slice(half)].map((part) => wrongOf(part, before, look)),
  );
  return halves.flat();
}

/** What a row touches: its values, and the fields or objects that it changes. */
function touched([, values, changes]: Row): readonly string[] {
  return [...leavesOf('', values), ...changes.map((line) => line.slice(2).split('=')[0] ?? '')];
}

function leavesOf(path: string, value: unknown): readonly string[] {
  const isMap = typeof value === 'object' && value !== null && !Array.isArray(value);
  return isMap ? Object.entries(value).flatMap(([key, inner]) => leavesOf(`${path}.${key}`, inner)) : [path];
}

/** Rows that touch nothing in common. */
function independent(rows: readonly Row[]): readonly (readonly Row[])[] {
  const sets: { rows: Row[]; touched: Set<string> }[] = [];
  for (const row of rows) {
    const mine = touched(row);
    const free = sets.find((set) => !mine.some((each) => set.touched.has(each)));
    const set = free ?? { rows: [], touched: new Set<string>() };
    if (free === undefined) sets.push(set);
    set.rows.push(row);
    for (const each of mine) set.touched.add(each);
  }
  return sets.map((set) => set.rows);
}
