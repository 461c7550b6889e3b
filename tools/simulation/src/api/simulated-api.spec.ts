import { JSON_PATCH, KubeClient } from '@reroll/kube/client/connection';
import { KubeError } from '@reroll/kube/client/errors';
import type { KubeObject } from '@reroll/kube/objects';
import { describe, expect, test } from 'vitest';
import type { Owner } from '../scheduler.ts';
import { simulatedKubeConfig, SimulatedApi, type SimulatedApiOptions } from './simulated-api.ts';
import type { Fate } from './simulated-pool.ts';
import { virtualTime } from './testing/virtual-time.ts';

const CONFIG_MAPS = '/api/v1/namespaces/shop/configmaps';
type ConfigMap = KubeObject & { readonly data?: Readonly<Record<string, string>> };

function setup(options: Partial<SimulatedApiOptions> = {}) {
  const time = virtualTime();
  const api = new SimulatedApi({ scheduler: time, ...options });
  const world = api.as('owner');
  world.create({ kind: 'Namespace', namespace: '' }, { metadata: { name: 'shop' } });
  const owner: Owner = { name: 'worker', isAlive: true };
  const client = new KubeClient({
    load: () => simulatedKubeConfig(),
    openPool: () => api.pool(owner),
    userAgent: 'spec/0',
  });
  return { time, api, world, owner, client };
}

async function errorOf(call: Promise<unknown>): Promise<KubeError> {
  const error = await call.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  return error instanceof KubeError ? error : expect.fail('expected a KubeError');
}

test('objects are created, read, patched, replaced and deleted', async () => {
  const { time, client, api } = setup();
  const run = <T>(call: Promise<T>): Promise<T> => time.until(call);
  const created = await run(
    client.post<ConfigMap>(CONFIG_MAPS, { metadata: { name: 'a' }, data: { k: '1' } }),
  );
  expect(created).toMatchObject({ status: 201, date: time.now() - (time.now() % 1000) });
  const read = await run(client.get<ConfigMap>(`${CONFIG_MAPS}/a`));
  expect(read.body).toEqual(created.body);
  const patch = [
    { op: 'test', path: '/data/k', value: '1' },
    { op: 'replace', path: '/data/k', value: '2' },
  ];
  const patched = await run(client.patch<ConfigMap>(`${CONFIG_MAPS}/a`, patch, { contentType: JSON_PATCH }));
  expect(patched.body.data).toEqual({ k: '2' });
  expect(await run(errorOf(client.patch(`${CONFIG_MAPS}/a`, patch)))).toMatchObject({
    status: 422,
    hasCauses: false,
  });
  expect(await run(errorOf(client.put(`${CONFIG_MAPS}/a`, created.body)))).toMatchObject({
    status: 409,
    reason: 'Conflict',
  });
  await run(client.request({ method: 'DELETE', path: `${CONFIG_MAPS}/a` }));
  expect(await run(errorOf(client.get(`${CONFIG_MAPS}/a`)))).toMatchObject({
    status: 404,
    reason: 'NotFound',
  });
  expect(api.unknown).toEqual([]);
});

describe('faults', () => {
  test.each<[Fate, object, string | undefined]>([
    ['refused', { code: 'KUBE_NETWORK', reason: 'ECONNREFUSED' }, '1'],
    ['cutBefore', { code: 'KUBE_NETWORK', reason: 'ECONNRESET' }, '1'],
    ['cutAfter', { code: 'KUBE_NETWORK', reason: 'ECONNRESET' }, '2'],
    [{ answered: 429, retryAfterSeconds: 3 }, { status: 429, retryAfterMs: 3000 }, '1'],
    [{ answered: 503 }, { status: 503, retryable: true }, '1'],
  ])('%o', async (fate, error, value) => {
    let next: Fate = 'done';
    const { time, client, world } = setup({ treat: () => ({ before: 5, after: 5, fate: next }) });
    const id = { kind: 'ConfigMap', namespace: 'shop', name: 'a' };
    world.create(id, { metadata: { name: 'a' }, data: { k: '1' } });
    next = fate;
    const patch = [{ op: 'replace', path: '/data/k', value: '2' }];
    expect(await time.until(errorOf(client.patch(`${CONFIG_MAPS}/a`, patch)))).toMatchObject(error);
    expect(world.get(id)).toMatchObject({ data: { k: value } });
  });

  test('the answer to a process that was killed does not arrive, but its write is done', async () => {
    const { time, client, world, owner } = setup({ treat: () => ({ before: 5, after: 5, fate: 'done' }) });
    let isAnswered = false;
    // Its deadline passes in real time, long after this test.
    client.post(CONFIG_MAPS, { metadata: { name: 'a' } }).then(
      () => (isAnswered = true),
      () => undefined,
    );
    await time.run(7);
    owner.isAlive = false;
    await time.run(1000);
    expect(isAnswered).toBe(false);
    expect(world.list('ConfigMap')).toHaveLength(1);
  });
});

