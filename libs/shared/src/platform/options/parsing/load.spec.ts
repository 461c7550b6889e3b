import { describe, expect, it } from 'vitest';
import { VERSION } from '../../process/version.ts';
import { loadOptions } from './load.ts';
import type { Surroundings } from './load.ts';

function surroundings(argv: readonly string[], env: Surroundings['env'] = {}) {
  const out: string[] = [];
  const err: string[] = [];
  const process: Surroundings = {
    argv: ['node', 'main.js', ...argv],
    env,
    stdout: { write: (text) => out.push(text) },
    stderr: { write: (text) => err.push(text) },
  };
  return { process, out, err };
}

describe('loading the options', () => {
  it('gives them, and prints nothing', () => {
    const { process, out, err } = surroundings(['--attempts=7'], { REROLL_DEBOUNCE: '1s' });
    expect(loadOptions('worker', process)).toMatchObject({
      ok: true,
      options: { attempts: 7, debounce: 1_000 },
    });
    expect([process.exitCode, out, err]).toEqual([undefined, [], []]);
  });

  it('prints every error and sets exit code 2', () => {
    const { process, out, err } = surroundings(['--attempts=x', '--nope']);
    expect(loadOptions('worker', process)).toEqual({ ok: false, exitCode: 2 });
    expect(process.exitCode).toBe(2);
    expect(err.join('').trimEnd().split('\n')).toEqual([
      '--nope: expected one of the flags that --help lists, given an unknown one',
      '--attempts: expected a whole number from 1 to 100; given "x"',
      'Run with --help for the list of options.',
    ]);
    expect(out).toEqual([]);
  });

  it('prints the help and sets exit code 0', () => {
    const { process, out, err } = surroundings(['--help']);
    expect(loadOptions('watcher', process)).toEqual({ ok: false, exitCode: 0 });
    expect(process.exitCode).toBe(0);
    expect(out.join('')).toMatch(/^Usage: reroll-watcher \[flags\]/u);
    expect(err).toEqual([]);
  });

  it('prints the version', () => {
    const { process, out } = surroundings(['--version']);
    loadOptions('watcher', process);
    expect(out.join('')).toBe(`reroll-watcher ${VERSION}\n`);
  });
});
