import { KubeClient, MERGE_PATCH, type KubeRequest } from '@reroll/kube/client/connection';
import type { KubeObject } from '@reroll/kube/objects';
import { ControlPlane } from '@reroll/kube/testing/control-plane';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { simulatedKubeConfig, SimulatedApi } from './simulated-api.ts';
import { RandomRequests, type Step } from './testing/random-requests.ts';
import { Side, type Outcome } from './testing/side.ts';
import { virtualTime } from './testing/virtual-time.ts';

const CRDS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const ANY = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };

function definition(kind: string, group: string, version: { name: string; subresources?: object }): object {
  const plural = kind === 'Rollout' ? 'rollouts' : 'secretproviderclasspodstatuses';
  return {
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope: 'Namespaced',
      names: { kind, plural, singular: kind.toLowerCase(), listKind: `${kind}List` },
      versions: [
        {
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { ...ANY, properties: { spec: ANY, status: ANY } } },
          ...version,
        },
      ],
    },
  };
}

const DEFINITIONS = [
  definition('Rollout', 'argoproj.io', { name: 'v1alpha1', subresources: { status: {} } }),
  definition('SecretProviderClassPodStatus', 'secrets-store.csi.x-k8s.io', { name: 'v1' }),
];
const CUSTOM = [
  '/apis/argoproj.io/v1alpha1/rollouts',
  '/apis/secrets-store.csi.x-k8s.io/v1/secretproviderclasspodstatuses',
];

let plane: ControlPlane;

beforeAll(async () => {
  plane = await ControlPlane.start();
  for (const each of DEFINITIONS) await plane.client.post(CRDS, each);
  await untilServed(200);
});
afterAll(async () => {
  await vi.waitFor(releaseAll, { timeout: 20_000 });
  for (const { metadata } of DEFINITIONS as { metadata: { name: string } }[])
    await plane.client.request({ method: 'DELETE', path: `${CRDS}/${metadata.name}` });
  await untilServed(404);
  await plane.stop();
});

/** Takes the finalizers off, which would keep the definitions. */
async function releaseAll(): Promise<void> {
  const patch = { metadata: { finalizers: null } };
  for (const path of CUSTOM) {
    const { items } = (await plane.client.get<{ items: KubeObject[] }>(path)).body;
    const [root, plural] = [path.slice(0, path.lastIndexOf('/')), path.slice(path.lastIndexOf('/'))];
    for (const { metadata } of items)
      await plane.client.patch(`${root}/namespaces/${metadata.namespace}${plural}/${metadata.name}`, patch, {
        contentType: MERGE_PATCH,
      });
  }
}

async function untilServed(status: 200 | 404): Promise<void> {
  for (const path of CUSTOM)
    await vi.waitFor(async () => expect(await statusOf(path)).toBe(status), { timeout: 20_000 });
}

function statusOf(path: string): Promise<number> {
  return plane.client.get(path).then(
    ({ status }) => status,
    ({ status }: { status: number }) => status,
  );
}

async function bothSides() {
  const namespace = await plane.namespace();
  const time = virtualTime();
  const api = new SimulatedApi({ scheduler: time });
  api.as('spec').create({ kind: 'Namespace', namespace: '' }, { metadata: { name: namespace } });
  const client = new KubeClient({
    load: () => simulatedKubeConfig(),
    openPool: () => api.pool(undefined),
    userAgent: 'reroll-spec/0',
  });
  return {
    namespace,
    time,
    api,
    real: new Side(plane.client, (promise) => promise),
    simulated: new Side(client, (promise) => time.until(promise)),
  };
}

/** Kinds to whose objects the real server adds defaults that Reroll does not look at. */
const WITH_DEFAULTS = /deployments|statefulsets|daemonsets|jobs/;

/** How the answers differ; undefined if they do not. */
function difference(path: string, real: Outcome, simulated: Outcome): string | undefined {
  try {
    if (WITH_DEFAULTS.test(path)) expect(real).toMatchObject(simulated);
    else expect(simulated).toEqual(real);
    return undefined;
  } catch {
    return `real ${JSON.stringify(real)}\n  simulated ${JSON.stringify(simulated)}`;
  }
}

test.each([1, 2, 3])('random requests and watches are answered alike (seed %i)', async (seed) => {
  const { namespace, time, real, simulated } = await bothSides();
  const random = virtualTime(seed);
  const requests = new RandomRequests(namespace, () => random.random());
  const differences: string[] = [];
  for (let count = 0; count < 250 && differences.length < 5; count += 1) {
    const step: Step = requests.next();
    const request = step(real);
    const answers = [await real.ask(request), await simulated.ask(step(simulated))] as const;
    const found = difference(request.path, ...answers);
    if (found !== undefined)
      differences.push(`${count} ${JSON.stringify(request).slice(0, 500)}\n  ${found}`);
    if (count % 5 === 4) {
      const watch = requests.nextWatch();
      expect(await simulated.watch(watch(simulated))).toEqual(await real.watch(watch(real)));
    }
  }
  expect(differences.join('\n')).toBe('');
  await time.run(1_000);
  const events = simulated.events;
  await vi.waitFor(() => expect(real.events).toMatchObject(events), { timeout: 5_000 });
  expect(events.flat().length).toBeGreaterThan(10);
  for (const side of [real, simulated]) side.stop();
});

