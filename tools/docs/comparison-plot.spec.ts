import { expect, it } from 'vitest';
import { plotOf } from './comparison-plot.ts';

/** A page with these figures: Reroll's and those of stakater/Reloader. */
function page(one: readonly string[], many: readonly string[], floors = ['2.00x', '20.00x']): string {
  const row = (name: string, [reroll, other]: readonly string[]): string =>
    `| ${name} | ${reroll} | | | ${other} |`;
  const block = (name: string, rows: readonly string[]): string =>
    [`<!-- bench begin: reroll/${name} -->`, ...rows, `<!-- bench end: reroll/${name} -->`].join('\n');
  const burst = [row('first write to last patch', many), row('times the floor', floors)];
  return [
    block('idle', [row('one change when idle, p50', one)]),
    ...['hundred', 'thousand', 'shared'].map((name) => block(name, burst)),
  ].join('\n');
}

/** The x of the marks of the rows, without those of the legend. */
function marks(svg: string, pattern: RegExp): readonly number[] {
  return [...svg.matchAll(pattern)].map(([, x]) => Number(x)).slice(1);
}

it('each time has its place on a logarithmic scale, and its figure beside it', () => {
  const svg = plotOf(page(['100 ms', '10 ms'], ['1000 ms', '10000 ms']));
  const reroll = marks(svg, /<circle cx="([\d.]+)"/gu);
  const other = marks(svg, /<rect x="([\d.]+)"/gu).map((x) => x + 5);
  const [decade = 0] = other.slice(1).map((x, index) => x - (reroll[index + 1] ?? 0));
  expect(decade).toBeGreaterThan(50);
  expect((reroll[0] ?? 0) - (other[0] ?? 0)).toBeCloseTo(decade, 0);
  expect((reroll[1] ?? 0) - (reroll[0] ?? 0)).toBeCloseTo(decade, 0);
  expect(other).toHaveLength(4);
  for (const text of ['>100 ms<', '>10 ms<', '>1 s (2.0x)<', '>10 s (20.0x)<']) expect(svg).toContain(text);
});

it.each([
  ['a row', page(['100 ms', '10 ms'], ['1 ms', '2 ms']).replaceAll('first write', 'last write')],
  ['a figure', page(['100 ms', ''], ['1 ms', '2 ms'])],
  ['a table', page(['100 ms', '10 ms'], ['1 ms', '2 ms']).replace('begin: reroll/shared', '')],
])('a page without %s is refused', (_what, text) => {
  expect(() => plotOf(text)).toThrow(
    /expected "(?:one change|first write).*" of (?:idle|hundred) in ms|expected .* a table of .* shared/u,
  );
});
