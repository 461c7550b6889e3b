import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { encodeWorkload } from '@reroll/redis/catalog/row-codec';
import type { WorkloadRow } from '@reroll/core/state/rows';
import { markerHash } from '@reroll/core/marker/marker-hash';
import { hashKey, recordHash } from '@reroll/core/record/record-hash';
import { Notifications } from '@reroll/redis/queue/notifications';
import { AdminApi, TOKENS } from '../support/admin/admin-api.ts';
import { callsAbout, NOWHERE, OPERATION_IDS } from '../support/admin/api-calls.ts';
import { auto, configMap, deployment, naming, secret, usingEnvFrom } from '../support/objects/builders.ts';
import { cleanUp } from '../support/cleanup.ts';
import { sharedCluster } from '../support/cluster.ts';
import {
  connect,
  namespace,
  type KubeObject,
  type SourceRef,
  type Space,
  type WorkloadRef,
} from '../support/kube.ts';
import { dumpRedis } from '../support/redis/redis-dump.ts';
import { keyIn, startReroll, type Reroll } from '../support/reroll.ts';
import { RolloutCount, inStep, recordOf } from '../support/objects/rollouts.ts';
import { Sink } from '../support/sink.ts';
import { eventually } from '../support/wait.ts';

/**
 * What write access to Redis permits (docs/threat-model.md): at most to reload a workload whose own annotations opt in, or
 * to hold reloads back. Nobody else's workload is written to, no data and no hash that could be guessed by comes out, no
 * process ends, and what is not concerned goes on.
 */
const KEY = 'k'.repeat(32);
const KEYS = [hashKey(Buffer.from(KEY))];
const PASSWORD = 'hunter2-of-the-outside';
const AUTO = { 'reloader.stakater.com/auto': 'true' };

/** None of these asks for anything. */
const SILENT: readonly WorkloadRef[] = ['Deployment/silent', 'Deployment/paused'];

let space: Space;
let outside: Space;
let reroll: Reroll;
let sink: Sink;
let notifications: Notifications;
let before: readonly KubeObject[];

beforeAll(async () => {
  const cluster = sharedCluster();
  [space, outside] = [await namespace(connect(cluster)), await namespace(connect(cluster))];
  sink = await Sink.open();
  const folder = mkdtempSync(join(tmpdir(), 'reroll-e2e-key-'));
  cleanUp(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, 'key'), KEY);
  await outside.apply(
    secret('private', { password: PASSWORD }),
    deployment('elsewhere', usingEnvFrom('Secret/private')),
  );
  await space.apply(
    configMap('cm', { v: '1' }),
    configMap('calm', { v: '1' }),
    secret('private', { password: PASSWORD }),
    deployment('witness', auto(), usingEnvFrom('cm')),
    deployment('opted', auto(), usingEnvFrom('calm')),
    deployment('patterned', naming('calm.*')),
    deployment('silent', usingEnvFrom('cm'), usingEnvFrom('Secret/private')),
    deployment('paused', usingEnvFrom('cm')),
  );
  await space.patch('Deployment/paused', { spec: { paused: true } });
  reroll = await startReroll({
    cluster,
    namespaces: [space],
    admins: 1,
    sweepInterval: '1s',
    flags: [`--hash-key-file=${join(folder, 'key')}`, '--attempts=2', '--backoff=50ms'],
    workerFlags: ['--stalled-lock=4s', '--alert-on-reload', `--alert-webhook-url=${sink.url('/alerts')}`],
  });
  const { prefix } = reroll.catalog.keys;
  notifications = new Notifications({ connection: reroll.redis, prefix, attempts: 1, backoff: 50 });
  cleanUp(() => notifications.close());
  for (const ref of ['witness', 'opted'])
    await inStep(space, `Deployment/${ref}`, [ref === 'opted' ? 'ConfigMap/calm' : 'ConfigMap/cm'], {
      keys: KEYS,
    });
  await inStep(space, 'Deployment/patterned', ['ConfigMap/calm'], { keys: KEYS });
  await reroll.idle();
  before = await Promise.all(SILENT.map((ref) => space.get(ref)));
});

/** A later change of something else is reloaded once, by the very processes that were there before. */
async function workGoesOn(): Promise<void> {
  const rollouts = await RolloutCount.from(space, 'Deployment/witness');
  await space.setData('ConfigMap/cm', { v: `${Math.random()}` });
  await inStep(space, 'Deployment/witness', ['ConfigMap/cm'], { keys: KEYS });
  expect(await rollouts.now()).toBe(1);
}

