import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readlinkSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { Redis } from 'ioredis';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { SettingsError } from '@reroll/nest/settings-error';
import { ensureRedis } from '../../../tools/cluster/src/build/redis-install.ts';
import { RedisChild, redisFolder, socketIn, type RedisChildSettings } from './redis-child.ts';

const log = { info: vi.fn(), error: vi.fn(), failure: vi.fn() };
const restarts = { inc: vi.fn() };
const onGivenUp = vi.fn();
let folder: string;
const path = process.env['PATH'];

beforeEach(async () => {
  vi.clearAllMocks();
  folder = mkdtempSync(join(tmpdir(), 'reroll-redis-child-'));
  const source = await ensureRedis({ log: () => undefined });
  if (source.kind === 'program') process.env['PATH'] = `${dirname(source.path)}${delimiter}${path}`;
});

afterEach(() => {
  process.env['PATH'] = path;
  rmSync(folder, { recursive: true, force: true });
});

function child(maxMemory = '32mb'): RedisChild {
  const settings = { folder, maxMemory, log, restarts, onGivenUp };
  const redis = new RedisChild(settings as unknown as RedisChildSettings);
  onTestFinished(() => redis.stop());
  return redis;
}

function client(): Redis {
  const redis = new Redis({ path: socketIn(folder) });
  redis.on('error', () => undefined);
  onTestFinished(() => redis.disconnect());
  return redis;
}

function serverPid(): number {
  return Number(readdirSync('/proc').find((pid) => /^\d+$/u.test(pid) && cwdOf(pid) === folder));
}

/** Undefined if it has ended. */
function cwdOf(pid: string | number): string | undefined {
  try {
    return readlinkSync(`/proc/${pid}/cwd`);
  } catch {
    return undefined;
  }
}

/** A redis-server on the PATH that ends at once. */
function broken(): void {
  const bin = mkdtempSync(join(tmpdir(), 'reroll-broken-redis-'));
  onTestFinished(() => rmSync(bin, { recursive: true }));
  writeFileSync(join(bin, 'redis-server'), '#!/bin/sh\necho no memory\nexit 3\n');
  chmodSync(join(bin, 'redis-server'), 0o755);
  process.env['PATH'] = `${bin}${delimiter}${path}`;
}

describe('the Redis of a standalone process', () => {
  it('listens on a socket that only this user can reach, with a limit, and keeps nothing on disk', async () => {
    await child().start();
    const redis = client();
    const settings = {
      maxmemory: String(32 * 2 ** 20),
      'maxmemory-policy': 'noeviction',
      hz: '100',
      port: '0',
      save: '',
    };
    for (const [name, value] of Object.entries(settings))
      expect(await redis.config('GET', name)).toEqual([name, value]);
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    await redis.set('key', 'value');
    expect(readdirSync(folder)).toEqual(['redis.sock']);
  });

  it('ends with its folder', async () => {
    const redis = child();
    await redis.start();
    await redis.stop();
    expect(existsSync(folder)).toBe(false);
    expect(log.error).not.toHaveBeenCalled();
  });

  it('ends at once, although it does not react', async () => {
    const redis = child();
    await redis.start();
    const pid = serverPid();
    process.kill(pid, 'SIGSTOP');
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    await redis.stop();
    expect(() => process.kill(pid, 0)).toThrow('ESRCH');
    expect(existsSync(folder)).toBe(false);
  });

  it('ends with its folder when the process is killed', async () => {
    const module = JSON.stringify(join(import.meta.dirname, 'redis-child.ts'));
    const code = `const { RedisChild } = await import(${module});
      await new RedisChild({ folder: ${JSON.stringify(folder)}, maxMemory: '32mb' }).start();
      console.log('listens');`;
    const args = ['--conditions=@reroll/source', '--input-type=module', '-e', code];
    const owner = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    await once(owner.stdout, 'data');
    const pid = serverPid();
    owner.kill('SIGKILL');
    await vi.waitFor(() => expect([cwdOf(pid), existsSync(folder)]).toEqual([undefined, false]), 10_000);
  });

  it('is started again, empty, when it ends', async () => {
    await child().start();
    const redis = client();
    await redis.set('key', 'value');
    process.kill(serverPid(), 'SIGKILL');
    await vi.waitFor(() => expect(log.info).toHaveBeenCalledWith('redis-server runs again, empty'), 10_000);
    expect(await redis.get('key')).toBeNull();
    expect(restarts.inc).toHaveBeenCalledTimes(1);
    expect(log.error).toHaveBeenCalledWith(
      'redis-server has ended',
      expect.objectContaining({ end: 'SIGKILL' }),
    );
  });

  it('is started again although its folder was removed', async () => {
    await child().start();
    const pid = serverPid();
    rmSync(folder, { recursive: true });
    process.kill(pid, 'SIGKILL');
    await vi.waitFor(() => expect(log.info).toHaveBeenCalledWith('redis-server runs again, empty'), 10_000);
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    expect(await client().ping()).toBe('PONG');
  });

  it('is started again although a start failed', async () => {
    await child().start();
    const withRedis = process.env['PATH'];
    process.env['PATH'] = folder;
    process.kill(serverPid(), 'SIGKILL');
    await vi.waitFor(() => expect(log.failure).toHaveBeenCalled(), 10_000);
    expect(onGivenUp).not.toHaveBeenCalled();
    process.env['PATH'] = withRedis;
    await vi.waitFor(() => expect(log.info).toHaveBeenCalledWith('redis-server runs again, empty'), 10_000);
  });

  it('is not started where its folder cannot be made', async () => {
    vi.stubEnv('TMPDIR', join(folder, 'missing'));
    onTestFinished(() => void vi.unstubAllEnvs());
    folder = redisFolder();
    await expect(child().start()).rejects.toThrow(
      new SettingsError(
        `expected TMPDIR to be a folder that can be written to, given "${dirname(folder)}" (ENOENT)`,
      ),
    );
  });

  it('is not started in a folder of another user', async () => {
    const geteuid = vi.spyOn(process, 'geteuid').mockReturnValue(4_711);
    onTestFinished(() => geteuid.mockRestore());
    await expect(child().start()).rejects.toThrow(/^expected a folder of this user/u);
  });

  it('is not started if the machine has none', async () => {
    process.env['PATH'] = folder;
    await expect(child().start()).rejects.toThrow(
      'expected --redis-url, --redis-host, or redis-server or valkey-server on the PATH; given none',
    );
  });

  it('tells what it said if it does not start', async () => {
    expect(spawnSync('redis-server', ['--version']).status).toBe(0);
    await expect(child('0.5mb').start()).rejects.toThrow(/redis-server does not listen: .*maxmemory/su);
  });

  it('is given up when it ends again and again', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    broken();
    await child()
      .start()
      .catch(() => undefined);
    while (onGivenUp.mock.calls.length === 0) {
      await new Promise((resolve) => setImmediate(resolve));
      vi.advanceTimersByTime(5_000);
    }
    expect(onGivenUp).toHaveBeenCalledWith(new Error('10 starts of redis-server in a row went wrong'));
    expect(restarts.inc).toHaveBeenCalledTimes(9);
  });
});
