import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseCommand } from '../src/arguments.ts';
import { explainBuildFailure, explainMissingGo } from '../src/build/build-failure.ts';
import { currentServer, useCurrent } from '../src/current.ts';
import { UsageError } from '../src/errors.ts';
import { identify, isAlive } from '../src/identity.ts';
import { withLock } from '../src/servers/lock.ts';
import { askRedis } from '../src/servers/redis-protocol.ts';
import { startRedis } from '../src/servers/redis.ts';
import { freshDir, script } from './helpers.ts';

describe('arguments', () => {
  it('of start become options, with their defaults', () => {
    expect(parseCommand(['start', '--dir', 'here'])).toEqual({
      name: 'start',
      options: {
        dir: 'here',
        detached: true,
        nodes: 3,
        realNodes: 0,
        redis: true,
        controllerManager: true,
        scheduler: true,
        audit: false,
        apiServerArgs: [],
      },
    });
  });

  it('with a real node there are no fake ones unless they are asked for', () => {
    const argv = ['start', '--dir', 'here', '--real-nodes', '1'];
    expect(parseCommand(argv)).toMatchObject({ options: { nodes: 0, realNodes: 1 } });
    expect(parseCommand([...argv, '--nodes', '2'])).toMatchObject({ options: { nodes: 2, realNodes: 1 } });
  });

  it('that repeat are all kept', () => {
    const argv = ['start', '--dir', 'here', '--api-server-arg=--v=2', '--api-server-arg=--event-ttl=1m'];
    expect(parseCommand(argv)).toMatchObject({ options: { apiServerArgs: ['--v=2', '--event-ttl=1m'] } });
  });

  it.each([
    [[], 'expected start, stop or status, given nothing'],
    [['begin'], "expected start, stop or status, given 'begin'"],
    [['stop'], 'expected --dir DIR, a folder, given nothing'],
    [['start', '--dir', ''], "expected --dir DIR, a folder, given ''"],
    [['start', 'now', '--dir', 'd'], "expected one command, given also 'now'"],
    [['status', '--dir', 'd', '--nodes', '3'], 'expected only --dir with status, given also --nodes'],
    [['start', '--dir', 'd', '--real-nodes', '2'], "expected --real-nodes to be 0 or 1, given '2'"],
    [['start', '--dir', 'd', '--nodes', '1001'], "a number from 0 to 1000, given '1001'"],
    [['start', '--use-current', '--audit'], 'expected no --audit together with --use-current'],
    [['start', '--dirr', 'd'], "Unknown option '--dirr'"],
  ])('%j are refused', (argv, message) => {
    expect(() => parseCommand(argv)).toThrow(UsageError);
    expect(() => parseCommand(argv)).toThrow(message);
  });
});

describe('a failed build', () => {
  it.each([
    ['write $WORK/b001: no space left on device', 'the disk is full'],
    ['go: go.mod requires go >= 1.26.0 (running go 1.20; GOTOOLCHAIN=local)', 'too old'],
    ['Get "https://proxy.golang.org/x": dial tcp: lookup proxy.golang.org: no such host', 'proxy could not'],
    ['compile: signal: killed', 'ran out of memory'],
    ['main.go:3: syntax error', 'see its last lines'],
  ])('that ends with "%s" is explained', (tail, meaning) => {
    const { message } = explainBuildFailure('go build', { code: 1, stdout: '', tail });
    expect(message).toContain(meaning);
    expect(message).toContain(tail);
  });

  it('for want of Go names the version that is needed', () => {
    expect(explainMissingGo('module m\n\ngo 1.26.0\n').message).toContain('Go 1.26.0 or newer');
  });
});

describe('a lock', () => {
  const path = join(freshDir().parent, 'held.lock');

  it('lets one holder work at a time', async () => {
    const events: string[] = [];
    const work = (name: string) => async (): Promise<void> => {
      events.push(`${name} in`);
      await new Promise((resolve) => setImmediate(resolve));
      events.push(`${name} out`);
    };
    await Promise.all([withLock({ path }, work('a')), withLock({ path }, work('b'))]);
    expect(events).toEqual(['a in', 'a out', 'b in', 'b out']);
    expect(existsSync(path)).toBe(false);
  });

  it('of a dead process is taken over', async () => {
    const gone = script(['-e', '']);
    const holder = identify(gone.pid);
    await gone.done;
    expect(isAlive(holder)).toBe(false);
    writeFileSync(path, JSON.stringify(holder));
    expect(await withLock({ path }, async () => await Promise.resolve('done'))).toBe('done');
  });
});

it('no two processes are given the same port', async () => {
  const ports = JSON.stringify(join(import.meta.dirname, '../src/servers/ports.ts'));
  // Of 10 000: two that draw 500 each have some in common otherwise.
  const draw = `const { freePort } = await import(${ports});
    const drawn = [];
    while (drawn.length < 500) drawn.push(await freePort());`;
  const inner = `${draw} console.log(drawn.join());`;
  const outer = `${draw} const { execFileSync } = await import('node:child_process');
    const args = ['--input-type=module', '-e', ${JSON.stringify(inner)}];
    console.log(drawn.join() + ',' + execFileSync(process.execPath, args, { encoding: 'utf8' }).trim());`;
  const { code, stdout, stderr } = await script(['--input-type=module', '-e', outer]).done;
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(new Set(stdout.trim().split(',')).size).toBe(1_000);
});

describe('the current cluster', () => {
  const config = `apiVersion: v1
clusters:
- cluster:
    certificate-authority-data: AAAA==
    server: https://one:6443
  name: one
- cluster:
    server: https://two:6443/
  name: two
contexts:
- context:
    cluster: two
    namespace: default
    user: admin
  name: work
- context:
    cluster: one
    user: admin
  name: home
current-context: "work"
kind: Config
users:
- name: admin
  user:
    exec:
      args:
      - --name
      command: get-token
`;

  it.each([
    ['the first one', config.replace('"work"', 'home'), 'https://one:6443'],
    ['another one', config, 'https://two:6443'],
    ['none that is defined', config.replace('"work"', 'nowhere'), undefined],
    ['none at all', config.replace(/current-context.*\n/, ''), undefined],
  ])('is found when the current context is %s', (_, text, server) => {
    expect(currentServer([text])).toBe(server);
  });

  it.each([
    [{}, 'expected KUBECONFIG and REDIS_URL to be set'],
    [{ KUBECONFIG: '/nowhere/config' }, 'expected REDIS_URL to be set'],
    [{ KUBECONFIG: '/nowhere/config', REDIS_URL: 'redis://127.0.0.1:1' }, 'no such file'],
  ])('is refused with a reason when the environment is %j', async (environment, message) => {
    await expect(useCurrent(environment)).rejects.toThrow(message);
  });
});

describe('a Redis alone', () => {
  it('keeps its data over a kill and leaves nothing when it stops', async () => {
    const { parent, dir } = freshDir();
    const redis = await startRedis({ dir });
    const address = { host: '127.0.0.1', port: redis.port };
    expect(redis.url).toBe(`redis://127.0.0.1:${redis.port}`);
    expect(await askRedis(address, 'CONFIG GET appendonly')).toBe('*2');
    expect(await askRedis(address, 'SET kept yes')).toBe('+OK');
    await redis.kill();
    expect(await askRedis(address, 'PING')).toBeUndefined();
    await redis.restart();
    expect(await askRedis(address, 'GET kept')).toBe('yes');
    await redis.stop();
    expect(existsSync(join(parent, 'made'))).toBe(false);
  });
});
