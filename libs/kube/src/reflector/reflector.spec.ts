import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { apiError } from '../client/errors.ts';
import { ControlPlane } from '../testing/control-plane.ts';
import {
  entryOf,
  follow as startFollowing,
  Following,
  type Entry,
  type Follower,
  type FollowOptions,
} from '../testing/following.ts';
import type { KubeObject } from '../objects.ts';

let plane: ControlPlane;
const running: Follower[] = [];

beforeAll(async () => {
  plane = await ControlPlane.start();
});
afterAll(async () => {
  await plane.stop();
});
afterEach(async () => {
  await Promise.all(running.splice(0).map(({ reflector }) => reflector.stop()));
});

function follow(options: FollowOptions): Follower {
  const follower = startFollowing(options);
  running.push(follower);
  return follower;
}

/** ConfigMaps of a fresh namespace. */
class Place {
  readonly path: string;

  constructor(namespace: string) {
    this.path = `/api/v1/namespaces/${namespace}/configmaps`;
  }

  async create(name: string, value: string): Promise<void> {
    await plane.client.post(this.path, { metadata: { name }, data: { v: value } });
  }

  async set(name: string, value: string): Promise<void> {
    await plane.client.patch(`${this.path}/${name}`, [{ op: 'add', path: '/data/v', value }]);
  }

  async delete(name: string): Promise<void> {
    await plane.client.request({ method: 'DELETE', path: `${this.path}/${name}` });
  }

  async resourceVersion(): Promise<string> {
    const { body } = await plane.client.get<KubeObject>(this.path);
    return body.metadata.resourceVersion;
  }
}

async function place(names: readonly string[] = []): Promise<Place> {
  const fresh = new Place(await plane.namespace());
  await Promise.all(names.map((name) => fresh.create(name, '1')));
  return fresh;
}

describe('listing and watching', () => {
  test('a streamed list is told whole, then changes in order on the same connection', async () => {
    const { path, create, set, delete: remove } = bound(await place(['a', 'b']));
    const { client, proxy } = await plane.throughProxy();
    const { seen, reports, reflector } = follow({ client, path });
    expect(await reflector.waitSynced(10_000)).toBe(true);
    expect(seen.told).toEqual(['list', 'listed 2', 'end']);
    await create('c', '1');
    await set('a', '2');
    await set('a', '3');
    await remove('b');
    await seen.has({ a: '3', c: '1' });
    expect(seen.told.slice(3)).toEqual(['ADDED c=1', 'MODIFIED a=2', 'MODIFIED a=3', 'DELETED b=1']);
    expect(reports.seen).toEqual(['relist first', 'listed 2 streamed', 'synced']);
    expect(reflector.status).toMatchObject({ synced: true, connected: true, relists: 0, reconnects: 0 });
    expect(proxy.accepted).toBe(1);
  });

  test('a list in pages is taken at one resourceVersion and continued by a watch', async () => {
    const { path, set, create } = bound(await place(['a', 'b', 'c', 'd', 'e']));
    let interfere: Promise<void> | undefined;
    class Interfering extends Following {
      /** A write between the first page and the second. */
      protected override listed(objects: readonly Entry[]): void | Promise<void> {
        void super.listed(objects);
        interfere ??= set('e', '2').then(() => create('f', '1'));
        return interfere;
      }
    }
    const { seen, reports } = follow({
      client: plane.client,
      path,
      streamedLists: false,
      pageSize: 2,
      handler: new Interfering(),
    });
    await seen.has({ a: '1', b: '1', c: '1', d: '1', e: '2', f: '1' });
    expect(seen.told).toEqual([
      'list',
      'listed 2',
      'listed 2',
      'listed 1',
      'end',
      'MODIFIED e=2',
      'ADDED f=1',
    ]);
    expect(reports.seen).toEqual(['relist first', 'listed 5 paged', 'synced']);
  });

  test('selectors hold for the list and for the watch', async () => {
    const namespace = await plane.namespace();
    const path = `/api/v1/namespaces/${namespace}/secrets`;
    const create = (name: string, type: string): Promise<unknown> =>
      plane.client.post(path, { metadata: { name }, type, stringData: {} });
    await create('kept', 'Opaque');
    await create('ignored', 'helm.sh/release.v1');
    const { seen, reflector } = follow({
      client: plane.client,
      path,
      fieldSelector: 'type!=helm.sh/release.v1',
      convert: (raw) => ({ name: raw.metadata.name, value: 's' }),
    });
    await reflector.waitSynced(10_000);
    await create('ignored-later', 'helm.sh/release.v1');
    await create('kept-later', 'Opaque');
    await seen.has({ kept: 's', 'kept-later': 's' });
    expect(seen.told.join()).not.toContain('ignored');
  });

  test('an empty collection is synced without a batch', async () => {
    const { path } = await place();
    const { seen, reflector } = follow({ client: plane.client, path, labelSelector: 'no=such' });
    expect(await reflector.waitSynced(10_000)).toBe(true);
    expect(seen.told).toEqual(['list', 'end']);
  });
});

