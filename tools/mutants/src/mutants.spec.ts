import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { mutants } from './list/mutants.ts';
import { compiledOf, mutated, SIMULATION } from './mutant.ts';

const ROOT = join(import.meta.dirname, '../../..');

function textOf(file: string): string {
  return readFileSync(join(ROOT, file), 'utf8');
}

describe('the list of mutants', () => {
  it('has at least forty, each with a name of its own', () => {
    expect(new Set(mutants.map(({ name }) => name)).size).toBe(mutants.length);
    expect(mutants.length).toBeGreaterThanOrEqual(40);
  });

  it.each(mutants.map((mutant) => [mutant.name, mutant] as const))('%s: can be made', (_, mutant) => {
    expect(() => mutated(textOf(mutant.file), mutant)).not.toThrow();
    expect(() => mutated(textOf(compiledOf(mutant.file)), mutant)).not.toThrow();
  });

  const named = mutants.flatMap(({ name, killedBy }) =>
    killedBy === SIMULATION ? [] : [[name, killedBy] as const],
  );

  it.each(named)('%s: the test that kills it is there', (_, { spec, test }) => {
    expect(textOf(spec)).toContain(test);
  });
});

describe('a change', () => {
  const change = { file: 'a.ts', text: 'if (a)  return b;', replacement: 'c;' };

  it('may have other white space in the file', () => {
    expect(mutated('if (a)\n    return b; d;', change)).toBe('c; d;');
  });

  it.each(['', 'if (a) return b; if (a) return b;'])('is refused unless its text occurs once: %j', (text) => {
    expect(() => mutated(text, change)).toThrow('a.ts: expected once');
  });
});
