import { adminMetrics } from '@reroll/shared/platform/metrics/admin';
import type { AdminOptions } from '@reroll/shared/platform/options/table';
import type { Request, Response } from 'express';
import { Registry } from 'prom-client';
import { describe, expect, it } from 'vitest';
import type { Caller } from '../auth/caller.ts';
import { anonymousReader } from '../auth/static-tokens.ts';
import { countedAs } from './counted-as.ts';
import { ActorLimit } from './rate-limits.ts';
import { begin } from './request-context.ts';

const ANONYMOUS = anonymousReader();
const NAMED: Caller = { ...ANONYMOUS, name: 'ann', isAnonymous: false };
/** A token may be called so. */
const NAMESAKE: Caller = { ...ANONYMOUS, isAnonymous: false };

function from(remoteAddress: string, caller: Caller): Request {
  const request = { socket: { remoteAddress }, headers: {} } as unknown as Request;
  begin(request, { id: '1', startedAt: 0, caller });
  return request;
}

describe('a caller is counted', () => {
  it.each<[string, Request, Request, boolean]>([
    ['by their name, wherever they are', from('10.0.0.1', NAMED), from('10.0.0.2', NAMED), true],
    ['by their address without a token', from('10.0.0.1', ANONYMOUS), from('10.0.0.1', ANONYMOUS), true],
    [
      'apart from those of other addresses without a token',
      from('10.0.0.1', ANONYMOUS),
      from('10.0.0.2', ANONYMOUS),
      false,
    ],
    [
      'apart from those without a token, also if that is their name',
      from('10.0.0.1', NAMESAKE),
      from('10.0.0.1', ANONYMOUS),
      false,
    ],
  ])('%s', (_sentence, one, other, isSame) => {
    expect(countedAs(one) === countedAs(other)).toBe(isSame);
  });

  it('so that no address without a token takes the requests of another', async () => {
    const metrics = adminMetrics(new Registry());
    const options = { apiRequestsPerMinute: 1 } as AdminOptions;
    const limit = new ActorLimit({ options, metrics });
    const response = { setHeader: () => response, append: () => response } as unknown as Response;
    await limit.count(from('10.0.0.1', ANONYMOUS), response);
    await limit.count(from('10.0.0.2', ANONYMOUS), response);
    await expect(limit.count(from('10.0.0.1', ANONYMOUS), response)).rejects.toMatchObject({
      code: 'TooManyRequests',
    });
  });
});