describe('whatever breaks', () => {
  test('a connection that is cut is resumed without a list, and nothing in between is missed', async () => {
    const { path, set, create } = bound(await place(['a']));
    const { client, proxy } = await plane.throughProxy();
    const { seen, reports, reflector } = follow({ client, path });
    await reflector.waitSynced(10_000);
    proxy.refuse();
    await set('a', '2');
    await create('b', '1');
    await reports.has('reconnect failed');
    proxy.accept();
    await seen.has({ a: '2', b: '1' });
    expect(seen.told).toEqual(['list', 'listed 1', 'end', 'MODIFIED a=2', 'ADDED b=1']);
    expect(reflector.status).toMatchObject({ synced: true, relists: 0 });
    expect(reports.seen).not.toContain('not synced');
  });

  test('a failure before a connection is repeated with it, and comes before each watch too', async () => {
    const { path, set } = bound(await place(['a']));
    const { client, proxy } = await plane.throughProxy();
    let calls = 0;
    const connecting = async (): Promise<boolean> => {
      calls += 1;
      if (calls === 1)
        throw apiError({ request: 'GET /version', status: 503, body: undefined, retryAfter: undefined });
      return false;
    };
    const { seen, reports, reflector } = follow({ client, path, connecting });
    await reflector.waitSynced(10_000);
    expect(reports.seen).toEqual(['failure 503', 'relist broken', 'listed 1 streamed', 'synced']);
    expect(calls).toBe(2);
    proxy.refuse();
    await reports.has('reconnect failed');
    proxy.accept();
    await set('a', '2');
    await seen.has({ a: '2' });
    expect(calls).toBeGreaterThan(2);
  });

  test('a server that shows objects in another form is asked for a list instead of a resumed watch', async () => {
    const { path } = await place(['a']);
    const { client, proxy } = await plane.throughProxy();
    let isChanged = false;
    const { reports, reflector } = follow({ client, path, connecting: async () => isChanged });
    await reflector.waitSynced(10_000);
    isChanged = true;
    proxy.refuse();
    await reports.has('reconnect failed');
    proxy.accept();
    await reports.has('relist changed');
    await reflector.waitSynced(10_000);
    expect(reflector.status).toMatchObject({ synced: true, relists: 1 });
  });

  test('a connection that has gone silent is noticed, cut and resumed', async () => {
    const { path, set } = bound(await place(['a']));
    const { client, proxy } = await plane.throughProxy();
    const { seen, reports, reflector } = follow({ client, path, silenceMs: 400 });
    await reflector.waitSynced(10_000);
    proxy.stall();
    await set('a', '2');
    await seen.has({ a: '2' });
    expect(reports.seen).toContain('reconnect silent');
    expect(reflector.status.relists).toBe(0);
  });

  test('silence again and again at one resourceVersion is answered with a list', async () => {
    const { path } = await place(['a']);
    const { reports } = follow({ client: plane.client, path, silenceMs: 100 });
    await reports.has('relist silent');
    expect(reports.seen.slice(0, 7)).toEqual([
      'relist first',
      'listed 1 streamed',
      'synced',
      'reconnect silent',
      'reconnect silent',
      'not synced',
      'relist silent',
    ]);
  });

  test('after a compaction and a restart of the API server it lists anew and sees what was deleted meanwhile', async () => {
    const { path, set, create, delete: remove, resourceVersion } = bound(await place(['a', 'b', 'c']));
    const { client, proxy } = await plane.throughProxy();
    const { seen, reports, reflector } = follow({ client, path });
    await reflector.waitSynced(10_000);
    proxy.refuse();
    await remove('b');
    await set('a', '2');
    await create('d', '1');
    await plane.compact(await resourceVersion());
    await plane.cluster.restart('apiserver');
    proxy.accept();
    await reports.has('relist gone');
    await reflector.waitSynced(10_000);
    await seen.has({ a: '2', c: '1', d: '1' });
    expect(reports.seen).toContain('failure 410');
    expect(reports.seen.filter((report) => report.startsWith('relist'))).toEqual([
      'relist first',
      'relist gone',
    ]);
    expect(reports.seen.filter((report) => report.endsWith('synced'))).toEqual([
      'synced',
      'not synced',
      'synced',
    ]);
    expect(seen.told.join()).not.toContain('DELETED');
    await set('c', '9');
    await seen.has({ a: '2', c: '9', d: '1' });
  });

  test('a past that is compacted in the middle of a list in pages makes it begin anew', async () => {
    const { path, set, resourceVersion } = bound(await place(['a', 'b', 'c', 'd', 'e']));
    let forgotten: Promise<void> | undefined;
    const forget = async (): Promise<void> => {
      await set('a', '2');
      await plane.compact(await resourceVersion());
      await plane.cluster.restart('apiserver');
    };
    class Forgetful extends Following {
      protected override listed(objects: readonly Entry[]): void | Promise<void> {
        void super.listed(objects);
        forgotten ??= forget();
        return forgotten;
      }
    }
    const { seen, reports, reflector } = follow({
      client: plane.client,
      path,
      streamedLists: false,
      pageSize: 2,
      handler: new Forgetful(),
    });
    expect(await reflector.waitSynced(20_000)).toBe(true);
    expect(seen.told).toEqual(['list', 'listed 2', 'list', 'listed 5', 'end']);
    expect(reports.seen).toEqual(['relist first', 'failure 410', 'relist gone', 'listed 5 paged', 'synced']);
    await seen.has({ a: '2', b: '1', c: '1', d: '1', e: '1' });
  });

  test('refused credentials are a failure each time, never an empty list', async () => {
    const { path } = await place(['a']);
    const kubeconfig = plane.writeKubeconfig(plane.kubeconfig.replace(/token: .*/, 'token: wrong'));
    const { seen, reports, reflector } = follow({ client: plane.connect({ kubeconfig }), path });
    expect(await reflector.waitSynced(1000)).toBe(false);
    expect(reports.seen.filter((report) => report === 'failure 401').length).toBeGreaterThan(2);
    expect(seen.told).not.toContain('end');
  });

  test('a collection that does not exist yet is found when it does', async () => {
    const path = '/apis/spec.reroll.dev/v1/things';
    const { reports, reflector } = follow({ client: plane.client, path });
    await reports.has('failure 404');
    expect(reflector.status.synced).toBe(false);
    await plane.client.post('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', definition());
    expect(await reflector.waitSynced(20_000)).toBe(true);
  });
});

