import { adminMetrics } from '@reroll/shared/platform/metrics/admin';
import type { AdminOptions } from '@reroll/shared/platform/options/parsing/table';
import type { Request, Response } from 'express';
import { Registry } from 'prom-client';
import { describe, expect, it } from 'vitest';
import type { Caller } from '../../auth/caller.ts';
import { anonymousReader } from '../../auth/static-tokens.ts';
import { countedAs } from './counted-as.ts';
import { ActorLimit, addressLimit } from './rate-limits.ts';
import { begin } from '../request-context.ts';

const ANONYMOUS = anonymousReader();
const NAMED: Caller = { ...ANONYMOUS, name: 'ann', isAnonymous: false };
/** A token may have this name. */
const NAMESAKE: Caller = { ...ANONYMOUS, isAnonymous: false };

function from(address: string, caller: Caller): Request {
  const request = { headers: {} } as unknown as Request;
  begin(request, { id: '1', startedAt: 0, address, caller });
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

describe('requests from one address', () => {
  it.each<[string, string | undefined, string | undefined]>([
    ['with tokens that nobody knows', 'Bearer bad', undefined],
    ['without a token', undefined, 'Bearer bad'],
  ])(
    '%s are limited, and take none of those with a valid token, nor of the others',
    async (_s, many, other) => {
      const metrics = adminMetrics(new Registry());
      const options = { apiRequestsPerMinutePerAddress: 3 } as AdminOptions;
      const recognizes = (token: string): boolean => token === 'good';
      const limit = addressLimit({ options, metrics, authenticator: { recognizes } });
      const response = { setHeader: () => response, append: () => response } as unknown as Response;
      /** Whether the request is admitted. */
      const ask = async (authorization: string | undefined): Promise<boolean> => {
        const request = { headers: { authorization } } as unknown as Request;
        begin(request, { id: '1', startedAt: 0, address: '10.0.0.1' });
        return await new Promise((resolve) => void limit(request, response, (error) => resolve(!error)));
      };
      const through = { many: 0, good: 0, other: 0 };
      for (let count = 0; count < 1_000; count += 1) if (await ask(many)) through.many += 1;
      for (let count = 0; count < 3; count += 1) {
        if (await ask('Bearer good')) through.good += 1;
        if (await ask(other)) through.other += 1;
      }
      expect(through).toEqual({ many: 3, good: 3, other: 3 });
    },
  );
});
