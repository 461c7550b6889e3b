import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { hashKey } from '@reroll/core/record/record-hash';
import {
  annotated,
  auto,
  configMap,
  deployment,
  naming,
  secret,
  statefulSet,
  usingEnvFrom,
  usingEnvKey,
  usingVolume,
  variable,
} from '../support/objects/builders.ts';
import { AdminApi, TOKENS } from '../support/admin/admin-api.ts';
import { callsAbout, OPERATION_IDS } from '../support/admin/api-calls.ts';
import { cleanUp } from '../support/cleanup.ts';
import { sharedCluster } from '../support/cluster.ts';
import { EventReader, presentEventId } from '../support/admin/event-reader.ts';
import { connect, namespace, type Space } from '../support/kube.ts';
import { refuseUpdates } from '../support/objects/policy.ts';
import { dumpRedis } from '../support/redis/redis-dump.ts';
import { keyIn, startReroll, type Reroll } from '../support/reroll.ts';
import { inStep } from '../support/objects/rollouts.ts';
import { eventually } from '../support/wait.ts';

/** Of letters and digits only, so that no notation of it differs. */
function marker(): string {
  return `marker${randomBytes(16).toString('hex')}`;
}

/** In Secrets. */
const PLANTED = [marker(), marker(), marker()];
/** In a variable of a workload, which a policy quotes when it refuses that workload. */
const QUOTED = marker();
/** Of the hashes in the records. */
const KEY = marker();
const KEYS = [hashKey(Buffer.from(KEY))];

/** Every notation in which one could turn up; base64 of it depends on what is before it. */
function notations(text: string): string[] {
  const shifted = ['', 'x', 'xx'].map((before) => {
    const encoded = Buffer.from(before + text).toString('base64');
    return encoded.slice(4, -4);
  });
  const hex = Buffer.from(text).toString('hex');
  const twice = Buffer.from(Buffer.from(text).toString('base64')).toString('base64').slice(0, -4);
  return [text, ...shifted, hex, hex.toUpperCase(), twice];
}

/** Each place where one was found, with what is before it. */
function found(where: string): string[] {
  return [...PLANTED, QUOTED, KEY].flatMap(notations).flatMap((notation) => {
    const at = where.indexOf(notation);
    return at < 0 ? [] : [where.slice(Math.max(0, at - 300), at + notation.length)];
  });
}

let space: Space;
let reroll: Reroll;
/** As `Last-Event-ID`: before everything that happened. */
let beginning: string;

beforeAll(async () => {
  const cluster = sharedCluster();
  const folder = mkdtempSync(join(tmpdir(), 'reroll-e2e-key-'));
  cleanUp(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, 'key'), KEY);
  space = await namespace(connect(cluster));
  reroll = await startReroll({
    cluster,
    namespaces: [space],
    watchers: 2,
    admins: 1,
    sweepInterval: '1s',
    flags: ['--log-level=trace', '--attempts=2', '--backoff=50ms', `--hash-key-file=${join(folder, 'key')}`],
  });
  const [admin] = reroll.admins;
  if (!admin) throw new Error('expected an admin');
  beginning = await presentEventId(new AdminApi(admin));
  const data = { password: 'first', nested: '{"token":"first"}' };
  await space.apply(
    secret('keys', data),
    configMap('cm', { v: '1' }),
    deployment('api', auto(), usingEnvFrom('Secret/keys')),
    statefulSet('db', auto(), usingVolume('Secret/keys')),
    deployment('refused', auto(), usingEnvKey('Secret/keys'), variable('QUOTED', QUOTED)),
    deployment('forbidden', auto(), usingEnvKey('Secret/keys'), variable('QUOTED', QUOTED)),
    deployment('wrong', naming('Secret/key['), annotated({ note: QUOTED }), usingEnvFrom('Secret/keys')),
  );
  for (const ref of ['Deployment/api', 'StatefulSet/db', 'Deployment/refused', 'Deployment/forbidden']) {
    await inStep(space, ref, ['Secret/keys'], { keys: KEYS });
  }
});

