import { describe, expect, it } from 'vitest';
import { runState } from '../src/state/state-command.ts';

async function run(...argv: readonly string[]): Promise<string> {
  let text = '';
  const { signal } = new AbortController();
  await runState(argv, { out: (more) => void (text += more), err: () => undefined, signal });
  return text;
}

describe('the scenario of the cluster state', () => {
  it('states what each source and workload takes', async () => {
    const text = await run('--scenario=state', '--size=2000');
    expect(text).toMatch(/^\| 2,000 workloads and 2,000 sources \|/u);
    // Not how many: the heap of the test runner moves by more than rows of this size.
    expect(text.match(/heap for each \w+ \| -?[\d,]+ bytes/gu)).toHaveLength(2);
    expect(text.match(/CPU \| \d+(\.\d+)? m?s/gu)).toHaveLength(3);
  });

  it('refuses sizes that are none', async () => {
    await expect(run('--scenario=state', '--size=many')).rejects.toMatchObject({
      problems: ['--size: expected a whole number from 1 to 9999999, given many'],
    });
  });
});
