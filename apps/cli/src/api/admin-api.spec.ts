import { describe, expect, it } from 'vitest';
import { HttpRoute } from '../connect/http-route.ts';
import { CliError } from '../errors.ts';
import { status } from '../testing/answers.ts';
import { stubAdmin } from '../testing/stub-admin.ts';
import { AdminApi } from './admin-api.ts';
import { adminEvents } from './event-stream.ts';

/** An admin in pods that are replaced, behind a way that leads to one of them, as a port-forward does. */
async function replacedAdmin() {
  const pods = await Promise.all(
    ['old', 'new'].map(async (version, index) => {
      const state = { isGone: false };
      const { url } = await stubAdmin(({ path }) => {
        if (state.isGone) return (response) => void response.destroy();
        if (path.endsWith('/status')) return { body: status({ version }) };
        return (response) => {
          response.writeHead(200, { 'content-type': 'text/event-stream' });
          response.write(`id: p${index}\nevent: reset\ndata: {"reason":"${version}"}\n\n`, () => {
            if (index === 0) response.destroy();
            state.isGone = index === 0;
          });
        };
      });
      return { url, state };
    }),
  );
  const closed: number[] = [];
  const opened: number[] = [];
  let ready = 0;
  const open = (): Promise<HttpRoute> => {
    const index = ready;
    opened.push(index);
    if (index < 0) throw new CliError('no pod is ready');
    const origin = pods[index]?.url ?? '';
    return Promise.resolve(
      new HttpRoute({
        name: `pod ${index}`,
        endpoint: { origin, tls: {} },
        basePath: '',
        headers: () => Promise.resolve({}),
        onClose: () => Promise.resolve(void closed.push(index)),
      }),
    );
  };
  const { signal } = new AbortController();
  const api = new AdminApi({ ways: [{ open }], timeoutMs: 5_000, signal });
  return {
    api,
    signal,
    opened,
    closed,
    /** Its pod answers nothing more; the way leads to this one, or for -1 to none. */
    replaceBy: (index: number) => {
      for (const { state } of pods.slice(0, 1)) state.isGone = true;
      ready = index;
    },
  };
}

describe('an admin whose pod is replaced', () => {
  it('is reached by the ways again after a request found nobody', async () => {
    const { api, replaceBy, opened, closed } = await replacedAdmin();
    expect(await api.call('getStatus')).toMatchObject({ version: 'old' });
    replaceBy(-1);
    await expect(api.call('getStatus')).rejects.toMatchObject({ status: 'network' });
    expect(closed).toEqual([0]);
    await expect(api.call('getStatus')).rejects.toMatchObject({
      message: 'the admin could not be reached',
      hints: ['no pod is ready'],
      status: 'network',
    });
    replaceBy(1);
    expect(await api.call('getStatus')).toMatchObject({ version: 'new' });
    expect(await api.call('getStatus')).toMatchObject({ version: 'new' });
    expect(opened).toEqual([0, -1, 1]);
    await api.close();
    expect(closed).toEqual([0, 1]);
  });

  it('tells its events again, by the ways too', async () => {
    const { api, signal, replaceBy } = await replacedAdmin();
    const lost: string[] = [];
    const onLost = (why: string): void => {
      lost.push(why);
      if (lost.length === 1) replaceBy(-1);
      if (lost.length === 3) replaceBy(1);
    };
    const events = adminEvents({ api, signal, onLost, onConnected: () => undefined });
    expect((await events.next()).value).toMatchObject({ data: { reason: 'old' } });
    expect((await events.next()).value).toMatchObject({ data: { reason: 'new' } });
    expect(lost).toEqual([
      expect.stringMatching(/^the connection broke/),
      expect.stringMatching(/^could not be reached/),
      'the admin could not be reached: no pod is ready',
    ]);
    await api.close();
    await events.return();
  });
});