describe('a handler that throws', () => {
  test('harms only the object that it threw for', async () => {
    const { path, set } = bound(await place(['bad', 'good']));
    class Choosy extends Following {
      protected override changed(entry: Entry, type: string): void {
        if (entry.name === 'bad') throw new RangeError('hunter2');
        void super.changed(entry, type);
      }
    }
    const { seen, reports, reflector } = follow({ client: plane.client, path, handler: new Choosy() });
    await reflector.waitSynced(10_000);
    await set('bad', '2');
    await set('good', '2');
    await seen.has({ bad: '1', good: '2' });
    expect(reports.seen.slice(3)).toEqual([`RangeError in changed ${path.split('/')[4]}/bad`]);
    expect(reflector.status).toMatchObject({ handlerErrors: 1, relists: 0, reconnects: 0 });
  });

  test('a rejected promise counts as a throw, and the next object waits for its end', async () => {
    const { path, set } = bound(await place(['a']));
    const order: string[] = [];
    class Slow extends Following {
      protected override async changed(entry: Entry, type: string): Promise<void> {
        order.push(`begin ${entry.value}`);
        await new Promise((resolve) => setImmediate(resolve));
        order.push(`end ${entry.value}`);
        await super.changed(entry, type);
        if (entry.value === '2') throw new TypeError('hunter2');
      }
    }
    const { seen, reports, reflector } = follow({ client: plane.client, path, handler: new Slow() });
    await reflector.waitSynced(10_000);
    await set('a', '2');
    await set('a', '3');
    await seen.has({ a: '3' });
    expect(order).toEqual(['begin 2', 'end 2', 'begin 3', 'end 3']);
    expect(reports.seen.join()).toContain('TypeError in changed');
  });

  test('objects of a list that cannot be read are named, so that they are not taken for deleted', async () => {
    const { path } = await place(['a', 'bad', 'worse']);
    class Choosy extends Following {
      protected override listed(objects: readonly Entry[]): void {
        if (objects.some(({ name }) => name === 'worse')) throw new RangeError('hunter2');
        void super.listed(objects);
      }
    }
    const convert = (raw: KubeObject): Entry => {
      if (raw.metadata.name === 'bad') throw new SyntaxError('hunter2');
      return entryOf(raw);
    };
    const { seen, reports, reflector } = follow({
      client: plane.client,
      path,
      handler: new Choosy(),
      convert,
    });
    expect(await reflector.waitSynced(10_000)).toBe(true);
    const namespace = path.split('/')[4];
    expect(seen.unread).toEqual([`${namespace}/bad`, `${namespace}/worse`]);
    expect([...seen.present.keys()]).toEqual(['a']);
    expect(reports.seen).toContain(`SyntaxError in convert ${namespace}/bad`);
    expect(reports.seen).toContain(`RangeError in listed ${namespace}/worse`);
    expect(JSON.stringify(reports.seen)).not.toContain('hunter2');
  });

  test('in synced is not synced: the list is repeated until it succeeds', async () => {
    const { path } = await place(['a']);
    let failures = 2;
    class Refusing extends Following {
      override synced(resourceVersion: string, unread: readonly string[]): void {
        if (failures > 0) {
          failures -= 1;
          throw new Error('hunter2');
        }
        super.synced(resourceVersion, unread);
      }
    }
    const { seen, reports, reflector } = follow({ client: plane.client, path, handler: new Refusing() });
    expect(await reflector.waitSynced(10_000)).toBe(true);
    expect(seen.told).toEqual(['list', 'listed 1', 'list', 'listed 1', 'list', 'listed 1', 'end']);
    expect(reports.seen.filter((report) => report === 'synced')).toHaveLength(1);
    expect(reflector.status).toMatchObject({ relists: 2, handlerErrors: 2 });
  });
});

