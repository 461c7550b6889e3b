import { beforeAll, expect, it } from 'vitest';
import { sharedCluster } from '../support/cluster.ts';
import { connect, namespace, type Space } from '../support/kube.ts';
import { startReroll, type Reroll } from '../support/reroll.ts';
import { eventually } from '../support/wait.ts';

const REF = 'ConfigMap/reloader-meta-info';

let space: Space;
let reroll: Reroll;

beforeAll(async () => {
  space = await namespace(connect(sharedCluster()));
  reroll = await startReroll({
    cluster: sharedCluster(),
    namespaces: [space],
    workers: 0,
    flags: ['--webhook-url=https://hooks.example/tokenThatNobodyMaySee', '--reload-strategy=annotations'],
    env: { RELOADER_NAMESPACE: space.name, RELOADER_DEPLOYMENT_NAME: 'reroll' },
  });
});

interface MetaInfo {
  readonly data?: Readonly<Record<string, string>>;
}

async function data(): Promise<Record<string, unknown> | undefined> {
  const found = (await space.find(REF)) as MetaInfo | null;
  const entries = Object.entries(found?.data ?? {});
  return found?.data === undefined
    ? undefined
    : Object.fromEntries(entries.map(([key, text]) => [key, JSON.parse(text) as unknown]));
}

const EXPECTED = {
  buildInfo: { edition: 'oss' },
  reloaderOptions: { reloadStrategy: 'annotations', webhookUrl: 'hooks.example' },
  deploymentInfo: { name: 'reroll' },
};

it('the ConfigMap is there after the start, under the label of stakater/Reloader, without a credential', async () => {
  const written = await eventually(data, { what: 'the ConfigMap' });
  expect(Object.keys(written).sort()).toEqual(['buildInfo', 'deploymentInfo', 'reloaderOptions']);
  expect(written).toMatchObject(EXPECTED);
  const object = await space.get(REF);
  expect(object.metadata.labels).toEqual({ 'reloader.stakater.com/meta-info': 'reloader' });
  expect(JSON.stringify(object)).not.toContain('tokenThatNobodyMaySee');
});

it('the next watcher brings it up to date, and leaves what others wrote on it', async () => {
  await space.setData(REF, { buildInfo: '{}' });
  await space.annotate(REF, { owner: 'somebody' });
  const next = reroll.start('watcher');
  await eventually(() => next.logs().includes('Meta info configmap already exists, updating it'));
  await eventually(async () => {
    expect(await data()).toMatchObject(EXPECTED);
    return true;
  });
  expect((await space.get(REF)).metadata.annotations).toMatchObject({ owner: 'somebody' });
});

it('a watcher that cannot write it says so and goes on', async () => {
  const next = reroll.start('watcher', ['--reloader-namespace=not-there']);
  await eventually(() => next.logs().includes('cannot write the meta info ConfigMap'));
  await next.ready();
});

it('the log has the words of stakater/Reloader', async () => {
  const leader = await reroll.leader();
  expect(leader.logs()).toContain(`level=info msg="Watching scoped namespaces: ${space.name}"`);
  expect(leader.logs()).toContain('level=info msg="became leader, starting controllers"');
  expect(leader.logs()).toContain('level=info msg="still the leader!"');
  for (const type of ['configmaps', 'secrets'])
    expect(leader.logs()).toContain(
      `level=info msg="Starting Controller to watch resource type: ${type} in namespace: ${space.name}"`,
    );
  const [, standby] = reroll.watchers;
  await eventually(() => /level=info msg="new leader is [^"]+"/u.test(standby?.logs() ?? ''));
});
