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
    const caller = await tokens.authenticate('t', '10.0.0.1');
    user = later;
    expect(await caller.isKnown()).toBe(true);
    vi.advanceTimersByTime(10_000);
    expect(await caller.isKnown()).toBe(expected);
  });
});

it('may override freezes by a right of its own', async () => {
  const asked: unknown[] = [];
  const may = (_user: KubeUser, attributes: unknown): Promise<boolean> => {
    asked.push(attributes);
    return Promise.resolve(false);
  };
  const reviews = { userOf: () => Promise.resolve(ANN), may } as unknown as Reviews;
  const tokens = new KubernetesTokens({ reviews, anonymous: undefined, options: OPTIONS });
  const caller = await tokens.authenticate('t', '10.0.0.1');
  expect(await caller.mayOverrideFreeze('shop')).toBe(false);
  const right = { group: 'reroll.dev', resource: 'freezes', verb: 'override', namespace: 'shop' };
  expect(await caller.mayOverrideFreeze(undefined)).toBe(false);
  const { namespace: _namespace, ...rightOfAll } = right;
  expect(asked).toEqual([{ resourceAttributes: right }, { resourceAttributes: rightOfAll }]);
});

describe('a token', () => {
  it('that was valid is asked about anew, and not forgotten, whatever others send', async () => {
    const asked: string[] = [];
    const userOf = (token: string, asker: string): Promise<KubeUser | undefined> => {
      asked.push(asker.replace(/ .*/u, ''));
      return Promise.resolve(token === 'good' ? ANN : undefined);
    };
    const tokens = new KubernetesTokens({
      reviews: { userOf } as unknown as Reviews,
      anonymous: undefined,
      options: OPTIONS,
    });
    expect(tokens.recognizes('good')).toBe(false);
    await tokens.authenticate('good', '10.0.0.1');
    for (let count = 0; count < 5_000; count += 1)
      await tokens.authenticate(`bad ${count}`, '10.0.0.1').catch(() => undefined);
    expect([tokens.recognizes('good'), tokens.recognizes('bad 4999')]).toEqual([true, false]);
    asked.length = 0;
    await tokens.authenticate('good', '10.0.0.1');
    expect(asked).toEqual([]);
    vi.advanceTimersByTime(10_000);
    await tokens.authenticate('good', '10.0.0.1');
    expect(asked).toEqual(['token']);
  });

  it('that was displaced and recognized again is admitted for ten seconds in all', async () => {
    const asked: string[] = [];
    let isRevoked = false;
    const userOf = (token: string): Promise<KubeUser | undefined> => {
      asked.push(token);
      return Promise.resolve(isRevoked && token === 't' ? undefined : ANN);
    };
    const tokens = new KubernetesTokens({
      reviews: { userOf } as unknown as Reviews,
      anonymous: undefined,
      options: OPTIONS,
    });
    await tokens.authenticate('t', '10.0.0.1');
    isRevoked = true;
    vi.advanceTimersByTime(9_900);
    for (let count = 0; count < 20; count += 1) await tokens.authenticate(`other ${count}`, '10.0.0.1');
    expect(tokens.recognizes('t')).toBe(false);
    await tokens.authenticate('t', '10.0.0.1');
    expect(tokens.recognizes('t')).toBe(true);
    expect(asked.filter((token) => token === 't')).toHaveLength(1);
    vi.advanceTimersByTime(100);
    await expect(tokens.authenticate('t', '10.0.0.1')).rejects.toMatchObject({ code: 'Unauthenticated' });
  });

  it('that is valid no more is counted with the unknown ones', async () => {
    let user: KubeUser | undefined = ANN;
    const reviews = { userOf: () => Promise.resolve(user) } as unknown as Reviews;
    const tokens = new KubernetesTokens({ reviews, anonymous: undefined, options: OPTIONS });
    await tokens.authenticate('t', '10.0.0.1');
    user = undefined;
    vi.advanceTimersByTime(10_000);
    expect(tokens.recognizes('t')).toBe(true);
    await expect(tokens.authenticate('t', '10.0.0.1')).rejects.toMatchObject({ code: 'Unauthenticated' });
    expect(tokens.recognizes('t')).toBe(false);
  });
});