afterEach(async () => {
  await workGoesOn();
  for (const app of reroll.apps) expect(app.isRunning, app.name).toBe(true);
  expect(reroll.apps).toHaveLength(3);
  const now = await Promise.all(SILENT.map((ref) => space.get(ref)));
  expect(now.map(({ spec, metadata }) => [spec, metadata.annotations])).toEqual(
    before.map(({ spec, metadata }) => [spec, metadata.annotations]),
  );
  expect(recordOf(await outside.get('Deployment/elsewhere'))).toEqual({});
});

function row(of: KubeObject, more: Partial<WorkloadRow> = {}): WorkloadRow {
  return {
    uid: of.metadata.uid,
    generation: of.metadata.generation,
    rv: of.metadata.resourceVersion,
    createdAt: 1,
    template: 'forged',
    templateRv: '1',
    hasContainers: true,
    uses: ['ConfigMap/cm', 'Secret/private'],
    mentions: [],
    marks: [],
    dependencies: ['ConfigMap/cm', 'Secret/private'],
    unverified: ['ConfigMap/cm'],
    baselines: { 'ConfigMap/cm': '1', 'Secret/private': '1' },
    stale: [],
    annotations: AUTO,
    podAnnotations: {},
    record: undefined,
    resumeAt: undefined,
    ...more,
  };
}

async function reload(space: Space, ref: WorkloadRef, source?: SourceRef): Promise<void> {
  const job = { workload: keyIn(space, ref), since: 1, ...(source && { source: keyIn(space, source) }) };
  await reroll.queues.enqueueReloads([job]);
}

describe('forged jobs', () => {
  it('to reload what asks for nothing, in scope and outside, reload nothing', async () => {
    for (const ref of SILENT) await reload(space, ref, 'ConfigMap/cm');
    await reload(outside, 'Deployment/elsewhere', 'Secret/private');
    await reroll.idle();
    const outcomes = await eventually(async () => {
      const all = [...(await reroll.outcomes(space)), ...(await reroll.outcomes(outside))];
      const found = all.filter(({ workload }) => /silent|paused|elsewhere/.test(workload));
      return found.length === 3 && found;
    });
    expect(outcomes.map(({ state, reason }) => [state, reason])).toEqual(
      outcomes.map(() => ['unchanged', 'NotAnnotated']),
    );
  });

  it('about Secrets leave no hash behind by which their data could be guessed', async () => {
    const sources = [keyIn(space, 'Secret/private'), keyIn(outside, 'Secret/private')];
    for (const source of sources) {
      await reroll.queues.enqueueChanges([source], Date.now());
      await eventually(() => reroll.redis.exists(reroll.catalog.keys.readings + source), {
        what: 'a reading',
      });
    }
    await reroll.idle();
    const redis = await dumpRedis(reroll.redis);
    const data = { data: { password: Buffer.from(PASSWORD).toString('base64') } };
    const plain = [
      markerHash('Secret', data),
      markerHash('Secret', data, { hash: 'sha256', keys: [] }),
      recordHash(data, []),
      createHash('sha1').update(PASSWORD).digest('hex'),
      createHash('sha256').update(PASSWORD).digest('hex'),
      PASSWORD,
      data.data.password,
    ];
    expect(redis).toContain(sources[1]);
    for (const hash of plain) expect(redis).not.toContain(hash);
  });

  it('that are none fail at once, before anything is asked for', async () => {
    const { changes, reloads } = reroll.queues;
    for (const queue of [changes, reloads]) {
      const key = `Deployment/../${space.name}`;
      const data = { v: 1, source: key, workload: key, since: 1 } as never;
      const { id = '' } = await queue.add('forged', data, { attempts: 2 });
      await eventually(async () => (await queue.getJobState(id)) === 'failed');
      const job = await queue.getJob(id);
      expect([job?.failedReason, job?.attemptsMade]).toEqual([expect.stringMatching(/^InvalidJob: /), 1]);
    }
  });

  it('of a version that nobody here knows stay for one who does, and hold up none of a known one for the same', async () => {
    for (const [queue, ref] of [
      [reroll.queues.changes, 'ConfigMap/cm'],
      [reroll.queues.reloads, 'Deployment/witness'],
    ] as const) {
      const data = { v: 2, about: keyIn(space, ref) };
      const deduplication = { id: data.about, keepLastIfActive: true };
      // BullMQ keeps a job for later while another one for the same is active, and drops it while one is waiting.
      await queue.pause();
      cleanUp(() => queue.resume());
      await eventually(async () => (await queue.getActiveCount()) === 0, { what: 'no active job' });
      await queue.removeDeduplicationKey(data.about);
      const job = await queue.add('forged', data as never, { attempts: 2, deduplication });
      await queue.resume();
      cleanUp(() => job.remove());
      await eventually(async () => (await queue.getJobState(job.id ?? '')) === 'delayed');
      await workGoesOn();
      await workGoesOn();
      expect((await queue.getJob(job.id ?? ''))?.data).toEqual(data);
    }
  });

  it('to resume do not end a pause that its owner began', async () => {
    await reroll.queues.enqueueResumes([{ workload: keyIn(space, 'Deployment/paused'), at: 0 }]);
    await reroll.idle();
    expect((await space.get('Deployment/paused')).spec).toMatchObject({ paused: true });
  });

  it('to tell somebody tell names to the receiver that is set up, and nothing else', async () => {
    const key = keyIn(outside, 'Secret/private');
    await notifications.enqueueAlert(key, keyIn(outside, 'Deployment/elsewhere'));
    const told = await eventually(() => sink.received.find(({ body }) => body.includes('elsewhere')));
    expect(told).toMatchObject({ path: '/alerts', body: expect.not.stringContaining(PASSWORD) as string });
    const keys = { source: `${key} <!channel>`, workload: key };
    const { id = '' } = await notifications.queue.add('forged', { v: 1, type: 'alert', ...keys } as never);
    await eventually(async () => (await notifications.queue.getJobState(id)) === 'failed');
    expect(sink.received.filter(({ body }) => body.includes('channel'))).toEqual([]);
  });
});

