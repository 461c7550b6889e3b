import { beforeEach, describe, expect, it } from 'vitest';
import { useRealRedis } from '../testing/real-redis.ts';
import { ReloadRequests } from './requests.ts';

const WEB = 'Deployment/shop/web';
const ANN = { actor: 'ann', reason: 'a test' };

const redis = useRealRedis();
let requests: ReloadRequests;

beforeEach(() => {
  requests = new ReloadRequests(redis.client, redis.freshKeys().requests);
});

describe('a request for a reload', () => {
  it('is there until it is done', async () => {
    const request = await requests.put(WEB, ANN);
    expect(request).toMatchObject({ ...ANN, id: expect.stringMatching(/^[0-9]{13}-[0-9a-f]{10}$/u) });
    expect(await requests.of(WEB)).toEqual(request);
    expect(await requests.workloads()).toEqual([WEB]);
    await requests.done(WEB, request.id);
    expect(await requests.of(WEB)).toBeUndefined();
    expect(await requests.workloads()).toEqual([]);
  });

  it('has the holds that it passes, and no other than may be passed', async () => {
    const request = await requests.put(WEB, { ...ANN, passes: ['OutsideWindow', 'TooOften'] });
    expect(await requests.of(WEB)).toEqual({ ...request, passes: ['OutsideWindow', 'TooOften'] });
    await requests.put(WEB, { ...ANN, passes: ['AwaitsApproval'] });
    expect(await requests.of(WEB)).not.toHaveProperty('passes');
    await requests.put(WEB, { ...ANN, passes: [] });
    expect(await requests.of(WEB)).not.toHaveProperty('passes');
  });

  it('takes the place of an earlier one, and stays when that is done', async () => {
    const first = await requests.put(WEB, ANN);
    const second = await requests.put(WEB, { actor: 'bob', reason: 'another' });
    await requests.done(WEB, first.id);
    expect(await requests.of(WEB)).toEqual(second);
  });
});
