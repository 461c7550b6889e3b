import { describe, expect, it } from 'vitest';
import { figureRows } from '../src/report/figures.ts';
import { replaceBlock } from '../src/report/markdown.ts';
import { parseBusySeconds, parseUsage } from '../src/measure/proc.ts';
import { loadProblems, type Scenario, SCENARIOS, sourceCount } from '../src/scenarios.ts';
import { compared } from '../src/report/report.ts';
import { tablesOf } from '../src/report/tables.ts';
import type { Result } from '../src/task.ts';
import { titleOf } from '../src/report/title.ts';
import { layOut } from '../src/work.ts';

describe('a figure', () => {
  const cases: Record<string, readonly [number | undefined, string, boolean | undefined]> = {
    'below its target meets it': [3.5, '3.50x', true],
    'is judged as it is shown': [4.004, '4.00x', true],
    'above its target does not meet it': [4.01, '4.01x', false],
    'that could not be had is not judged': [Number.NaN, 'not measured', undefined],
    'that was not had is not judged': [undefined, 'not measured', undefined],
  };

  it.each(Object.entries(cases))('%s', (_, [ratio, value, met]) => {
    const [row] = figureRows(ratio === undefined ? {} : { ratio }, { ratio: 4 });
    expect(row).toMatchObject({ value, target: 'at most 4x', met });
  });

  it('of which there must be none says so', () => {
    expect(figureRows({ missed: 1 }, { missed: 0 })).toMatchObject([
      { value: '1', target: 'none', met: false },
    ]);
  });
});

describe('the tables of a result', () => {
  const result = (scenario: Scenario): Result => {
    const processes = [{ name: 'apiserver', cpuSeconds: 0.68, residentMb: 1000, peakMb: 1001 }];
    const metered = { processes, cpuSeconds: 0.68, foreignPercent: 0 };
    const figures = { rolled: 100, singleP50Ms: 120 };
    const runs = [{ figures, latencies: [], metered, requests: new Map<string, number>() }];
    return { scenario, figures, runs, processes, requests: new Map() };
  };

  it('have the CPU of each process for a reloaded workload', () => {
    expect(tablesOf(result(SCENARIOS.hundred)).at(-1)).toEqual([
      ['process', 'CPU', 'CPU for a reloaded workload', 'resident', 'peak'],
      ['apiserver', '0.68 s', '6.80 ms', '1000 MB', '1001 MB'],
    ]);
  });

  it('have no CPU of processes that were only started', () => {
    expect(tablesOf({ ...result(SCENARIOS.secrets), runs: [] }).at(-1)).toEqual([
      ['process', 'resident', 'peak'],
      ['apiserver', '1000 MB', '1001 MB'],
    ]);
  });

  it('show a range of the incumbent as it is known', () => {
    const [figures = []] = tablesOf(result(SCENARIOS.default));
    expect(figures.find(([label]) => label?.endsWith('p50'))).toEqual([
      'one change when idle, p50',
      '120.0 ms',
      'at most 150 ms',
      'yes',
      '60-110 ms, in a pod',
    ]);
  });

  it('compare single changes with those of idle only in a large cluster', () => {
    const all = compared([SCENARIOS.idle, SCENARIOS.default, SCENARIOS.large].map(result));
    expect(all.map(({ figures }) => figures.singleVersusIdle)).toEqual([undefined, undefined, 1]);
  });
});

describe('a page', () => {
  const block = (text: string): string =>
    `<!-- bench begin: reroll/x -->\n${text}\n<!-- bench end: reroll/x -->`;

  it('gets the table in the place of the old one', () => {
    const page = `# Title\n\n${block('old')}\n\nafter\n`;
    expect(replaceBlock(page, 'reroll/x', 'new\n')).toBe(`# Title\n\n${block('new')}\n\nafter\n`);
  });

  it('without the markers gets them at its end', () => {
    expect(replaceBlock('# Title\n', 'reroll/x', 'new')).toBe(`# Title\n\n${block('new')}\n`);
  });

  it('that is empty becomes the block', () => {
    expect(replaceBlock('', 'reroll/x', 'new')).toBe(`${block('new')}\n`);
  });
});

describe('workloads', () => {
  const shape = { prefix: 't', workloads: 7, namespaces: 2, sharing: 3 };

  it('are spread evenly over namespaces, and share sources within one only', () => {
    const sources = layOut(shape).map(({ namespace, name, workloads }) => [
      namespace,
      name,
      workloads.length,
    ]);
    expect(sources).toEqual([
      ['bench-t-0', 'cfg-0', 3],
      ['bench-t-1', 'cfg-0', 3],
      ['bench-t-0', 'cfg-1', 1],
    ]);
  });

  it('have as many sources as is told beforehand', () => {
    expect(sourceCount({ ...shape, changes: 1 })).toBe(layOut(shape).length);
  });
});

describe('the scenarios', () => {
  it.each(Object.values(SCENARIOS))('$name is possible', (scenario) => {
    expect(loadProblems(scenario)).toEqual([]);
  });

  it('have a title with their numbers', () => {
    expect(titleOf(SCENARIOS.hundred)).toBe('100 changes at once, 2,000 workloads in 10 namespaces');
    expect(titleOf(SCENARIOS.default)).toMatch(/, default debounce$/u);
  });
});

it('reads what /proc tells of a process, whatever its name', () => {
  const stat = `7 (a) b (c) S 1 7 7 0 -1 4194560 100 0 0 0 250 50 0 0 20 0 11 0 88 1 1`;
  const status = 'Name:\ta\nVmHWM:\t  2000 kB\nVmRSS:\t  1000 kB\n';
  expect(parseUsage(stat, status)).toEqual({ cpuSeconds: 3, residentMb: 1.024, peakMb: 2.048 });
});

it('reads for how long the cores were busy, waiting not included', () => {
  expect(parseBusySeconds('cpu  100 20 300 99999 88888 1 2 77 0 0\ncpu0 1 1 1 1\n')).toBe(5);
});
