import { beforeAll, describe, expect, it } from 'vitest';
import { auto, configMap, deployment, statefulSet, usingEnvFrom } from '../support/objects/builders.ts';
import { sharedCluster } from '../support/cluster.ts';
import { connect, namespace, type Space } from '../support/kube.ts';
import { dumpRedis } from '../support/redis/redis-dump.ts';
import { keyIn, startReroll, type Reroll } from '../support/reroll.ts';
import { adopted, change, inStep } from '../support/objects/rollouts.ts';
import { Sink } from '../support/sink.ts';
import { eventually } from '../support/wait.ts';

/** Part of the URL, as the tokens of chats are. */
const TOKEN = 'tokenThatNobodyMaySee';
const FLAGS = ['--backoff=50ms', '--notification-timeout=60s'];

let space: Space;
let sink: Sink;

async function changed(name: string, v: string): Promise<void> {
  await change(space, `ConfigMap/${name}`, v, [`Deployment/${name}`]);
}

function about(name: string): string[] {
  return sink.received.map(({ body }) => body).filter((body) => body.includes(`*${name}*`));
}

describe('an alert, sent to slack,', () => {
  let reroll: Reroll;

  beforeAll(async () => {
    space = await namespace(connect(sharedCluster()));
    sink = await Sink.open();
    reroll = await startReroll({
      cluster: sharedCluster(),
      namespaces: [space],
      workerFlags: FLAGS,
      env: {
        ALERT_ON_RELOAD: 'True',
        ALERT_SINK: ' Slack ',
        ALERT_WEBHOOK_URL: sink.url(`/hooks/${TOKEN}?key=${TOKEN}`),
        ALERT_ADDITIONAL_INFO: 'cluster <a>',
      },
    });
  });

  it('has the words and the bytes of stakater/Reloader', async () => {
    await adopted(space, 'plain');
    await changed('plain', '2');
    await eventually(() => about('plain').length === 1, { what: 'the alert' });
    const { name } = space;
    const text =
      String.raw`cluster \u003ca\u003e : Reloader detected changes in *plain* of type *CONFIGMAP* in namespace ` +
      `*${name}*. Hence reloaded *plain* of type *Deployment* in namespace *${name}*`;
    expect(sink.received.find(({ body }) => body.includes('*plain*'))).toEqual({
      status: 200,
      method: 'POST',
      path: `/hooks/${TOKEN}?key=${TOKEN}`,
      type: 'application/json',
      body: `{"attachments":[{"author_name":"Reloader","color":"good","text":"${text}"}]}`,
    });
  });

  it('that a receiver does not answer holds up no reload', async () => {
    for (const name of ['first', 'second', 'third']) await adopted(space, name);
    sink.hold();
    await changed('first', '2');
    await eventually(() => about('first').length === 1, { what: 'the alert that has no answer' });
    await changed('second', '2');
    await changed('third', '2');
    await changed('first', '3');
    sink.release();
    await eventually(() => about('second').length === 1 && about('third').length === 1);
    await eventually(() => about('first').length === 2);
  });

  it('is delivered once the receiver is there again and accepts it, and its URL is neither in Redis nor in a log', async () => {
    await adopted(space, 'down');
    await sink.down();
    await changed('down', '2');
    await eventually(() => reroll.logs().includes('ECONNREFUSED'), { what: 'a refused connection' });
    sink.status = 500;
    await sink.up();
    await eventually(() => reroll.logs().includes('status 500'), { what: 'a refused alert' });
    const dump = await dumpRedis(reroll.redis);
    sink.status = 200;
    const delivered = about('down').length;
    await eventually(() => about('down').length > delivered, { what: 'the alert' });
    await eventually(async () => {
      const metrics = (await reroll.workers[0]?.metrics()) ?? '';
      expect(metrics).toMatch(/^reroll_notifications_total\{type="alert",result="retry"\} [1-9]/mu);
      expect(metrics).toMatch(/^reroll_notifications_total\{type="alert",result="failed"\} 0$/mu);
      return metrics.includes('result="delivered"');
    });
    expect(dump).toContain('NotDelivered');
    expect(dump).not.toContain(TOKEN);
    expect(reroll.logs()).not.toContain(TOKEN);
  });
});

describe('with ALERT_GROUPING=change', () => {
  it('all workloads that a change reloads are one alert, in plain text for a plain webhook', async () => {
    space = await namespace(connect(sharedCluster()));
    sink = await Sink.open();
    const reroll = await startReroll({
      cluster: sharedCluster(),
      namespaces: [space],
      workerFlags: [...FLAGS, '--notification-attempts=20'],
      env: {
        ALERT_ON_RELOAD: '1',
        ALERT_WEBHOOK_URL: sink.url('/'),
        ALERT_GROUPING: 'change',
        ALERT_WINDOW: '0',
      },
    });
    await space.apply(
      configMap('many', { v: '1' }),
      deployment('api', auto(), usingEnvFrom('many')),
      statefulSet('db', auto(), usingEnvFrom('many')),
      deployment('web', auto(), usingEnvFrom('many')),
    );
    const refs = ['Deployment/api', 'StatefulSet/db', 'Deployment/web'];
    for (const ref of refs) await inStep(space, ref, ['ConfigMap/many']);
    // Until an attempt has all three, nothing is accepted: how fast they reload decides nothing.
    sink.status = 500;
    await space.setData('ConfigMap/many', { v: '2' });
    const sending = `${reroll.catalog.keys.alerts}sending:${keyIn(space, 'ConfigMap/many')}`;
    const hasAll = ({ body }: { body: string }): boolean => body.includes('reloaded 3 workloads');
    await eventually(async () => sink.received.some(hasAll), { what: 'an attempt with all three' });
    sink.status = 200;
    await eventually(async () => (await reroll.redis.scard(sending)) === 0, { what: 'the alert' });
    const accepted = sink.received.filter(({ status }) => status === 200);
    expect(accepted.map(({ type }) => type)).toEqual(['text/plain']);
    expect(accepted.map(({ body }) => body)).toEqual([
      `Reloader detected changes in many of type CONFIGMAP in namespace ${space.name}. ` +
        `Hence reloaded 3 workloads in namespace ${space.name}: ` +
        'api of type Deployment, web of type Deployment, db of type StatefulSet',
    ]);
  });
});