it('nothing of a Secret is found in Redis, logs, Events, metrics or on the workload, reloads that fail included', async () => {
  const message = `'refused, for it has ' + object.spec.template.spec.containers[0].env[1].value`;
  const refusal = await refuseUpdates(space, {
    workloads: ['refused', 'forbidden'],
    reason: 'Invalid',
    message,
  });
  for (const planted of PLANTED) {
    await space.setData('Secret/keys', { password: planted, nested: `{"token":"${planted}"}` });
    await inStep(space, 'Deployment/api', ['Secret/keys'], { keys: KEYS });
  }
  await eventually(async () =>
    (await reroll.outcomes(space, 'Deployment/refused')).some(({ state }) => state === 'failed'),
  );
  // The API server does quote it, or this would prove nothing.
  await expect(refusalText()).resolves.toContain(QUOTED);
  await refusal.end();
  await refuseAgain(message);

  // Jobs that hold it, as whoever may write to Redis can make them: they must not be told on.
  const [planted = ''] = PLANTED;
  for (const queue of [reroll.queues.changes, reroll.queues.reloads]) {
    const data = { v: 1, [planted]: planted, source: planted, workload: planted } as never;
    const { id = '' } = await queue.add('foreign', data);
    await eventually(async () => (await queue.getJobState(id)) === 'failed');
    const job = await queue.getJob(id);
    expect(job?.failedReason).toMatch(/^InvalidJob: /);
    expect(found(`${job?.failedReason} ${JSON.stringify(job?.stacktrace)}`)).toEqual([]);
    await job?.remove();
  }

  const api = await apiAnswers();
  for (const seen of [keyIn(space, 'Deployment/refused'), '"name":"keys"']) expect(api).toContain(seen);
  expect(found(api)).toEqual([]);

  // After the end: everything has been flushed.
  const metrics = await Promise.all(reroll.apps.map((app) => app.metrics()));
  await reroll.stop();
  const redis = await dumpRedis(reroll.redis);
  expect(redis).toContain(keyIn(space, 'Deployment/refused'));
  expect(found(redis)).toEqual([]);
  expect(reroll.logs()).toContain('failed with error Invalid: KUBE_API 422 Invalid');
  expect(found(reroll.logs())).toEqual([]);
  // Nor is whoever used the API to be had from what it leaves behind.
  for (const token of Object.values(TOKENS)) {
    expect(reroll.logs()).not.toContain(token);
    expect(redis).not.toContain(token);
  }
  const events = JSON.stringify(await space.events());
  expect(events).toContain('ReloadFail');
  expect(events).toContain('InvalidAnnotation');
  expect(found(events)).toEqual([]);
  expect(found(metrics.join('\n'))).toEqual([]);
  for (const ref of ['Deployment/api', 'StatefulSet/db']) {
    expect(found(JSON.stringify(await space.get(ref)))).toEqual([]);
  }
});

it('would be found, had it been left anywhere in Redis', async () => {
  const { redis, catalog } = reroll;
  const key = (name: string): string => `${catalog.keys.prefix}:e2e:${name}`;
  const base64 = (text: string): string => Buffer.from(`{"password":"${text}"}`).toString('base64');
  const places: readonly ((text: string) => Promise<unknown>)[] = [
    (text) => redis.set(key('string'), `before ${base64(text)}`),
    (text) => redis.hset(key('hash'), 'field', text),
    (text) => redis.hset(key('hash'), text, 'value'),
    (text) => redis.rpush(key('list'), text),
    (text) => redis.sadd(key('set'), base64(text)),
    (text) => redis.zadd(key('zset'), 1, text),
    (text) => redis.xadd(key('stream'), '*', 'field', base64(text)),
    (text) => redis.set(key(text), 'value'),
  ];
  const texts = places.map(marker);
  await Promise.all(places.map((place, index) => place(texts[index] ?? '')));
  const dump = await dumpRedis(redis);
  const missed = texts.filter((text) => !notations(text).some((notation) => dump.includes(notation)));
  expect(missed).toEqual([]);
  await redis.del(...['string', 'hash', 'list', 'set', 'zset', 'stream', texts.at(-1) ?? ''].map(key));
});

/** Whatever the API has to say: all operations, with and without an error, events from the beginning, and its pages. */
async function apiAnswers(): Promise<string> {
  const [admin] = reroll.admins;
  if (!admin) throw new Error('expected an admin');
  const api = new AdminApi(admin);
  const { items } = await api.call('listChanges', { query: { source: keyIn(space, 'Secret/keys') } });
  const failed = await api.call('listJobs', { query: { state: 'failed' } });
  const about = { namespace: space.name, change: items[0]?.id ?? '', job: failed.items[0]?.id ?? '' };
  const calls = callsAbout({ ...about, workload: 'refused' });
  const events = await EventReader.open(api, { lastEventId: beginning });
  const texts: string[] = [];
  for (const id of OPERATION_IDS.filter((each) => each !== 'streamEvents')) {
    const answer = await api.request(id, calls[id]);
    texts.push(`${id} ${answer.status} ${JSON.stringify([...answer.headers])} ${await answer.text()}`);
    const bad = await api.fetch(`/api/v1/${PLANTED[0]}?${id}=${PLANTED[1]}`);
    texts.push(await bad.text());
  }
  await eventually(() => events.named('audit').some(({ data }) => data['action'] === 'setLimits'));
  return [...texts, JSON.stringify(events.events)].join('\n');
}

/** The same with a 403, which is tried again. */
async function refuseAgain(message: string): Promise<void> {
  const failed = async (): Promise<boolean> =>
    (await reroll.outcomes(space, 'Deployment/forbidden')).some(({ reason }) => reason === 'Forbidden');
  const refusal = await refuseUpdates(space, { workloads: ['forbidden'], reason: 'Forbidden', message });
  await space.setData('Secret/keys', { password: PLANTED[0] ?? '', again: PLANTED[1] ?? '' });
  await eventually(failed);
  await refusal.end();
  await inStep(space, 'Deployment/forbidden', ['Secret/keys'], { keys: KEYS });
  await reroll.idle();
}

async function refusalText(): Promise<string> {
  const { server, token, ca } = sharedCluster().access;
  const { request } = await import('node:https');
  const body = JSON.stringify([{ op: 'add', path: '/spec/template/metadata/labels/probe', value: 'x' }]);
  return await new Promise((resolve, reject) => {
    const sent = request(`${server}${space.path('Deployment/refused')}?dryRun=All`, {
      method: 'PATCH',
      ca,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json-patch+json' },
    });
    sent.on('error', reject);
    sent.on('response', (answer) => {
      const chunks: Buffer[] = [];
      answer.on('data', (chunk: Buffer) => chunks.push(chunk));
      answer.on('end', () => resolve(Buffer.concat(chunks).toString()));
    });
    sent.end(body);
  });
}
