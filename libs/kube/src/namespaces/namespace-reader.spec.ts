import { line, listEnd, ScriptedClient, type Answer } from '../testing/scripted-client.ts';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { KubeError } from '../client/errors.ts';
import { NamespaceReader } from './namespace-reader.ts';

function refusal(status: number): KubeError {
  return new KubeError({ code: 'KUBE_API', status, reason: undefined, retryable: status >= 500 });
}

const FROZEN = { 'reroll.dev/freeze': '' };

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date', 'performance'] }));
afterEach(() => void vi.useRealTimers());

/** Lets so much time pass, and what is due be done. */
async function after(milliseconds: number): Promise<void> {
  await vi.advanceTimersByTimeAsync(milliseconds);
  for (let turn = 0; turn < 10; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

function namespaceOf(name: string, annotations: Record<string, string> = {}, resourceVersion = '5') {
  return { metadata: { name, resourceVersion, annotations } };
}

describe('one that does not watch', () => {
  /** A reader, and the paths that it has asked for. */
  function reader(answer: () => unknown) {
    const asked: string[] = [];
    const get = async (path: string) => {
      asked.push(path);
      return { body: answer() } as never;
    };
    return { namespaces: new NamespaceReader({ get, stream: () => expect.fail('it watches') }), asked };
  }

  it('reads a Namespace once in two seconds, however many ask, and keeps only what holds reloads', async () => {
    const { namespaces, asked } = reader(() => namespaceOf('a', { ...FROZEN, other: 'x' }));
    const read = (name: string) => namespaces.annotations(name);
    expect(await Promise.all([read('a'), read('a'), read('b')])).toEqual([FROZEN, FROZEN, FROZEN]);
    vi.advanceTimersByTime(1_999);
    await read('a');
    expect(asked).toEqual(['/api/v1/namespaces/a', '/api/v1/namespaces/b']);
    vi.advanceTimersByTime(1);
    await read('a');
    expect(asked).toHaveLength(3);
  });

  it('has nothing of a Namespace that is not there, and asks again after an error', async () => {
    let error = refusal(404);
    const { namespaces, asked } = reader(() => {
      throw error;
    });
    expect(await namespaces.annotations('gone')).toEqual({});
    error = refusal(503);
    await expect(namespaces.annotations('a')).rejects.toBe(error);
    await expect(namespaces.annotations('a')).rejects.toBe(error);
    expect(asked).toHaveLength(3);
  });
});

describe('one that watches', () => {
  async function follower(streams: Answer[], pages: (object | Error)[] = []) {
    const client = new ScriptedClient({ streams, pages });
    const namespaces = new NamespaceReader(client);
    const changed: string[] = [];
    const failures: number[] = [];
    namespaces.follow({
      onChange: (name) => void changed.push(name),
      onFailure: ({ status }) => void failures.push(status),
    });
    await after(0);
    return { client, namespaces, changed, failures };
  }

  const list =
    line('ADDED', namespaceOf('a', { ...FROZEN, other: 'x' })) + line('ADDED', namespaceOf('b')) + listEnd(7);

  it('reads none, and tells of each whose holds have changed', async () => {
    const later =
      line('MODIFIED', namespaceOf('a', { ...FROZEN, other: 'y' }, '8')) +
      line('MODIFIED', namespaceOf('b', FROZEN, '9')) +
      line('DELETED', namespaceOf('a', FROZEN, '10'));
    const { client, namespaces, changed } = await follower([{ text: list + later, open: true }]);
    const known = await Promise.all(['a', 'b', 'c'].map((name) => namespaces.annotations(name)));
    expect(known).toEqual([{}, FROZEN, {}]);
    expect(changed).toEqual(['a', 'b', 'a']);
    expect(client.calls).toEqual(['list']);
    await namespaces.stop();
  });

  it('reads what is asked for while the watch is interrupted, and forgets what a later list does not have', async () => {
    const gone = line('ERROR', { kind: 'Status', code: 410, reason: 'Expired' });
    const { client, namespaces, changed } = await follower(
      [{ text: list + gone }, { text: line('ADDED', namespaceOf('b')) + listEnd(20), open: true }],
      [namespaceOf('a', FROZEN)],
    );
    expect(await namespaces.annotations('a')).toEqual(FROZEN);
    expect(client.calls).toEqual(['list', 'page']);
    await after(2_000);
    expect(await namespaces.annotations('a')).toEqual({});
    expect(changed).toEqual(['a', 'a']);
    expect(client.calls).toEqual(['list', 'page', 'list']);
    await namespaces.stop();
  });

  it.each([
    ['ends', ''],
    ['fails', line('ERROR', { kind: 'Status', code: 500 })],
  ])('lists again when its watch %s, because etcd may have been restored', async (_how, end) => {
    const { client, namespaces, changed } = await follower([
      { text: list + end },
      { text: line('ADDED', namespaceOf('a')) + listEnd(6), open: true },
    ]);
    await after(2_000);
    expect(await namespaces.annotations('a')).toEqual({});
    expect([client.calls, changed]).toEqual([
      ['list', 'list'],
      ['a', 'a'],
    ]);
    await namespaces.stop();
  });

  it('reads while it must not watch, tells so once, and asks again each minute', async () => {
    const { client, namespaces, failures } = await follower(Array<Error>(100).fill(refusal(403)), [
      namespaceOf('a', FROZEN),
      namespaceOf('a'),
    ]);
    expect(await namespaces.annotations('a')).toEqual(FROZEN);
    await after(600_000);
    expect(await namespaces.annotations('a')).toEqual({});
    expect([client.calls, failures]).toEqual([['list', 'page', ...Array(10).fill('list'), 'page'], [403]]);
    await namespaces.stop();
  });

  it('watches once it may, and tells when it must not any more', async () => {
    const { client, namespaces, failures, changed } = await follower([
      refusal(403),
      { text: list },
      refusal(403),
      { text: list, open: true },
    ]);
    await after(60_000);
    expect(changed).toEqual(['a']);
    await after(61_000);
    expect(await namespaces.annotations('a')).toEqual(FROZEN);
    expect([client.calls, failures]).toEqual([Array(4).fill('list'), [403, 403]]);
    await namespaces.stop();
  });

  it('tells of any other failure, and goes on trying', async () => {
    const { namespaces, failures, changed } = await follower([refusal(503), { text: list, open: true }]);
    await after(1_000);
    expect([changed, failures]).toEqual([['a'], [503]]);
    await namespaces.stop();
  });
});
