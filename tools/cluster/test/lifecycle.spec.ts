import { existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { startCluster, stopCluster } from '../src/cluster.ts';
import { readState } from '../src/state.ts';
import { waitUntil } from '../src/wait.ts';
import { cli, freshDir, processesOf, script } from './helpers.ts';

const quiet = { log: () => {} };

async function nothingIsLeft(place: { parent: string; dir: string }): Promise<void> {
  await waitUntil(() => processesOf(place.dir).length === 0 && readdirSync(place.parent).length === 0, {
    what: `nothing to be left of ${place.dir}: ${processesOf(place.dir).join(', ')}`,
    timeoutMs: 10_000,
  });
}

async function apiServerWasLaunched(dir: string): Promise<void> {
  await waitUntil(() => existsSync(dir) && readState(dir)?.components.apiserver !== undefined, {
    what: 'kube-apiserver to be launched',
    timeoutMs: 20_000,
  });
}

describe('the command line', () => {
  it('starts, tells its state, refuses a second start, and stops', async () => {
    const place = freshDir();
    const { dir } = place;
    const started = await cli(['start', '--dir', dir, '--nodes', '1']).done;
    expect(started.stderr).toContain('started in');
    expect(started.stdout).toMatch(
      new RegExp(`^KUBECONFIG=${dir}/kubeconfig\\nREDIS_URL=redis://127.0.0.1:\\d+\\n$`),
    );
    expect(started.code).toBe(0);

    const again = await cli(['start', '--dir', dir]).done;
    expect(again).toMatchObject({ code: 1, stdout: '' });
    expect(again.stderr).toContain(`a cluster runs in ${dir} already`);

    const running = await cli(['status', '--dir', dir]).done;
    expect(running.code).toBe(0);
    expect(running.stdout.match(/ running /g)).toHaveLength(6);
    process.kill(readState(dir)?.components.kwok?.pid ?? 0, 'SIGKILL');
    await waitUntil(async () => (await cli(['status', '--dir', dir]).done).code === 3, {
      what: 'kwok to be told as stopped',
      timeoutMs: 5000,
    });

    expect(await cli(['stop', '--dir', dir]).done).toMatchObject({ code: 0, stdout: '' });
    await nothingIsLeft(place);
    expect(await cli(['stop', '--dir', dir]).done).toMatchObject({ code: 0, stdout: '' });
    expect(await cli(['status', '--dir', dir]).done).toMatchObject({ code: 3 });
  });

  it('says what was expected and given, with code 2, for bad arguments', async () => {
    const result = await cli(['start', '--nodes', 'many']).done;
    expect(result).toMatchObject({ code: 2, stdout: '' });
    expect(result.stderr).toContain("expected --nodes to be a number from 0 to 1000, given 'many'");
    expect(result.stderr).toContain('expected --dir DIR, a folder, given nothing');
  });
});

describe('a start that is ended before it is ready leaves no process and no file', () => {
  it.each([
    { signal: 'SIGINT', code: 130 },
    { signal: 'SIGTERM', code: 130 },
    { signal: 'SIGKILL', code: null },
  ] as const)('after $signal', async ({ signal, code }) => {
    const place = freshDir();
    const start = cli(['start', '--dir', place.dir]);
    await apiServerWasLaunched(place.dir);
    process.kill(start.pid, signal);
    expect(await start.done).toMatchObject({ code, stdout: '' });
    await nothingIsLeft(place);
  });
});

describe('a start that fails says why, and leaves no process and no file', () => {
  it('because of an argument that kube-apiserver does not know', async () => {
    const place = freshDir();
    const started = startCluster({ ...quiet, dir: place.dir, apiServerArgs: ['--bogus'] });
    await expect(started).rejects.toThrow(/expected apiserver to stay up[\s\S]*unknown flag: --bogus/);
    await nothingIsLeft(place);
  });

  it.each(['etcd', 'apiserver', 'redis'] as const)('because the port of %s is taken', async (name) => {
    const place = freshDir();
    const thief = createServer((socket) => socket.destroy());
    await new Promise<void>((resolve) => thief.listen(0, '127.0.0.1', resolve));
    const address = thief.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    try {
      const started = startCluster({ ...quiet, dir: place.dir, ports: { [name]: port } });
      await expect(started).rejects.toThrow(new RegExp(`expected ${name} to stay up on port ${port}`));
    } finally {
      thief.close();
    }
    await nothingIsLeft(place);
  });

  it('because the folder holds files that are not its own, which stay', async () => {
    const { parent } = freshDir();
    writeFileSync(join(parent, 'kubeconfig'), 'mine');
    await expect(startCluster({ ...quiet, dir: parent })).rejects.toThrow(/to have no kubeconfig/);
    expect(await stopCluster(parent)).toBe(false);
    expect(readFileSync(join(parent, 'kubeconfig'), 'utf8')).toBe('mine');
  });
});

describe('servers that were not detached', () => {
  it('end with the process that started them, even when that is killed', async () => {
    const place = freshDir();
    const holder = script([join(import.meta.dirname, 'hold-redis.ts'), place.dir]);
    await waitUntil(() => existsSync(place.dir) && readState(place.dir)?.phase === 'ready', {
      what: 'Redis to be ready',
      timeoutMs: 20_000,
    });
    process.kill(holder.pid, 'SIGKILL');
    await nothingIsLeft(place);
  });
});
