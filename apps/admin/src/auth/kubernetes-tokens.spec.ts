import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { KubernetesTokens } from './kubernetes-tokens.ts';
import type { KubeUser, Reviews } from './reviews.ts';

const ANN: KubeUser = { username: 'ann', uid: '1', groups: ['a', 'b'], extra: { scopes: ['x'] } };

const OPTIONS = { apiAudience: 'reroll', apiAcceptApiServerTokens: false };

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }));
afterEach(() => void vi.useRealTimers());

describe('who began a stream', () => {
  it.each<[string, KubeUser | undefined, boolean]>([
    ['is known while they are the same', ANN, true],
    ['is known when their groups come in another order', { ...ANN, groups: ['b', 'a'] }, true],
    ['is known no more without one of their groups', { ...ANN, groups: ['a'] }, false],
    ['is known no more with other extras', { ...ANN, extra: {} }, false],
    ['is known no more as another of the same name', { ...ANN, uid: '2' }, false],
    ['is known no more when the token is nobody’s', undefined, false],
  ])('%s', async (_sentence, later, expected) => {
    let user: KubeUser | undefined = ANN;
    const reviews = { userOf: () => Promise.resolve(user), may: () => Promise.resolve(true) };
    const tokens = new KubernetesTokens({
      reviews: reviews as unknown as Reviews,
      anonymous: undefined,
      options: OPTIONS,
    });
    const caller = await tokens.authenticate('t');
    user = later;
    expect(await caller.isKnown()).toBe(true);
    vi.advanceTimersByTime(10_000);
    expect(await caller.isKnown()).toBe(expected);
  });
});
