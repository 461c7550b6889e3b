import { Registry } from 'prom-client';
import { beforeEach, describe, expect, it } from 'vitest';
import { createLogger } from '../logging/logging.ts';
import { redisMetrics, type RedisMetrics } from '../metrics/shared.ts';
import { redisReports, type RedisReports } from './redis-reports.ts';

let lines: string[];
let metrics: RedisMetrics;
let reports: RedisReports;

beforeEach(() => {
  lines = [];
  const sink = { write: (line: string) => lines.push(line) };
  metrics = redisMetrics(new Registry());
  reports = redisReports(createLogger({ format: 'text', level: 'info', sink }), metrics);
});

async function up(): Promise<number | undefined> {
  return (await metrics.redisUp.get()).values[0]?.value;
}

/** The lines as `<level> <message>[ <fields>]`. */
function told(): string[] {
  return lines.map((line) => /level=(\w+) msg="([^"]+)"(.*)\n/.exec(line)?.slice(1).join(' ') ?? line);
}

describe('of the room in Redis', () => {
  it('is told when it ends and when it is there again, in the log and as gauges', async () => {
    reports.onLook({ used: 95, max: 100 });
    reports.onRoom(true);
    const values = async (): Promise<unknown[]> =>
      [await metrics.redisFull.get(), await metrics.redisUsed.get()].map((each) => each.values[0]?.value);
    expect(await values()).toEqual([1, 0.95]);
    reports.onLook(undefined);
    reports.onRoom(false);
    expect(await values()).toEqual([0, 0]);
    expect(told()).toEqual([
      'warning Redis has no room: its history is dropped and not written; reloads wait if that is not enough ',
      'info Redis has room again, the history is written ',
    ]);
  });
});

describe('of a connection to Redis', () => {
  it('ups and downs are told once each, in the log and as a gauge', async () => {
    for (const reason of ['ECONNREFUSED', 'ECONNRESET']) reports.onDown(reason);
    expect(await up()).toBe(0);
    for (let times = 0; times < 2; times += 1) reports.onUp();
    expect(await up()).toBe(1);
    expect(told()).toEqual([
      'warning Redis cannot be reached, retrying  reason=ECONNREFUSED',
      'info Redis is reachable again ',
    ]);
  });

  it.each(['WRONGPASS', 'NOAUTH', 'NOPERM'])(
    '%s is told as a refusal, also after it could not be reached',
    (code) => {
      for (const reason of ['ECONNREFUSED', code, code]) reports.onDown(reason);
      expect(told()).toEqual([
        'warning Redis cannot be reached, retrying  reason=ECONNREFUSED',
        `warning Redis refuses the user, the password or the rights of the user, retrying  reason=${code}`,
      ]);
    },
  );

  it('nothing is told of one that comes up at once', () => {
    reports.onUp();
    expect(told()).toEqual([]);
  });
});

it('of a server that drops jobs the policy is told', () => {
  reports.onEvicting('allkeys-lru');
  expect(told()).toEqual([
    'warning Redis may drop jobs when its memory is full: expected maxmemory-policy noeviction  given=allkeys-lru',
  ]);
});

it('of certificates that nobody looks at it is told what that means', () => {
  reports.onUnverified();
  expect(told()[0]).toContain(
    '--redis-tls-insecure-skip-verify: anyone between this process and Redis can read',
  );
});
