import { expect, it } from 'vitest';
import { UsageError } from '../../cluster/src/errors.ts';
import { podsOptions } from '../src/pods/real-pods.ts';

const DEFAULTS = { workloads: 2_000 };

it('real pods are measured with the given number of workloads, or the default', () => {
  const argv = ['--scenario', 'pods', '--markdown', 'page.md'];
  expect(podsOptions(argv, DEFAULTS)).toEqual({ markdown: 'page.md', workloads: 2_000 });
  expect(podsOptions([...argv, '--workloads', '5000'], DEFAULTS).workloads).toBe(5_000);
});

it.each(['999', '1e9x', ''])('%j workloads are refused, with what was expected', (given) => {
  const expected = `--workloads: expected a whole number from 1000, given ${given}`;
  expect(() => podsOptions(['--workloads', given], DEFAULTS)).toThrow(
    expect.objectContaining({ problems: [expected] }) as UsageError,
  );
});
