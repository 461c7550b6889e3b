import { expect, it } from 'vitest';
import { status } from '../testing/answers.ts';
import { runCli } from '../testing/run-cli.ts';
import { stubAdmin } from '../testing/stub-admin.ts';

it.each([
  ['0', 0, 'no limit'],
  ['100000', 100_000, '100000'],
])('takes %s reloads per minute, as the API does', async (text, reloadsPerMinute, shown) => {
  const set = { concurrency: null, reloadsPerMinute };
  const { url, requests } = await stubAdmin(({ path }) => ({
    body: path.endsWith('/status') ? status({ limits: set }) : set,
  }));
  const at = ['--server', url];
  const told = await runCli(['limits', '--reloads-per-minute', text, '--reason', 'r', ...at]);
  expect(told).toMatchObject({ code: 0, err: '' });
  expect(JSON.parse(requests.at(-1)?.body ?? '')).toEqual({ reloadsPerMinute, reason: 'r' });
  const line = new RegExp(`^Reloads per minute: +${shown}$`, 'm');
  expect(told.out).toMatch(line);
  expect((await runCli(['status', ...at])).out).toMatch(line);
});

it.each([
  ['--reloads-per-minute', '100001', '0 to 100000'],
  ['--reloads-per-minute', '-1', '0 to 100000'],
])('refuses %s %s, as the API does, and sends nothing', async (flag, text, range) => {
  const { url, requests } = await stubAdmin(() => undefined);
  const { code, err } = await runCli(['limits', flag, text, '--reason', 'r', '--server', url]);
  expect([code, requests]).toEqual([2, []]);
  expect(err).toBe(`error: expected ${flag} to be a number of ${range}, or default, given "${text}"\n`);
});
