import { describe, expect, it } from 'vitest';
import { asksFor } from '../src/command.ts';
import { runHistory } from '../src/history/history-command.ts';

async function run(...argv: readonly string[]): Promise<{ text: string; errors: string }> {
  let text = '';
  let errors = '';
  await runHistory(argv, {
    out: (more) => void (text += more),
    err: (more) => void (errors += more),
    signal: new AbortController().signal,
  });
  return { text, errors };
}

describe('the scenario of the history', () => {
  it('is asked for by its name', () => {
    expect(asksFor(['--scenario', 'history'], 'history')).toBe(true);
    expect(asksFor(['--scenario=history'], 'history')).toBe(true);
    expect(asksFor(['--scenario', 'hundred'], 'history')).toBe(false);
  });

  it('measures every list on a real admin and a real Redis', async () => {
    const { text } = await run(
      '--scenario=history',
      '--changes=40',
      '--workloads=20',
      '--namespaces=4',
      '--requests=2',
    );
    expect(text).toContain('**40 changes of history; 20 workloads in 4 namespaces**');
    expect(text.match(/ ms \| [\d.]+ ms \|/gu)).toHaveLength(18);
    expect(text).toMatch(/a change with its outcome and its rollout \| [1-9][\d,]* bytes/u);
    expect(text).not.toContain('NaN');
  });

  it('refuses numbers that are none', async () => {
    await expect(run('--scenario=history', '--changes=many')).rejects.toMatchObject({
      problems: ['--changes: expected a whole number from 1 to 9999999, given many'],
    });
  });
});
