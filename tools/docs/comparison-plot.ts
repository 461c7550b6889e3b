import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { benchTable } from './bench-tables.ts';

/** The plot of the README: how long changes take with Reroll and with stakater/Reloader. Its figures are those of docs/performance.md. */

const PAGE = join(import.meta.dirname, '../../docs/performance.md');

/** By the name of a scenario of the bench: the row that has its time, and what it is called. */
const SCENARIOS: Readonly<Record<string, { readonly row: string; readonly title: string }>> = {
  idle: { row: 'one change when idle, p50', title: 'one change when idle' },
  hundred: { row: 'first write to last patch', title: '100 changes at once' },
  thousand: { row: 'first write to last patch', title: '1,000 changes at once' },
  shared: { row: 'first write to last patch', title: 'one source that 500 workloads use' },
};
const FLOOR = 'times the floor';

interface Figure {
  readonly ms: number;
  /** Times the floor of its own run, where that was measured. */
  readonly floors: number | undefined;
}
type Who = 'Reroll' | 'stakater/Reloader';
type Row = { readonly title: string } & Readonly<Record<Who, Figure>>;

const [WIDTH, LEFT, RIGHT, TOP, ROW, BOTTOM] = [760, 285, 130, 40, 36, 48];

/** The picture as it is in the repository. */
export function comparisonPlot(): string {
  return plotOf(readFileSync(PAGE, 'utf8'));
}

/** @throws Error that names the figure which the page lacks. */
export function plotOf(page: string): string {
  const rows = Object.entries(SCENARIOS).map(([scenario, by]) => rowOf(page, scenario, by));
  const logs = rows.flatMap((row) => [row.Reroll, row['stakater/Reloader']].map(({ ms }) => Math.log10(ms)));
  const [least, most] = [Math.floor(Math.min(...logs)), Math.max(...logs)];
  const at = (ms: number): number =>
    LEFT + ((Math.log10(ms) - least) / (most - least)) * (WIDTH - LEFT - RIGHT);
  const height = TOP + rows.length * ROW + BOTTOM;
  const decades = Array.from({ length: Math.floor(most) - least + 1 }, (_, index) => 10 ** (least + index));
  const title = 'Time from a change to the last patch: Reroll and stakater/Reloader, on a logarithmic scale';
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" font-family="sans-serif" font-size="13" fill="#888" role="img">`,
    `<title>${title}</title>`,
    ...legend(),
    ...decades.flatMap((ms) => axis(at(ms), { text: duration(ms), height })),
    ...rows.flatMap((row, index) => dumbbell(row, { y: TOP + (index + 0.5) * ROW, at })),
    label(
      [4, height - 10],
      'Logarithmic scale. 2.0x: twice the floor, in which the bench alone reads and patches the same workloads.',
    ),
    '</svg>',
    '',
  ].join('\n');
}

function rowOf(page: string, scenario: string, { row, title }: { row: string; title: string }): Row {
  const table = benchTable(page, scenario);
  const cells = table.get(row);
  const floors = table.get(FLOOR);
  const figure = (column: number): Figure => {
    const ms = /^([\d.]+) ms$/u.exec(cells?.[column] ?? '')?.[1];
    if (ms === undefined) throw new Error(`expected "${row}" of ${scenario} in ms in column ${column}`);
    return { ms: Number(ms), floors: Number.parseFloat(floors?.[column] ?? '') || undefined };
  };
  return { title, Reroll: figure(0), 'stakater/Reloader': figure(3) };
}

function legend(): string[] {
  return [
    mark('Reroll', 10, 16),
    label([22, 16], 'Reroll'),
    mark('stakater/Reloader', 100, 16),
    label([112, 16], 'stakater/Reloader'),
  ];
}

function axis(x: number, { text, height }: { text: string; height: number }): string[] {
  const [top, bottom] = [TOP, height - BOTTOM];
  return [
    `<line x1="${x.toFixed(1)}" y1="${top}" x2="${x.toFixed(1)}" y2="${bottom}" stroke="#8886"/>`,
    label([x, bottom + 14], text, 'middle'),
  ];
}

/** The two marks of a row, each with its figure on the side where the other one is not. */
function dumbbell(row: Row, { y, at }: { y: number; at: (ms: number) => number }): string[] {
  const pair: readonly Who[] = ['Reroll', 'stakater/Reloader'];
  const [first, second] = pair.toSorted((a, b) => row[a].ms - row[b].ms) as [Who, Who];
  const [left, right] = [at(row[first].ms), at(row[second].ms)];
  return [
    label([4, y], row.title),
    `<line x1="${left.toFixed(1)}" y1="${y}" x2="${right.toFixed(1)}" y2="${y}" stroke="#888" stroke-width="2"/>`,
    mark(first, left, y),
    label([left - 12, y], figureText(row[first]), 'end'),
    mark(second, right, y),
    label([right + 12, y], figureText(row[second])),
  ];
}

/** Shapes differ, not only colors. */
function mark(who: Who, x: number, y: number): string {
  return who === 'Reroll'
    ? `<circle cx="${x.toFixed(1)}" cy="${y}" r="6" fill="#3b82f6"/>`
    : `<rect x="${(x - 5).toFixed(1)}" y="${y - 5}" width="10" height="10" fill="#d97706"/>`;
}

function label([x, y]: readonly [number, number], text: string, anchor = 'start'): string {
  return `<text x="${x.toFixed(1)}" y="${y}" text-anchor="${anchor}" dominant-baseline="middle">${text}</text>`;
}

function figureText({ ms, floors }: Figure): string {
  return floors === undefined ? duration(ms) : `${duration(ms)} (${floors.toFixed(1)}x)`;
}

function duration(ms: number): string {
  const [value, unit] = ms < 1_000 ? [ms, 'ms'] : [ms / 1_000, 's'];
  return `${value.toLocaleString('en-US', { maximumFractionDigits: 1 })} ${unit}`;
}