test('a list whose state was compacted goes on inconsistently, if the client wants that', async () => {
  const { namespace, real, simulated, api } = await bothSides();
  const path = `/api/v1/namespaces/${namespace}/configmaps`;
  const both = async (step: Step): Promise<Outcome> => {
    const answer = await real.ask(step(real));
    expect(await simulated.ask(step(simulated))).toEqual(answer);
    return answer;
  };
  const create = (name: string) => both(() => ({ method: 'POST', path, body: { metadata: { name } } }));
  for (const name of ['a', 'c', 'e']) await create(name);
  const first = await both(() => ({ method: 'GET', path, query: { limit: 1 } }));
  expect(first.body).toMatchObject({ items: [{ metadata: { name: 'a' } }] });
  await create('b');
  await create('d');
  const goOn: Step = (side) => ({ method: 'GET', path, query: { limit: 10, continue: side.next(path) } });
  const second = await both(goOn);
  expect(second.body).toMatchObject({ items: [{ metadata: { name: 'c' } }, { metadata: { name: 'e' } }] });
  await both(() => ({ method: 'GET', path, query: { limit: 1 } }));
  const { body } = await plane.client.post<KubeObject>(path, { metadata: { name: 'f' } });
  await plane.compact(body.metadata.resourceVersion);
  await plane.cluster.restart('apiserver');
  api.as('spec').create({ kind: 'ConfigMap', namespace }, { metadata: { name: 'f' } });
  api.compact(api.etcd.revision);
  expect(await both(goOn)).toMatchObject({ status: 410, reason: 'Expired' });
});

test('a resourceVersion of the future is a timeout with a cause', async () => {
  const { namespace, real, simulated } = await bothSides();
  const path = `/api/v1/namespaces/${namespace}/configmaps`;
  const query = { resourceVersion: '999999999' };
  const answer = await real.ask({ method: 'GET', path, query });
  expect(answer).toMatchObject({
    status: 504,
    reason: 'Timeout',
    causes: [{ reason: 'ResourceVersionTooLarge' }],
  });
  expect(await simulated.ask({ method: 'GET', path, query })).toEqual(answer);
});

test('managedFields tell who wrote which part, and when', async () => {
  const { namespace, real, simulated } = await bothSides();
  const maps = `/api/v1/namespaces/${namespace}/configmaps`;
  const rollouts = `/apis/argoproj.io/v1alpha1/namespaces/${namespace}/rollouts`;
  const by = (fieldManager: string) => ({ query: { fieldManager }, contentType: MERGE_PATCH });
  const rollout = {
    apiVersion: 'argoproj.io/v1alpha1',
    kind: 'Rollout',
    metadata: { name: 'a' },
    spec: { replicas: 1 },
  };
  const steps: readonly (readonly [string, KubeRequest])[] = [
    [
      maps,
      {
        method: 'POST',
        path: maps,
        body: { metadata: { name: 'a' }, data: { k: '1' } },
        query: { fieldManager: 'one' },
      },
    ],
    [
      maps,
      { method: 'PATCH', path: `${maps}/a`, body: { metadata: { annotations: { a: 'b' } } }, ...by('two') },
    ],
    [maps, { method: 'PATCH', path: `${maps}/a`, body: { data: { j: '2' } }, ...by('two') }],
    [rollouts, { method: 'POST', path: rollouts, body: rollout }],
    [rollouts, { method: 'PATCH', path: `${rollouts}/a`, body: { spec: { paused: true } }, ...by('one') }],
    [
      rollouts,
      { method: 'PATCH', path: `${rollouts}/a/status`, body: { status: { phase: 'Healthy' } }, ...by('one') },
    ],
  ];
  for (const [path, step] of steps) {
    await real.ask(step);
    await simulated.ask(step);
    expect(real.writers(path)).not.toEqual([]);
    expect(simulated.writers(path)).toEqual(real.writers(path));
  }
});

test('a generated name has five characters', async () => {
  const { namespace, real, simulated } = await bothSides();
  const path = `/api/v1/namespaces/${namespace}/configmaps`;
  for (const side of [real, simulated]) {
    const { body } = await side.ask({ method: 'POST', path, body: { metadata: { generateName: 'a-' } } });
    expect(body).toMatchObject({
      metadata: { name: expect.stringMatching(/^a-[a-z0-9]{5}$/), generateName: 'a-' },
    });
  }
});