describe('forged rows of the catalog', () => {
  const forgeWorkload = async (ref: WorkloadRef, text: string): Promise<void> => {
    const { workloads } = reroll.catalog.keys;
    const key = keyIn(space, ref);
    const own = await reroll.redis.hget(workloads, key);
    await reroll.redis.hset(workloads, key, text);
    cleanUp(() => reroll.redis.hset(workloads, key, own ?? ''));
  };

  it('that say that a workload asks have it looked at, and not reloaded', async () => {
    for (const ref of SILENT) {
      const source = keyIn(space, 'ConfigMap/cm');
      await forgeWorkload(ref, encodeWorkload(row(await space.get(ref)), [source]));
      await reroll.redis.sadd(reroll.catalog.keys.users + source, keyIn(space, ref), 'no key', 'Gadget/a/b');
    }
    const lastChange = async (): Promise<unknown> => (await reroll.changes(space, 'ConfigMap/cm')).at(-1);
    await workGoesOn();
    expect(await lastChange()).toMatchObject({ woken: expect.any(Array) as unknown });
    await reroll.idle();
    await eventually(async () =>
      (await reroll.outcomes(space, 'Deployment/silent')).some(({ reason }) => reason === 'NotAnnotated'),
    );
  });

  it('of sources and what was read of them put no text of theirs into a pod template', async () => {
    const source = keyIn(space, 'ConfigMap/calm');
    const { keys } = reroll.catalog;
    const own = (await reroll.redis.hget(keys.sources, source)) ?? '';
    const forged = { rv: '99999999999', hash: `k${KEYS[0]?.id}.${'F'.repeat(43)}`, markerHash: '$(FORGED)' };
    const fake = { h: forged.hash, v: forged.rv, d: forged.rv, m: 1 };
    cleanUp(() => reroll.redis.hset(keys.sources, source, own));
    for (const markerHash of ['$(FORGED)', 'f'.repeat(40)]) {
      await reroll.redis.hset(keys.sources, source, JSON.stringify(fake));
      await reroll.redis.set(keys.readings + source, JSON.stringify({ ...forged, markerHash }));
      await reload(space, 'Deployment/opted', 'ConfigMap/calm');
      await reroll.idle();
    }
    const opted = await space.get('Deployment/opted');
    expect(JSON.stringify(opted)).not.toMatch(/FORGED|FFFFFFFF|ffffffff/);
    await inStep(space, 'Deployment/opted', ['ConfigMap/calm'], { keys: KEYS });
  });

  it('with names that lead elsewhere in the API are not followed', async () => {
    const patterned = await space.get('Deployment/patterned');
    const dependencies = ['ConfigMap/calm', 'ConfigMap/..', 'Secret/../../..', 'Gadget/calm'];
    const baselines = Object.fromEntries(dependencies.map((dependency) => [dependency, '1']));
    await forgeWorkload(
      'Deployment/patterned',
      encodeWorkload(row(patterned, { dependencies, baselines }), []),
    );
    await reload(space, 'Deployment/patterned');
    const outcome = await eventually(async () =>
      (await reroll.outcomes(space, 'Deployment/patterned')).find(({ since }) => since === 1),
    );
    expect(outcome).toMatchObject({
      state: 'unchanged',
      sources: { 'ConfigMap/calm': expect.anything() as string },
    });
    expect(Object.keys(outcome.sources)).toEqual(['ConfigMap/calm']);
    const { metadata } = await space.get('Deployment/patterned');
    expect(metadata.annotations).toEqual(patterned.metadata.annotations);
  });
});

