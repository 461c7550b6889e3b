import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { KubeClient } from './client/connection.ts';
import { apiError } from './client/errors.ts';
import { EventRecorder, type EventRecorderOptions, type ReloadEvent } from './kube-events.ts';
import { ControlPlane } from './testing/control-plane.ts';
import { FakeClock } from './testing/fake-clock.ts';

function reload(namespace: string, modifiers: Partial<ReloadEvent> = {}): ReloadEvent {
  return {
    source: { kind: 'ConfigMap', namespace, name: 'web-config' },
    workload: {
      kind: 'Deployment',
      apiVersion: 'apps/v1',
      namespace,
      name: 'web',
      uid: '11111111-2222-3333-4444-555555555555',
    },
    ...modifiers,
  };
}

describe('on a real API server', () => {
  let plane: ControlPlane;
  beforeAll(async () => {
    plane = await ControlPlane.start();
  });
  afterAll(async () => {
    await plane.stop();
  });

  interface Event {
    readonly type: string;
    readonly reason: string;
    readonly message: string;
    readonly source: { readonly component: string };
    readonly involvedObject: { readonly kind: string; readonly name: string };
  }

  test('a reload and a failure are what the incumbent would have written', async () => {
    const namespace = await plane.namespace();
    const results: string[] = [];
    const recorder = new EventRecorder({
      client: plane.client,
      instance: 'reroll-worker-1',
      onResult: (result) => results.push(result),
    });
    recorder.record(reload(namespace));
    const source = { kind: 'Secret', namespace, name: 'web-secret' } as const;
    recorder.record(reload(namespace, { source, failure: 'Invalid (KUBE_API 422)' }));
    await recorder.flush(5000);
    expect(results).toEqual(['posted', 'posted']);
    const { body } = await plane.client.get<{ items: Event[] }>(`/api/v1/namespaces/${namespace}/events`);
    const seen = body.items.map(({ type, reason, source: { component }, involvedObject, message }) =>
      [type, reason, component, involvedObject.kind, involvedObject.name, message].join(' | '),
    );
    const subject = `'web' of type 'Deployment' in namespace '${namespace}'`;
    expect(seen.sort()).toEqual([
      `Normal | Reloaded | reloader-configmaps | Deployment | web | Changes detected in 'web-config' of type 'CONFIGMAP' in namespace '${namespace}', Updated ${subject}`,
      `Warning | ReloadFail | reloader-secrets | Deployment | web | Update for ${subject} failed with error Invalid (KUBE_API 422)`,
    ]);
  });

  test('a reload that a person asked for is told with their words, on one line, and not with their name', async () => {
    const namespace = await plane.namespace();
    const recorder = new EventRecorder({ client: plane.client, instance: 'w' });
    const { workload } = reload(namespace);
    recorder.record({ workload, requestReason: 'a "new" pool\nof\u001b[31m nodes' });
    recorder.record({ workload, requestReason: 'x'.repeat(5000), failure: 'Invalid (KUBE_API 422)' });
    await recorder.flush(5000);
    const { body } = await plane.client.get<{ items: Event[] }>(`/api/v1/namespaces/${namespace}/events`);
    const seen = body.items.map(({ type, reason, source: { component }, message }) =>
      [type, reason, component, message].join(' | '),
    );
    const subject = `'web' of type 'Deployment' in namespace '${namespace}'`;
    const long = `${'x'.repeat(199)}…`;
    expect(seen.sort()).toEqual([
      `Normal | Reloaded | reroll | Reload requested ("a \\"new\\" pool of [31m nodes"), Updated ${subject}`,
      `Warning | ReloadFail | reroll | Reload requested ("${long}"), Update for ${subject} failed with error Invalid (KUBE_API 422)`,
    ]);
  });

  test('a workload with the longest name has events', async () => {
    const namespace = await plane.namespace();
    const results: string[] = [];
    const onResult: EventRecorderOptions['onResult'] = (result) => results.push(result);
    const recorder = new EventRecorder({ client: plane.client, instance: 'w', onResult });
    const { workload } = reload(namespace);
    const name = `${'a'.repeat(199)}.${'b'.repeat(53)}`;
    recorder.record(reload(namespace, { workload: { ...workload, name } }));
    await recorder.flush(5000);
    expect(results).toEqual(['posted']);
  });
});

