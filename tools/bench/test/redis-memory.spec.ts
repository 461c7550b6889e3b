import { describe, expect, it } from 'vitest';
import { runRedisMemory } from '../src/redis-memory/redis-memory-command.ts';

async function run(...argv: readonly string[]): Promise<{ code: number; text: string; errors: string }> {
  let text = '';
  let errors = '';
  const code = await runRedisMemory(argv, {
    out: (more) => void (text += more),
    err: (more) => void (errors += more),
    signal: new AbortController().signal,
  });
  return { code, text, errors };
}

describe('the scenario of the memory of Redis', () => {
  it('holds the formula of the documentation against a real Redis', async () => {
    const { code, text, errors } = await run('--scenario=redis-memory', '--sizes=1000,4000');
    expect([code, errors]).toEqual([0, expect.not.stringContaining('not met') as unknown]);
    expect(text.match(/\d MB \| \d+\.\d MB \| \d\.\d\d \|/gu)).toHaveLength(2);
    expect(text).not.toContain('NaN');
  });

  it('refuses numbers that are none', async () => {
    await expect(run('--scenario=redis-memory', '--sizes=many')).rejects.toMatchObject({
      problems: ['--sizes: expected whole numbers from 1 to 9999999, with commas, given many'],
    });
  });
});
