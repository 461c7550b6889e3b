import { describe, expect, it } from 'vitest';
import type { KubeClient } from './client/connection.ts';
import { apiError, badResponse, KubeError } from './client/errors.ts';
import { ServerVersion } from './server-version.ts';

/** A server that answers a GET of its version with these in turn, or fails with them. */
function versionsOf(...answers: readonly unknown[]): ServerVersion {
  const left = [...answers];
  const client: Pick<KubeClient, 'get'> = {
    get: async <T>(path: string) => {
      if (path !== '/version') throw new Error(`expected /version, given ${path}`);
      const body = left.shift();
      if (body instanceof Error) throw body;
      return { status: 200, body: body as T, date: undefined };
    },
  };
  return new ServerVersion(client);
}

function refusal(status: number): KubeError {
  return apiError({ request: 'GET /version', status, body: undefined, retryAfter: undefined });
}

const { signal } = new AbortController();

describe('the version of a server', () => {
  it.each<[string, unknown, string | undefined]>([
    ['is its major and minor number', { major: '1', minor: '34', gitVersion: 'v1.34.2' }, '1.34'],
    ['may have a plus sign, as some vendors write it', { major: '1', minor: '33+' }, '1.33+'],
    ['is not known if the caller may not see it', refusal(403), undefined],
    ['is not known if the path is not served', refusal(404), undefined],
    ['is not known if a proxy refuses the method', refusal(405), undefined],
    ['is not known if the answer is no JSON', badResponse('GET /version', 'NotJson'), undefined],
    ['is not known if the answer is null', null, undefined],
    ['is not known if the answer has no such numbers', { major: '', minor: 'x:y' }, undefined],
    ['is not known if the answer is no version', {}, undefined],
  ])('%s', async (_sentence, answer, expected) => {
    const version = versionsOf({ major: '1', minor: '1' }, answer);
    await version.read(signal);
    await version.read(signal);
    expect(version.current).toBe(expected);
  });

  it('has changed if it was read before as another one', async () => {
    const [older, newer] = ['34', '35'].map((minor) => ({ major: '1', minor }));
    const version = versionsOf(older, older, newer, refusal(403), refusal(404));
    const changes = [];
    for (let read = 0; read < 5; read += 1) changes.push(await version.read(signal));
    expect(changes).toEqual([false, false, true, true, false]);
  });

  it.each([503, 429, 401])('stays as it was if the server answers with %d', async (status) => {
    const version = versionsOf({ major: '1', minor: '34' }, refusal(status));
    await version.read(signal);
    await expect(version.read(signal)).rejects.toBeInstanceOf(KubeError);
    expect(version.current).toBe('1.34');
  });
});
