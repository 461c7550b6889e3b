import { describe, expect, it } from 'vitest';
import type { KubeClient } from './client/connection.ts';
import { isServed } from './discovery.ts';
import { KubeError, apiError } from './client/errors.ts';

const ROLLOUTS = { group: 'argoproj.io', version: 'v1alpha1', plural: 'rollouts' };
const PATH = '/apis/argoproj.io/v1alpha1';

/** A client that answers a GET of the group's document with this, or fails with it. */
function clientWith(answer: unknown): Pick<KubeClient, 'get'> {
  return {
    get: async <T>(path: string) => {
      if (path !== PATH) throw new Error(`expected ${PATH}, given ${path}`);
      if (answer instanceof Error) throw answer;
      return { status: 200, body: answer as T, date: undefined };
    },
  };
}

function refusal(status: number): KubeError {
  return apiError({ request: `GET ${PATH}`, status, body: undefined, retryAfter: undefined });
}

describe('a collection', () => {
  it.each<[string, unknown, boolean]>([
    [
      'is served if its group has it',
      { resources: [{ name: 'rollouts' }, { name: 'rollouts/status' }] },
      true,
    ],
    ['is not if its group has only others', { resources: [{ name: 'experiments' }] }, false],
    ['is not if there is no such group', refusal(404), false],
  ])('%s', async (_sentence, answer, expected) => {
    expect(await isServed(clientWith(answer), ROLLOUTS)).toBe(expected);
  });

  it.each<[string, unknown]>([
    ['an aggregated API that does not answer', refusal(503)],
    ['a refusal', refusal(403)],
    ['a document without a list', { kind: 'Status' }],
  ])('%s tells neither', async (_sentence, answer) => {
    await expect(isServed(clientWith(answer), ROLLOUTS)).rejects.toBeInstanceOf(KubeError);
  });
});
