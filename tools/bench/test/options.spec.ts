import { describe, expect, it } from 'vitest';
import { UsageError } from '../../cluster/src/errors.ts';
import { type BenchOptions, parseCommand } from '../src/options.ts';
import { SCENARIO_NAMES, SCENARIOS } from '../src/scenarios.ts';

function optionsOf(...argv: readonly string[]): BenchOptions {
  const command = parseCommand(argv);
  if (command.help) throw new Error('expected options, given --help');
  return command.options;
}

function problemsOf(...argv: readonly string[]): readonly string[] {
  try {
    parseCommand(argv);
  } catch (error) {
    if (error instanceof UsageError) return error.problems;
    throw error;
  }
  return [];
}

describe('arguments', () => {
  it('are Reroll with one watcher and two workers, and a hundred changes at once, unless given', () => {
    const { scenarios, subject, repeat } = optionsOf();
    expect(scenarios.map(({ name }) => name)).toEqual(['hundred']);
    expect(subject).toEqual({ reroll: { watchers: 1, workers: 2, concurrency: 10, debounce: '0' } });
    expect(repeat).toBe(1);
  });

  it('name scenarios in any order, which run in that of the table', () => {
    const { scenarios } = optionsOf('--scenario=shared,hundred,shared');
    expect(scenarios.map(({ name }) => name)).toEqual(['hundred', 'shared']);
  });

  it('name all scenarios at once', () => {
    expect(optionsOf('--scenario=all').scenarios.map(({ name }) => name)).toEqual([...SCENARIO_NAMES]);
  });

  it('measure the default debounce, too, when all scenarios are named', () => {
    const [scenario] = optionsOf('--scenario=all').scenarios.filter(({ name }) => name === 'default');
    expect(scenario).toMatchObject({ load: SCENARIOS.idle.load, targets: { singleP50Ms: 150 } });
  });

  it('replace numbers of a scenario, which then has no targets', () => {
    const [scenario] = optionsOf('--workloads=20', '--namespaces=2', '--changes=5').scenarios;
    expect(scenario?.load).toMatchObject({ workloads: 20, namespaces: 2, changes: 5, sharing: 1 });
    expect(scenario?.targets).toEqual({});
  });

  it('name another reloader, in place of the processes of Reroll', () => {
    expect(optionsOf('--reloader=/opt/reloader --flag').subject).toEqual({
      commandLine: '/opt/reloader --flag',
    });
  });
});

describe('a bad argument is told as expected and given', () => {
  const cases: Record<string, readonly [string, string]> = {
    'a number that is none': [
      '--workloads=many',
      "expected --workloads to be a whole number from 1 to 1000000, given 'many'",
    ],
    'a number out of range': [
      '--namespaces=0',
      "expected --namespaces to be a whole number from 1 to 10000, given '0'",
    ],
    'a fraction': ['--repeat=1.5', "expected --repeat to be a whole number from 1 to 100, given '1.5'"],
    'an unknown scenario': [
      '--scenario=hundred,x',
      `expected --scenario to be all, or some of ${SCENARIO_NAMES.join(', ')}, separated by commas, given 'hundred,x'`,
    ],
    'an empty command line': ['--reloader=', "expected --reloader to be a command line, given ''"],
    'more changes than sources': [
      '--workloads=20',
      'hundred: expected at most as many changes as sources (20), since each changes once, given 100',
    ],
    'fewer workloads than namespaces': [
      '--namespaces=3000',
      'hundred: expected at least one workload in each of 3000 namespaces, given 2000 workloads',
    ],
  };

  it.each(Object.entries(cases))('%s', (_, [argument, problem]) => {
    expect(problemsOf(argument)).toContain(problem);
  });

  it('an unknown option', () => {
    expect(problemsOf('--nope')[0]).toContain("'--nope'");
  });

  it('all of them at once', () => {
    expect(problemsOf('--scenario=x', '--repeat=0', '--json=')).toHaveLength(3);
  });
});
