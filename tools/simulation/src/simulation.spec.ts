import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

const MAIN = join(import.meta.dirname, 'main.ts');
const run = promisify(execFile);

/** What is wrong, in the output of runs with `--branches`. */
const PROBLEM = /^(?:failing: |  npm run |no run reached |(?:reached, or )?gone, )/u;

/** In a process of its own: the simulation takes the place of timers, clocks and random numbers. Rejects if a run fails. */
async function simulate(...args: readonly string[]): Promise<string> {
  try {
    const { stdout } = await run(process.execPath, [MAIN, ...args], { maxBuffer: 64 * 1024 * 1024 });
    return stdout;
  } catch (error) {
    const { stdout, stderr } = error as { stdout: string; stderr: string };
    const problems = stdout.split('\n').filter((line) => PROBLEM.test(line));
    throw Object.assign(error as Error, { message: [...problems, stderr].join('\n') });
  }
}

function digests(output: string): string[] {
  return output.split('\n').filter((line) => line.startsWith('seed '));
}

/** Milliseconds; it takes about 60 seconds of one CPU. */
const PATIENCE = 600_000;

it(
  'the shipped processes lose nothing, double nothing and come to rest, whatever goes wrong',
  async () => {
    const output = await simulate('--from', '60', '--seeds', '60', '--branches');
    const [, reloads] = /^60 runs, (\d+) reloads, 0 failing$/mu.exec(output) ?? [];
    expect(Number(reloads)).toBeGreaterThan(50);
    const [, clean] = /^runs with a failover to a synced standby: (\d+) of 60$/mu.exec(output) ?? [];
    expect(Number(clean)).toBeGreaterThanOrEqual(6);
    for (const what of [
      'kill',
      'stop',
      'freeze',
      'cutRedis',
      'faultyApi',
      'flushRedis',
      'api cutAfter',
      'redis lostReply',
      ...['Deployment', 'StatefulSet', 'DaemonSet', 'Rollout', 'CronJob', 'Job'].map(
        (kind) => `reloaded ${kind}`,
      ),
      'moveApi',
      'lagApi',
      'cutOffApi',
      'restoreEtcd',
      'rescope',
      'strip',
      'failOverRedis',
      'option none',
      'would reload',
      'paused',
      'posted to /alerts',
      'posted to /webhooks',
      'reloaded in a later wave',
      'a workload broken by a change',
      'a change halted',
      'reason AwaitsRollouts',
      'a namespace came in',
      ...['converged', 'stale', 'unknown', 'had to converge'].map((what) => `wait: ${what}`),
      ...['current', 'stale', 'unknown'].map((state) => `use: ${state}`),
    ])
      expect(output).toMatch(new RegExp(`^${what}: [1-9]`, 'mu'));
  },
  PATIENCE,
);

it('the same seed gives the same trace, byte for byte, whatever ran before it', async () => {
  const [all, last] = await Promise.all([
    simulate('--from', '40', '--seeds', '4', '--digests'),
    simulate('--from', '42', '--seeds', '2', '--digests'),
  ]);
  expect(digests(all).slice(2)).toEqual(digests(last));
  expect(digests(last)).toHaveLength(2);
});

it('says which flags it takes', async () => {
  await expect(simulate('--sedes', '1')).rejects.toMatchObject({
    code: 2,
    stderr: expect.stringContaining('--seeds N'),
  });
});