describe('beside the work', () => {
  /** Answers when told to; `fail` first answers so many calls with a status. */
  class Server {
    readonly open: (() => void)[] = [];
    calls = 0;
    readonly namespaces: (string | undefined)[] = [];
    failures: number[] = [];

    readonly client: Pick<KubeClient, 'post'> = {
      post: (path, _body, options) => {
        this.calls += 1;
        this.namespaces.push(path.split('/')[4]);
        const status = this.failures.shift();
        if (status !== undefined) return Promise.reject(apiError({ request: 'event', status, body: {} }));
        return new Promise((resolve, reject) => {
          this.open.push(() => resolve({ status: 201, body: {} as never, date: undefined }));
          options?.signal?.addEventListener('abort', () => reject(new Error('aborted')));
        });
      },
    };

    async answerAll(): Promise<void> {
      while (this.open.length > 0) {
        for (const answer of this.open.splice(0)) answer();
        await new Promise((resolve) => setImmediate(resolve));
      }
    }
  }

  function setUp(options: Partial<EventRecorderOptions> = {}): {
    server: Server;
    clock: FakeClock;
    recorder: EventRecorder;
    results: string[];
  } {
    const server = new Server();
    const clock = new FakeClock();
    const results: string[] = [];
    const onResult = (result: string): number => results.push(result);
    const base = { client: server.client, instance: 'w', clock, onResult };
    return { server, clock, results, recorder: new EventRecorder({ ...base, ...options }) };
  }

  test('two are posted at a time, the others wait', async () => {
    const { server, recorder, results } = setUp();
    for (let count = 0; count < 5; count += 1) recorder.record(reload('shop'));
    expect([server.calls, recorder.pending]).toEqual([2, 5]);
    await server.answerAll();
    expect([server.calls, recorder.pending, results.length]).toEqual([5, 0, 5]);
  });

  test('namespaces take turns, and one with many drops its own', async () => {
    const { server, recorder, results } = setUp({ maxWaiting: 3 });
    for (const namespace of ['many', 'many', 'shop', 'many', 'many', 'many', 'many'])
      recorder.record(reload(namespace));
    expect(results).toEqual(['dropped', 'dropped']);
    await server.answerAll();
    expect(server.namespaces).toEqual(['many', 'many', 'shop', 'many', 'many']);
  });

  test('the next one waits for more important work, and nothing is lost meanwhile', async () => {
    const { server, clock, recorder, results } = setUp({ isBusy: () => true });
    for (const namespace of ['many', 'many', 'shop']) recorder.record(reload(namespace));
    await clock.advance(9_000);
    expect([server.calls, recorder.pending]).toEqual([0, 3]);
    await clock.advance(2_000);
    await server.answerAll();
    expect([server.namespaces, results.length]).toEqual([['many', 'many', 'shop'], 3]);
    recorder.record(reload('shop'));
    const flushed = recorder.flush(5_000);
    await server.answerAll();
    await flushed;
    expect([recorder.pending, results.length]).toEqual([0, 4]);
  });

  test('when more than the limit wait, the oldest is dropped', async () => {
    const { recorder, results } = setUp({ maxWaiting: 3 });
    for (let count = 0; count < 7; count += 1) recorder.record(reload('shop'));
    expect([recorder.pending, results]).toEqual([5, ['dropped', 'dropped']]);
  });

  test('a failure that may pass is tried once more', async () => {
    const { server, clock, recorder, results } = setUp();
    server.failures = [503, 503];
    recorder.record(reload('shop'));
    await clock.advance(2000);
    expect([server.calls, results]).toEqual([2, ['failed']]);
  });

  test('one that will not pass is not', async () => {
    const { server, clock, recorder, results } = setUp();
    server.failures = [403];
    recorder.record(reload('shop'));
    await clock.advance(2000);
    expect([server.calls, results]).toEqual([1, ['failed']]);
  });

  test('flush waits for what is on its way, and no longer than it may', async () => {
    const { server, clock, recorder, results } = setUp();
    for (let count = 0; count < 4; count += 1) recorder.record(reload('shop'));
    const flushed = recorder.flush(3000);
    await clock.advance(3000);
    await flushed;
    await clock.advance(0);
    expect(results.sort()).toEqual(['dropped', 'dropped', 'failed', 'failed']);
    recorder.record(reload('shop'));
    expect([server.calls, recorder.pending, results.length]).toEqual([2, 0, 5]);
    expect(clock.pending).toBe(0);
  });
});
