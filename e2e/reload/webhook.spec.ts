import { beforeAll, expect, it } from 'vitest';
import { RECORD_ANNOTATION } from '@reroll/core/record/record';
import { auto, configMap, deployment, IGNORED, secret, usingEnvFrom } from '../support/objects/builders.ts';
import { sharedCluster } from '../support/cluster.ts';
import { connect, namespace, type Space } from '../support/kube.ts';
import { dumpRedis } from '../support/redis/redis-dump.ts';
import { keyIn, startReroll, type Reroll } from '../support/reroll.ts';
import { markerVariables } from '../support/objects/rollouts.ts';
import { Sink } from '../support/sink.ts';
import { eventually } from '../support/wait.ts';

const TOKEN = 'tokenThatNobodyMaySee';

let space: Space;
let sink: Sink;
let reroll: Reroll;

beforeAll(async () => {
  space = await namespace(connect(sharedCluster()));
  sink = await Sink.open();
  await space.apply(
    configMap('used', { v: '1' }),
    configMap('unused', { v: '1' }),
    configMap('ignored', { v: '1' }, IGNORED),
    secret('keys', { v: '1' }),
    deployment('api', auto(), usingEnvFrom('used')),
  );
  reroll = await startReroll({
    cluster: sharedCluster(),
    namespaces: [space],
    sweepInterval: '1s',
    flags: [`--webhook-url=${sink.url(`/changed/${TOKEN}`)}`, '--backoff=50ms'],
  });
});

function body(kind: string, name: string, event = 'update'): string {
  return JSON.stringify({ event, kind, namespace: space.name, name });
}

function posted(expected: string): number {
  return sink.received.filter((request) => request.body === expected).length;
}

it('every change of data is posted, whatever the annotations and whether anybody uses it', async () => {
  await space.setData('ConfigMap/used', { v: '2' });
  await space.setData('ConfigMap/unused', { v: '2' });
  await space.setData('ConfigMap/ignored', { v: '2' });
  await space.setData('Secret/keys', { v: '2' });
  const expected = [
    body('ConfigMap', 'used'),
    body('ConfigMap', 'unused'),
    body('ConfigMap', 'ignored'),
    body('Secret', 'keys'),
  ];
  await eventually(() => expected.every((each) => posted(each) > 0), { what: 'four requests' });
  await reroll.idle();
  expect(sink.received.map((request) => request.body).sort()).toEqual(expected.sort());
  expect(sink.received[0]).toMatchObject({
    method: 'POST',
    path: `/changed/${TOKEN}`,
    type: 'application/json',
  });
});

it('neither a write of metadata, nor a creation or deletion, nor a job that is repeated or finds the source gone is posted', async () => {
  const before = sink.received.length;
  await space.apply(configMap('unused', { v: '2' }, { annotations: { note: 'new' } }));
  await space.apply(configMap('passing', { v: '1' }));
  await space.delete('ConfigMap/passing');
  const sources = [keyIn(space, 'ConfigMap/unused'), keyIn(space, 'ConfigMap/passing')];
  await reroll.queues.enqueueChanges(sources, Date.now());
  await reroll.idle();
  await space.setData('ConfigMap/used', { v: '3' });
  await eventually(() => posted(body('ConfigMap', 'used')) === 2, { what: 'the change after it' });
  await reroll.idle();
  expect(sink.received.length).toBe(before + 1);
});

it('no workload is written to, neither by a change nor by the resync', async () => {
  await eventually(async () => {
    const metrics = (await reroll.watchers[0]?.metrics()) ?? '';
    return /^reroll_sweep_duration_seconds_count [2-9]/mu.test(metrics);
  });
  await reroll.idle();
  const api = await space.get('Deployment/api');
  expect(markerVariables(api)).toEqual({});
  expect(api.metadata.annotations?.[RECORD_ANNOTATION]).toBeUndefined();
  expect(reroll.logs()).toContain('RELOADER_NAMESPACE is not set, skipping meta info configmap creation');
  expect(reroll.logs()).toContain(
    'webhook-url is set, will only send webhook, no resources will be reloaded',
  );
});

it('what the receiver refuses is posted again until it takes it, and the URL is told nowhere', async () => {
  sink.status = 503;
  await space.setData('Secret/keys', { v: '3' });
  await eventually(() => reroll.logs().includes('status 503'), { what: 'a refused webhook' });
  const dump = await dumpRedis(reroll.redis);
  sink.status = 200;
  const refused = posted(body('Secret', 'keys'));
  await eventually(() => posted(body('Secret', 'keys')) > refused, { what: 'the webhook again' });
  expect(dump).toContain('NotDelivered');
  expect(dump).not.toContain(TOKEN);
  expect(reroll.logs()).not.toContain(TOKEN);
});

it('with --reload-on-create and --reload-on-delete, creations and deletions are posted as such, once each, also by a dry run; what changed while everything was down is posted at the start, with --webhook-body=legacy too', async () => {
  await reroll.stop();
  const other = await Sink.open();
  const flags = [
    `--webhook-url=${other.url('/changed')}`,
    '--reload-on-create=true',
    '--reload-on-delete=true',
  ];
  const options = { cluster: sharedCluster(), namespaces: [space], flags };
  const dryRun = { ...options, install: reroll.install, workerFlags: ['--dry-run'] };
  const counting = await startReroll(dryRun);
  const expected: string[] = [];
  const isPosted = async (event: string): Promise<void> => {
    expected.push(body('ConfigMap', 'born', event));
    await eventually(() => other.received.length >= expected.length, { what: `${event} posted` });
    await counting.idle();
    await counting.queues.enqueueChanges([keyIn(space, 'ConfigMap/born')], Date.now());
    await counting.idle();
    expect(other.received.map((request) => request.body)).toEqual(expected);
  };
  await space.apply(configMap('born', { v: '1' }));
  await isPosted('create');
  await space.setData('ConfigMap/born', { v: '2' });
  await isPosted('update');
  await space.delete('ConfigMap/born');
  await isPosted('delete');
  await space.apply(configMap('born', { v: '2' }));
  await isPosted('create');

  // What changes while everything is down is posted at the start, here in the words of stakater/Reloader.
  await counting.stop();
  await space.setData('Secret/keys', { v: 'while down' });
  const legacy = { ...options, install: reroll.install, workerFlags: ['--webhook-body=legacy'] };
  const again = await startReroll(legacy);
  const said = (): unknown[] => other.received.slice(expected.length);
  await eventually(() => said().length > 0, { what: 'the webhook' });
  await again.idle();
  expect(said()).toMatchObject([
    { method: 'POST', type: 'application/json', body: '{"webhook":"update successful"}' },
  ]);
});