describe('stopping', () => {
  test('ends the stream, leaves no connection and tells nothing more', async () => {
    const { path, create } = bound(await place(['a']));
    const { client, proxy } = await plane.throughProxy();
    const { seen, reflector } = follow({ client, path });
    await reflector.waitSynced(10_000);
    const began = performance.now();
    await reflector.stop();
    expect(performance.now() - began).toBeLessThan(1000);
    await create('b', '1');
    await expect.poll(() => proxy.open).toBe(0);
    expect(seen.told).toEqual(['list', 'listed 1', 'end']);
    expect(await reflector.waitSynced(1)).toBe(true);
  });

  test('while the server cannot be reached is as quick', async () => {
    const { client, proxy } = await plane.throughProxy();
    proxy.refuse();
    const { reports, reflector } = follow({
      client,
      path: (await place()).path,
      backoff: { baseMs: 60_000, maxMs: 60_000 },
    });
    await reports.has('failure KUBE_NETWORK');
    const waiting = reflector.waitSynced(60_000);
    await reflector.stop();
    expect(await waiting).toBe(false);
  });
});

describe('a server without streamed lists', () => {
  let old: ControlPlane;
  beforeAll(async () => {
    old = await ControlPlane.start({ featureGates: 'WatchList=false' });
  });
  afterAll(async () => {
    await old.stop();
  });

  test('is asked for pages after its refusal, and not refused again at a relist', async () => {
    const namespace = await old.namespace();
    const path = `/api/v1/namespaces/${namespace}/configmaps`;
    for (const name of ['a', 'b', 'c']) {
      await old.client.post(path, { metadata: { name }, data: { v: '1' } });
    }
    const { seen, reports, reflector } = follow({ client: old.client, path, pageSize: 2 });
    expect(await reflector.waitSynced(10_000)).toBe(true);
    expect(seen.told.at(-1)).toBe('end');
    expect(seen.present.size).toBe(3);
    expect(reports.seen).toEqual(['relist first', 'listed 3 paged', 'synced']);
    await old.client.patch(`${path}/a`, [{ op: 'add', path: '/data/v', value: '2' }]);
    await seen.has({ a: '2', b: '1', c: '1' });
  });
});

/** The methods without their object, for destructuring. */
function bound(fresh: Place): Pick<Place, 'path' | 'create' | 'set' | 'delete' | 'resourceVersion'> {
  return {
    path: fresh.path,
    create: (name, value) => fresh.create(name, value),
    set: (name, value) => fresh.set(name, value),
    delete: (name) => fresh.delete(name),
    resourceVersion: () => fresh.resourceVersion(),
  };
}

function definition(): unknown {
  const schema = { openAPIV3Schema: { type: 'object' } };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'things.spec.reroll.dev' },
    spec: {
      group: 'spec.reroll.dev',
      scope: 'Namespaced',
      names: { plural: 'things', singular: 'thing', kind: 'Thing' },
      versions: [{ name: 'v1', served: true, storage: true, schema }],
    },
  };
}
