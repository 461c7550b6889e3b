import { KubeError } from '@reroll/kube/client/errors';
import { silentLogger } from '@reroll/shared/platform/logging/logging';
import { adminMetrics } from '@reroll/shared/platform/metrics/admin';
import { Registry } from 'prom-client';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Reviews } from './reviews.ts';

const ANN = { username: 'ann' };
const STEER = { resourceAttributes: { group: 'apps', resource: 'deployments', verb: 'patch' } };
const AWAY = new KubeError({ code: 'KUBE_NETWORK', retryable: true });

interface TokenReviewBody {
  readonly spec: { readonly token: string; readonly audiences?: readonly string[] };
}

interface Asking {
  readonly reviews: Reviews;
  /** The requested paths. */
  readonly asked: string[];
  metrics(): Promise<string>;
}

/** An API server that returns this status, or fails with this error. */
function asking(
  answer: object | KubeError | ((body: TokenReviewBody) => object),
  apiAcceptApiServerTokens = false,
): Asking {
  const asked: string[] = [];
  const registry = new Registry();
  const metrics = adminMetrics(registry);
  const post = <T>(path: string, body: unknown): Promise<{ status: number; body: T; date: undefined }> => {
    asked.push(path);
    if (answer instanceof KubeError) return Promise.reject(answer);
    const told = typeof answer === 'function' ? answer(body as TokenReviewBody) : answer;
    return Promise.resolve({ status: 201, body: told as T, date: undefined });
  };
  const options = { apiAudience: 'reroll', apiAcceptApiServerTokens };
  const reviews = new Reviews({ client: { post }, log: silentLogger, metrics, options });
  return { reviews, asked, metrics: () => registry.metrics() };
}

/** An API server that accepts a token for these audiences; its own audience is `kube`. */
function knowing(...audiences: readonly string[]): (body: TokenReviewBody) => object {
  return ({ spec }) => {
    const common = (spec.audiences ?? ['kube']).filter((each) => audiences.includes(each));
    return { status: common.length > 0 ? { authenticated: true, user: ANN, audiences: common } : {} };
  };
}

describe('an API server that fails for one asker', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }));
  afterEach(() => void vi.useRealTimers());

  it('is asked for all others, and by that one again after a pause', async () => {
    const { reviews, asked } = asking((body) => {
      if (body.spec.token.startsWith('bad')) throw AWAY;
      return knowing('reroll')(body);
    });
    const bad = (token: string): Promise<void> =>
      expect(reviews.userOf(token, 'address 1')).rejects.toMatchObject({ code: 'Unavailable' });
    for (let count = 0; count < 1_000; count += 1) {
      await bad(`bad ${count}`);
      if (count % 100 === 0) expect(await reviews.userOf('good', 'address 2')).toEqual(ANN);
    }
    expect(asked).toHaveLength(1 + 10);
    vi.advanceTimersByTime(5_000);
    await bad('bad again');
    expect(asked).toHaveLength(1 + 10 + 1);
  });
});

describe('a token', () => {
  it.each<[string, (body: TokenReviewBody) => object, boolean, boolean]>([
    ['for the admin is accepted', knowing('reroll'), false, true],
    ['for the API server is refused', knowing('kube'), false, false],
    ['for the API server is accepted if that is allowed', knowing('kube'), true, true],
    ['for the admin is accepted besides', knowing('reroll'), true, true],
    ['for something else is refused, whatever is allowed', knowing('vault'), true, false],
    [
      'for nobody knows what is taken for one of the API server',
      () => ({ status: { authenticated: true, user: ANN } }),
      false,
      false,
    ],
  ])('%s', async (_sentence, answer, accepts, expected) => {
    const { reviews } = asking(answer, accepts);
    expect(await reviews.userOf('t', 'a')).toEqual(expected ? ANN : undefined);
  });
});

describe('an API server', () => {
  it.each<[string, object]>([
    ['that says no', { status: { authenticated: false } }],
    ['that says nothing', {}],
    ['that names nobody', { status: { authenticated: true, user: {} } }],
    ['that says no and names somebody', { status: { authenticated: false, user: ANN } }],
  ])('%s, knows no such token', async (_sentence, answer) => {
    expect(await asking(answer).reviews.userOf('t', 'a')).toBeUndefined();
  });

  it.each<[string, object, boolean]>([
    ['that allows', { status: { allowed: true } }, true],
    ['that says nothing', {}, false],
    ['that denies', { status: { allowed: false, denied: true } }, false],
  ])('%s, is believed', async (_sentence, answer, expected) => {
    const { reviews, metrics } = asking(answer);
    expect(await reviews.may(ANN, STEER)).toBe(expected);
    const result = expected ? 'allowed' : 'denied';
    expect(await metrics()).toContain(`reroll_api_reviews_total{review="access",result="${result}"} 1`);
  });

  it('that cannot be reached is neither yes nor no, and is left alone for a while', async () => {
    const { reviews, asked, metrics } = asking(AWAY);
    await expect(reviews.userOf('t', 'a')).rejects.toMatchObject({ code: 'Unavailable' });
    await expect(reviews.userOf('u', 'a')).rejects.toMatchObject({ code: 'Unavailable' });
    expect(asked).toHaveLength(1);
    for (const user of [ANN, ANN, { username: 'bob' }])
      await expect(reviews.may(user, STEER)).rejects.toMatchObject({ code: 'Unavailable' });
    expect(asked).toHaveLength(3);
    expect(await metrics()).toContain('reroll_api_reviews_total{review="token",result="error"} 1');
  });

  it.each([
    ['to ask at all', 403, 1],
    ['one question', 422, 2],
  ])('that refuses %s is neither yes nor no', async (_sentence, status, times) => {
    const { reviews, asked } = asking(new KubeError({ code: 'KUBE_API', status, retryable: false }));
    for (const token of ['a', 'b'])
      await expect(reviews.userOf(token, 'a')).rejects.toMatchObject({ code: 'Unavailable' });
    expect(asked).toHaveLength(times);
  });
});