describe('what is forged for people to see', () => {
  const GARBAGE = ['', 'no JSON', 'null', '[]', '{}', '{"at":"x"}'];

  /** Everything that the API reads. */
  async function everythingAnswers(): Promise<void> {
    const [admin] = reroll.admins;
    if (!admin) throw new Error('expected an admin');
    const api = new AdminApi(admin, TOKENS.reader);
    const calls = callsAbout({ ...NOWHERE, namespace: space.name, workload: 'opted' });
    const lists = OPERATION_IDS.filter((id) => /^list|^get(Limits|Status|Workload)$|^explain$/.test(id));
    for (const id of lists) {
      const asked =
        id === 'explain'
          ? { query: { ...calls.explain.query, source: keyIn(space, 'ConfigMap/calm') } }
          : calls[id];
      const response = await api.request(id, asked);
      expect(response.status, `${id}: ${await response.text()}`).toBe(200);
    }
  }

  it('is left out where it is no entry', async () => {
    const { keys } = reroll.catalog;
    for (const stream of [keys.changes, keys.outcomes, keys.rolloutHistory, keys.audit])
      for (const text of GARBAGE) await reroll.redis.xadd(stream, '*', 'entry', text);
    const now = Date.now();
    const worker = { app: 'worker', name: 'w', version: '9', startedAt: now + 1e9, seenAt: now + 1e9 };
    const forged = [...GARBAGE, JSON.stringify({ ...worker, settings: { decision: { keys: {} } } })];
    const fields = Object.fromEntries(forged.map((text, index) => [`forged-${index}`, text]));
    for (const key of [keys.processes, keys.limits, keys.requests, keys.rollouts]) {
      await reroll.redis.hset(key, fields);
      cleanUp(() => reroll.redis.hdel(key, ...Object.keys(fields)));
    }
    await reroll.redis.hset(keys.limits, { concurrency: '1e9', reloadsPerMinute: '-1' });
    cleanUp(() => reroll.redis.hdel(keys.limits, 'concurrency', 'reloadsPerMinute'));
    await everythingAnswers();
    const metrics = (await reroll.admins[0]?.metrics()) ?? '';
    expect(metrics).toMatch(/^reroll_history_unusable_total [1-9]/mu);
  });

  it('is a request of a person: what asks for nothing is not reloaded for it', async () => {
    const { keys } = reroll.catalog;
    const request = { id: `${Date.now()}-0123456789`, actor: 'forged', reason: 'forged', at: Date.now() };
    for (const ref of SILENT) {
      const key = keyIn(space, ref);
      await reroll.redis.hset(keys.requests, key, JSON.stringify(request));
      cleanUp(() => reroll.redis.hdel(keys.requests, key));
      await reload(space, ref);
    }
    await reroll.idle();
    await everythingAnswers();
  });
});

it('what was forged is gone with the next leader, and a change of its sources is reloaded', async () => {
  await space.patch('Deployment/opted', { metadata: { annotations: { seen: 'anew' } } });
  const rollouts = await RolloutCount.from(space, 'Deployment/opted');
  await space.setData('ConfigMap/calm', { v: '2' });
  await inStep(space, 'Deployment/opted', ['ConfigMap/calm'], { keys: KEYS });
  expect(await rollouts.now()).toBe(1);
});

it('jobs that BullMQ itself cannot read hold up nothing', async () => {
  const { prefix } = reroll.catalog.keys;
  const times = { timestamp: '1', delay: '0', priority: '0' };
  const whole = { name: 'x', data: '{}', opts: '{"attempts":1}', ...times };
  const broken: readonly Record<string, string>[] = [
    { ...whole, data: 'no JSON' },
    { ...whole, opts: 'no JSON' },
    { ...whole, opts: 'null' },
    { ...whole, opts: '{"attempts":1e9,"backoff":{"type":"unheard"}}', data: '{"v":1}' },
    { ...whole, opts: '{"attempts":9,"repeat":{"every":1}}', parentKey: `${prefix}:changes:none` },
    { name: 'x' },
  ];
  for (const queue of ['changes', 'reloads']) {
    const list = `${prefix}:${queue}:wait`;
    const ids = broken.map((_each, index) => `forged-${index}`);
    for (const [index, fields] of broken.entries())
      await reroll.redis.hset(`${prefix}:${queue}:${ids[index]}`, fields);
    await reroll.redis.lpush(list, ...ids, 'not-even-there');
    cleanUp(async () => {
      for (const id of [...ids, 'not-even-there']) {
        for (const state of ['wait', 'active']) await reroll.redis.lrem(`${prefix}:${queue}:${state}`, 0, id);
        await reroll.redis.del(`${prefix}:${queue}:${id}`, `${prefix}:${queue}:${id}:lock`);
      }
    });
  }
  await workGoesOn();
  await workGoesOn();
});