test('a request that no rule covers is recorded', async () => {
  const { time, client, api } = setup();
  await time.until(errorOf(client.get('/api/v1/namespaces/shop/services')));
  await time.until(errorOf(client.request({ method: 'DELETE', path: CONFIG_MAPS })));
  expect(api.unknown).toEqual(['404 GET /api/v1/namespaces/shop/services', `405 DELETE ${CONFIG_MAPS}`]);
});

describe('two servers of one etcd, one of them cut off', () => {
  const path = `${CONFIG_MAPS}/a`;
  const id = { kind: 'ConfigMap', namespace: 'shop', name: 'a' };

  /** A client of each server; the object was changed after the second was cut off. */
  async function cutOff() {
    const scene = setup({ servers: ['one', 'two'] });
    const { api, world, time } = scene;
    const [one, two] = ['one', 'two'].map(
      (name) =>
        new KubeClient({
          load: () => simulatedKubeConfig(),
          openPool: () => api.pool(undefined, () => api.server(name)),
          userAgent: 'spec/0',
        }),
    ) as [KubeClient, KubeClient];
    world.create(id, { metadata: { name: 'a' }, data: { k: 'old' } });
    api.server('two').cutOff();
    world.patch(id, { data: { k: 'new' } });
    const valueAt = async (client: KubeClient, resourceVersion?: string) => {
      const { body } = await time.until(client.get<ConfigMap>(path, { query: { resourceVersion } }));
      return body.data?.['k'];
    };
    return { ...scene, one, two, valueAt };
  }

  test('serves what it knew, where that is enough', async () => {
    const { one, two, valueAt } = await cutOff();
    expect(await valueAt(one)).toBe('new');
    expect(await valueAt(one, '0')).toBe('new');
    expect(await valueAt(two, '0')).toBe('old');
  });

  test('answers what needs etcd when it is connected again', async () => {
    const { api, time, two, valueAt } = await cutOff();
    const read = valueAt(two);
    const write = two.patch(path, [{ op: 'add', path: '/data/j', value: 'x' }]);
    time.after(20_000, undefined, () => api.server('two').reconnect());
    expect(await read).toBe('new');
    expect(await time.until(write)).toMatchObject({ status: 200, body: { data: { j: 'x', k: 'new' } } });
    expect(await valueAt(two, '0')).toBe('new');
  });

  test('gives up after a minute', async () => {
    const { time, two, world } = await cutOff();
    const error = await time.until(errorOf(two.get(path, { timeoutMs: 100_000 })));
    expect(error).toMatchObject({ status: 504, retryable: true });
    expect(world.get(id)).toMatchObject({ data: { k: 'new' } });
  });

  test('does not reach a revision that it cannot know', async () => {
    const { api, time, two } = await cutOff();
    const query = { resourceVersion: String(api.etcd.revision) };
    const error = await time.until(errorOf(two.get(CONFIG_MAPS, { query })));
    expect(error).toMatchObject({
      status: 504,
      causes: [{ reason: 'ResourceVersionTooLarge' }],
      retryAfterMs: 1000,
    });
  });
});

test('etcd is set back, with or without a bump of its revision', async () => {
  const { time, client, api, world } = setup();
  const id = { kind: 'ConfigMap', namespace: 'shop', name: 'a' };
  world.create(id, { metadata: { name: 'a' }, data: { k: 'old' } });
  const backup = api.backUp();
  world.patch(id, { data: { k: 'new' } });
  const before = api.etcd.revision;
  const read = async () => (await time.until(client.get<ConfigMap>(`${CONFIG_MAPS}/a`))).body;
  for (const bump of [0, 1000]) {
    api.restore(backup, bump);
    expect((await read()).data).toEqual({ k: 'old' });
    const { metadata } = world.patch(id, { data: { k: 'other' } });
    expect(Number(metadata.resourceVersion) > before).toBe(bump > 0);
  }
});

test('the same seed gives the same objects', async () => {
  const run = async () => {
    const { time, client, world } = setup();
    const body = { metadata: { generateName: 'a-' } };
    for (let count = 0; count < 3; count += 1) await time.until(client.post(CONFIG_MAPS, body));
    return JSON.stringify(world.list('ConfigMap'));
  };
  expect(await run()).toBe(await run());
});
