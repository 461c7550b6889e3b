import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { benchTable } from './bench-tables.ts';

/** Figures that pages repeat are those of the tables that the bench wrote. */

const ROOT = join(import.meta.dirname, '../..');
const PERFORMANCE = 'docs/performance.md';
const COMPARE = 'docs/compare.md';

/** Without line breaks inside of sentences. */
function textOf(page: string): string {
  return readFileSync(join(ROOT, page), 'utf8').replaceAll('\n', ' ');
}

const performance = readFileSync(join(ROOT, PERFORMANCE), 'utf8');

/** A cell of a bench's table; the first after the name is 0. */
function figure(scenario: string, row: string, column = 0): string {
  const cell = benchTable(performance, scenario).get(row)?.[column];
  if (cell === undefined || cell === '')
    throw new Error(`expected "${row}" of ${scenario} in column ${column}`);
  return cell;
}

const REROLL = 0;
const OTHER = 3;
const LAST_PATCH = 'first write to last patch';
const P50 = 'one change when idle, p50';
const ALL_PODS = { standalone: '**standalone, all pods**', distributed: '**distributed, all pods**' };

const seconds = (ms: string): string => `${(Number.parseFloat(ms) / 1000).toFixed(1)} s`;
const grouped = (ms: string): string => `${Number.parseFloat(ms).toLocaleString('en-US')} ms`;
const rounded = (ms: string): string => `${Math.round(Number.parseFloat(ms))} ms`;
const both = (scenario: string, form: (ms: string) => string): string =>
  `| ${[REROLL, OTHER].map((column) => form(figure(scenario, LAST_PATCH, column))).join(' | ')} |`;
const p50 = (): string => `| ${figure('idle', P50, REROLL)} | ${figure('idle', P50, OTHER)} |`;
const memory = (column: number): readonly [string, string] => [
  figure('pods', ALL_PODS.standalone, column),
  figure('pods', ALL_PODS.distributed, column),
];
const [standaloneIdle, distributedIdle] = memory(0);
const [standaloneAfter, distributedAfter] = memory(1);

it.each([
  [PERFORMANCE, `| one change when idle, change to patch, p50 ${p50()}`],
  [PERFORMANCE, `| the same with the default debounce | ${figure('default', P50)} |`],
  [PERFORMANCE, `| 100 changes at once, first write to last patch ${both('hundred', String)}`],
  [PERFORMANCE, `| 1,000 changes at once ${both('thousand', String)}`],
  [PERFORMANCE, `| 1 change of a source that 500 workloads use ${both('shared', String)}`],
  [PERFORMANCE, `standalone; distributed | ${standaloneIdle}; ${distributedIdle} |`],
  [
    PERFORMANCE,
    `| throughput of two workers against one; of four against two | ${figure('workers', '2', 1)}; ${figure('workers', '4', 1)} |`,
  ],
  ['README.md', `| one change when idle: change to patch, p50 ${p50()}`],
  ['README.md', `| 100 changes at once: first write to last patch ${both('hundred', seconds)}`],
  ['README.md', `| 1,000 changes at once ${both('thousand', seconds)}`],
  ['README.md', `| one source that 500 workloads use ${both('shared', seconds)}`],
  ['README.md', `| memory of all pods when idle | ${standaloneIdle} (standalone), ${distributedIdle} |`],
  [COMPARE, `| 100 changes at once, 2,000 workloads: first write to last patch ${both('hundred', grouped)}`],
  [COMPARE, `| 1,000 changes at once, 2,000 workloads ${both('thousand', grouped)}`],
  [COMPARE, `| one change, 500 workloads use the source ${both('shared', grouped)}`],
  [COMPARE, `| 100 changes at once, 100,000 workloads ${both('large', grouped)}`],
  [COMPARE, `| one change when idle, 2,000 workloads, median ${p50()}`],
  [COMPARE, `| ${distributedIdle} in 6 pods, or ${standaloneIdle} in 1 |`],
  [COMPARE, `| the same after changes | ${distributedAfter}, or ${standaloneAfter} (1,000 changes) |`],
  [
    COMPARE,
    `with 100,000 workloads | ${figure('large', 'resident memory of the watcher when in sync', REROLL)} | ${figure('large', 'resident memory of the watcher when in sync', OTHER)} |`,
  ],
  ['docs/guide/sizing.md', `[1,000 workloads in ${seconds(figure('thousand', LAST_PATCH))}]`],
  ['docs/guide/sizing.md', `[${rounded(figure('idle', P50))}]`],
  ['docs/guide/sizing.md', `${rounded(figure('default', P50))} with the default`],
  ['docs/guide/sizing.md', `[${figure('workers', '2', 1).replace('x', ' times')}]`],
])('%s says: %s', (page, text) => {
  // The text as a message would be the whole page.
  expect(textOf(page).includes(text)).toBe(true);
});

it('each missed target of a scenario is in the summary of missed targets', () => {
  const summary = performance.slice(0, performance.indexOf('## How it is measured'));
  const missed = ['hundred', 'thousand', 'shared', 'idle', 'default', 'large', 'secrets'].flatMap(
    (scenario) => [...benchTable(performance, scenario).values()].filter(([, , met]) => met === 'NO'),
  );
  for (const [measured, target] of missed) expect(summary).toContain(`| ${measured} | ${target} |`);
});
