import { EventEmitter } from 'node:events';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createLogger } from '../logging/logging.ts';
import { Lifecycle, type ProcessPort } from './shutdown.ts';

const SECRET = 'hunter2-s3cr3t';

class FakeProcess extends EventEmitter implements ProcessPort {
  exitCode: number | undefined;
  readonly exits: number[] = [];
  exit(code: number): void {
    this.exits.push(code);
  }
}

let lines: string[];
let host: FakeProcess;
let lifecycle: Lifecycle;
/** The names of the steps, in the order in which they ran. */
let ran: string[];

beforeEach(() => {
  vi.useFakeTimers();
  lines = [];
  ran = [];
  host = new FakeProcess();
  const log = createLogger({ format: 'text', level: 'trace', sink: { write: (line) => lines.push(line) } });
  lifecycle = new Lifecycle({ log, timeout: 10_000, process: host });
});
afterEach(() => {
  vi.useRealTimers();
});

function step(name: string, does: (signal: AbortSignal) => unknown = () => undefined): void {
  lifecycle.onStop(name, 5_000, async (signal) => {
    ran.push(name);
    await does(signal);
  });
}
const hang = () => new Promise(() => undefined);

describe('the end of a process', () => {
  it.each(['SIGTERM', 'SIGINT'])(
    'on %s runs the steps once, the last first, and exits with 0',
    async (signal) => {
      for (const name of ['redis', 'http', 'queues']) step(name);
      host.emit(signal);
      expect(lifecycle.signal.aborted).toBe(true);
      expect(await lifecycle.stopped).toBe(0);
      expect(ran).toEqual(['queues', 'http', 'redis']);
      expect(host.exitCode).toBe(0);
      expect(host.exits).toEqual([]);
    },
  );

  it('runs one step after the other', async () => {
    let finish: () => void = () => undefined;
    step('redis');
    step('queues', () => new Promise<void>((resolve) => (finish = resolve)));
    void lifecycle.stop('test');
    await vi.advanceTimersByTimeAsync(1_000);
    expect(ran).toEqual(['queues']);
    finish();
    await lifecycle.stopped;
    expect(ran).toEqual(['queues', 'redis']);
  });

  it('begins once, however often it is asked for', async () => {
    step('redis');
    void lifecycle.stop('one');
    void lifecycle.stop('two');
    expect(await lifecycle.stop('three')).toBe(0);
    expect(ran).toEqual(['redis']);
  });

  it.each([
    [0, 'info'],
    [2, 'error'],
  ])('says why it exits with %d at the level %s', async (code, level) => {
    await lifecycle.stop('expected a Redis', code);
    expect(lines[0]).toMatch(new RegExp(`level=${level} msg=Stopping reason="expected a Redis"`, 'u'));
  });

  it('exits with the highest code that was asked for', async () => {
    step('redis');
    void lifecycle.stop('one');
    expect(await lifecycle.stop('lost the Lease', 3)).toBe(3);
  });

  it('goes on after a step that fails, and exits with 1', async () => {
    step('redis');
    step('queues', () => {
      throw new Error(SECRET);
    });
    expect(await lifecycle.stop('test')).toBe(1);
    expect(ran).toEqual(['queues', 'redis']);
    expect(lines.join('')).toMatch(/shutdown failed.*step=queues/u);
    expect(lines.join('')).not.toContain(SECRET);
  });

  it('goes on after a step that throws at once', async () => {
    step('redis');
    lifecycle.onStop('broken', 5_000, () => {
      throw new TypeError(SECRET);
    });
    expect(await lifecycle.stop('test')).toBe(1);
    expect(ran).toEqual(['redis']);
  });

  it('waits for a step up to its deadline, tells it, goes on and exits with 1', async () => {
    const seen: AbortSignal[] = [];
    step('redis');
    step('queues', (signal) => {
      seen.push(signal);
      return hang();
    });
    void lifecycle.stop('test');
    await vi.advanceTimersByTimeAsync(4_999);
    expect(ran).toEqual(['queues']);
    await vi.advanceTimersByTimeAsync(1);
    expect(await lifecycle.stopped).toBe(1);
    expect(seen[0]?.aborted).toBe(true);
    expect(ran).toEqual(['queues', 'redis']);
    expect(lines.join('')).toContain('step=queues');
  });

  it('gives all steps together no more than the total', async () => {
    for (const name of ['a', 'b', 'c', 'd']) step(name, hang);
    void lifecycle.stop('test');
    await vi.advanceTimersByTimeAsync(10_010); // a timer of 0 is one of 1 ms
    expect(await lifecycle.stopped).toBe(1);
    expect(ran).toEqual(['d', 'c', 'b', 'a']);
  });

  it('leaves at once on a second signal, with the code of that signal', () => {
    step('queues', hang);
    host.emit('SIGTERM');
    expect(host.exits).toEqual([]);
    host.emit('SIGINT');
    expect(host.exits).toEqual([130]);
  });

  it('cuts off what keeps the process alive after the last step', async () => {
    expect(await lifecycle.stop('test')).toBe(0);
    expect(host.exits).toEqual([]);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(host.exits).toEqual([0]);
  });

  it.each(['unhandledRejection', 'uncaughtException'])(
    'on an %s is orderly, exits with 1 and logs the class only',
    async (event) => {
      step('redis');
      host.emit(event, new TypeError(SECRET));
      expect(await lifecycle.stopped).toBe(1);
      expect(ran).toEqual(['redis']);
      expect(lines[0]).toMatch(/level=fatal .*error=TypeError/u);
      expect(lines.filter((line) => /level=(?:fatal|error) /u.test(line))).toHaveLength(1);
      expect(lines.join('')).not.toContain(SECRET);
    },
  );

  it('exits with 1 if an error comes after the last step', async () => {
    expect(await lifecycle.stop('test')).toBe(0);
    void lifecycle.fail('late', new Error('x'));
    expect(host.exitCode).toBe(1);
  });

  it('stops what is registered while it goes on', async () => {
    step('redis', () => step('late'));
    await lifecycle.stop('test');
    expect(ran).toEqual(['redis', 'late']);
  });

  it('stops what is registered when it is over', async () => {
    await lifecycle.stop('test');
    step('too late');
    expect(ran).toEqual(['too late']);
  });
});
