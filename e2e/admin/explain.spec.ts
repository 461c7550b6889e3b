import type { SourceKey, WorkloadKey } from '@reroll/core/model';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Explanation } from '@reroll/shared/api/explain';
import { DEFAULT_ANNOTATION_KEYS as KEYS } from '@reroll/core/annotations/annotation-keys';
import { explain, type Explanation as Explained } from '@reroll/core/explain/explain';
import { ExplainGatherer } from '@reroll/kube/gather-explain';
import { settingsInForce, Processes } from '@reroll/redis/processes/processes';
import { AdminApi, READER, tokensFile } from '../support/admin/admin-api.ts';
import {
  annotated,
  auto,
  configMap,
  cronJob,
  deployment,
  finishing,
  job,
  naming,
  searching,
  secret,
  statefulSet,
  usingEnvFrom,
  usingEnvKey,
  usingProjectedVolume,
  usingVolume,
} from '../support/objects/builders.ts';
import { sharedCluster } from '../support/cluster.ts';
import {
  connect,
  namespace,
  refOf,
  type Manifest,
  type SourceRef,
  type Space,
  type WorkloadRef,
} from '../support/kube.ts';
import { keyIn, startReroll, type Reroll } from '../support/reroll.ts';
import { RolloutCount, inStep, recordOf } from '../support/objects/rollouts.ts';
import { eventually } from '../support/wait.ts';

/** A workload, the source that it is asked about, and the answer. Every rule is in the tables of core. */
interface Case {
  readonly workload: Manifest;
  readonly source: string;
  readonly rule: string;
  readonly reason: Explanation['reason'];
  /** Whether it is rolled when the source changes, or comes to exist. */
  readonly reloads: boolean;
}

const CM = 'ConfigMap/cm';
const off = annotated({ [KEYS.auto]: 'false' });
const wave = { 'wave.pusher.com/update-on-config-change': 'true' };

/** Nobody watches it, so the catalog does not know it: only a read of the cluster can explain. */
const UNWATCHED: Case = {
  workload: cronJob('ignored-kind', auto(), usingEnvFrom('cm')),
  source: CM,
  rule: 'IgnoredWorkloadKind',
  reason: 'WorkloadKindIgnored',
  reloads: false,
};

const CASES: Readonly<Record<string, Case>> = {
  'a Job that is finished': {
    workload: job('finished', finishing(), auto(), usingEnvFrom('cm')),
    source: CM,
    rule: 'LeftAlone',
    reason: 'JobFinished',
    reloads: false,
  },
  'a kind of source that is not watched': {
    workload: deployment('ignored-source-kind', auto(), usingEnvFrom('Secret/keys')),
    source: 'Secret/keys',
    rule: 'IgnoredSourceKind',
    reason: 'SourceTypeIgnored',
    reloads: false,
  },
  'a source that a pattern names, and nothing uses': {
    workload: deployment('named', naming('c.')),
    source: CM,
    rule: 'NamedSource',
    reason: 'NamedByAnnotation',
    reloads: true,
  },
  'a search that finds a source which is used': {
    workload: deployment('searching', searching(), usingProjectedVolume('matching')),
    source: 'ConfigMap/matching',
    rule: 'SearchMatch',
    reason: 'SearchMatch',
    reloads: true,
  },
  'auto, and a source that is used': {
    workload: statefulSet('auto', auto(), usingVolume('cm')),
    source: CM,
    rule: 'AutoReload',
    reason: 'AutoReload',
    reloads: true,
  },
  "Wave's annotation": {
    workload: deployment('wave', off, annotated(wave), usingEnvFrom('cm')),
    source: CM,
    rule: 'AdoptedWave',
    reason: 'AdoptedAnnotation',
    reloads: true,
  },
  'a workload that says no': {
    workload: deployment('no', off, usingEnvFrom('cm')),
    source: CM,
    rule: 'NotAsked',
    reason: 'NotAnnotated',
    reloads: false,
  },
  'a pattern that cannot be used': {
    workload: deployment('pattern', off, naming('c[')),
    source: CM,
    rule: 'NotAsked',
    reason: 'InvalidPattern',
    reloads: false,
  },
  'a source that does not exist yet': {
    workload: deployment('absent', auto(), usingEnvKey('absent')),
    source: 'ConfigMap/absent',
    rule: 'AutoReload',
    reason: 'SourceAbsent',
    reloads: false,
  },
  'a rollout that is held back': {
    workload: deployment('paused', auto(), annotated({ [KEYS.pausePeriod]: '1h' }), usingEnvFrom('cm')),
    source: CM,
    rule: 'AutoReload',
    reason: 'AutoReload',
    reloads: true,
  },
};

let space: Space;
let reroll: Reroll;
let api: AdminApi;

/** Resolves when everything that happened so far is dealt with. Secrets are not watched, so no `settled`. */
async function dealtWith(): Promise<void> {
  changes += 1;
  await space.setData('ConfigMap/control', { n: String(changes) });
  await inStep(space, 'Deployment/control', ['ConfigMap/control']);
  await reroll.idle();
}
let changes = 0;

beforeAll(async () => {
  const cluster = sharedCluster();
  space = await namespace(connect(cluster));
  await space.apply(
    configMap('control', { n: '0' }),
    configMap('cm', { v: '1' }),
    configMap('matching', { v: '1' }, { annotations: { [KEYS.match]: 'true' } }),
    secret('keys', { v: '1' }),
    deployment('control', naming('control')),
    UNWATCHED.workload,
    ...Object.values(CASES).map(({ workload }) => workload),
  );
  await eventually(async () =>
    JSON.stringify((await space.get('Job/finished')).status).includes('"Complete"'),
  );
  reroll = await startReroll({
    cluster,
    namespaces: [space],
    admins: 1,
    flags: ['--ignored-workload-types=cronjobs', '--resources-to-ignore=secrets', '--adopt=wave'],
    adminFlags: ['--auth=static', `--static-tokens-file=${tokensFile([READER])}`],
  });
  const [admin] = reroll.admins;
  if (!admin) throw new Error('expected an admin');
  api = new AdminApi(admin, READER.token);
  await dealtWith();
});

function ask({ workload, source }: Pick<Case, 'workload' | 'source'>): {
  workload: WorkloadKey;
  source: SourceKey;
} {
  return {
    workload: keyIn(space, refOf(workload) as WorkloadRef),
    source: keyIn(space, source as SourceRef),
  };
}

/** As the command line does it without an admin. */
async function fromCluster(of: Case): Promise<Explained> {
  const processes = new Processes(reroll.redis, reroll.catalog.keys.processes);
  const settings = settingsInForce(await processes.all());
  if (!settings) throw new Error('expected a worker that is alive');
  const gather = new ExplainGatherer(space.client, settings.decision);
  const asked = ask(of);
  const [workload, source] = [await gather.workload(asked.workload), await gather.source(asked.source)];
  if (!workload) throw new Error(`expected ${asked.workload}`);
  return explain({ workload, source, settings, from: 'cluster' });
}

function stepsOf({ rules }: Pick<Explanation, 'rules'> | Pick<Explained, 'rules'>): unknown[] {
  return rules.map(({ rule, outcome, decides, detail }) => [rule, outcome, decides, detail]);
}

async function explained(of: Case): Promise<Explanation> {
  return await api.call('explain', { query: ask(of) });
}

describe('why, and what then happens', () => {
  const before = new Map<string, Explanation>();
  const rolled = new Map<string, number>();

  beforeAll(async () => {
    for (const [name, of] of Object.entries(CASES)) before.set(name, await explained(of));
    const refs = [UNWATCHED, ...Object.values(CASES)].map(({ workload }) => refOf(workload));
    const counts = await Promise.all(refs.map((ref) => RolloutCount.from(space, ref)));
    const sources = new Set(Object.values(CASES).map(({ source }) => source));
    sources.delete('ConfigMap/absent');
    await space.apply(configMap('absent', { key: '1' }));
    for (const source of sources) await space.setData(source, { v: '2' });
    await dealtWith();
    const now = await Promise.all(counts.map((count) => count.now()));
    refs.forEach((ref, index) => rolled.set(ref, now[index] ?? 0));
  });

  it.each(Object.entries(CASES))('%s', (name, of) => {
    const answer = before.get(name);
    expect(answer?.rules.filter(({ decides }) => decides).map(({ rule }) => rule)).toEqual([of.rule]);
    expect(answer).toMatchObject({ reason: of.reason, reloads: of.reloads });
    expect(answer?.conclusion).toContain(of.reloads ? ' reloads when ' : ' does not reload when ');
    expect(rolled.get(refOf(of.workload))).toBe(of.reloads ? 1 : 0);
  });

  it('before the change nothing was due but a record, and after it nothing is, by what is recorded', async () => {
    for (const [name, of] of Object.entries(CASES)) {
      expect(before.get(name)?.due.state, name).not.toBe('owed');
      const { record, due, edge } = await explained(of);
      expect(due, name).toMatchObject({ state: null, known: true });
      if (edge) expect(record, name).toMatchObject({ agrees: true, recorded: record.current });
    }
  });

  it('a kind of workload that is ignored is known to nobody but who reads the cluster', async () => {
    const problem = await api.problem('explain', { query: ask(UNWATCHED) });
    expect(problem).toMatchObject({
      code: 'NotFound',
      detail: 'None is watched: workloads of kind CronJob are ignored.',
    });
    const { reason, rules } = await fromCluster(UNWATCHED);
    expect(reason).toBe(UNWATCHED.reason);
    expect(rules.find(({ decides }) => decides)?.rule).toBe(UNWATCHED.rule);
    expect(rolled.get(refOf(UNWATCHED.workload))).toBe(0);
  });

  it('from the cluster alone, of sources metadata only, the rules come to the same', async () => {
    for (const [name, of] of Object.entries(CASES)) {
      const found = await fromCluster(of);
      const answer = await explained(of);
      expect(stepsOf(found), name).toEqual(stepsOf(answer));
      expect([found.reason, found.reloads, found.use.used], name).toEqual([
        answer.reason,
        answer.reloads,
        answer.use.used,
      ]);
      if (found.isDependency) expect(found.due, name).toMatchObject({ state: null, isKnown: false });
    }
  });
});

it('says how a container uses the source only where the pod template was read', async () => {
  const of = CASES['auto, and a source that is used'] ?? expect.fail();
  expect((await explained(of)).use).toMatchObject({ used: true, needed: true, places: null });
  expect((await fromCluster(of)).use.places).toEqual([
    { by: 'volume', container: 'app', init: false, name: 'volume-0' },
  ]);
});

it('says that a rollout is held back, and until when', async () => {
  const { holds } = await explained(CASES['a rollout that is held back'] ?? expect.fail());
  expect(holds.map(({ reason, stops }) => [reason, stops])).toEqual([
    ['Paused', false],
    ['ReloadedPaused', false],
  ]);
  expect(holds[0]?.detail).toMatch(/^Its rollout is paused until 20/);
});

it('says that a queue is paused, which only puts a reload off', async () => {
  const of = CASES['auto, and a source that is used'] ?? expect.fail();
  await reroll.queues.reloads.pause();
  const { reloads, holds } = await explained(of);
  await reroll.queues.reloads.resume();
  expect(reloads).toBe(true);
  expect(holds.map(({ reason, stops }) => [reason, stops])).toEqual([['QueuePaused', false]]);
  expect((await explained(of)).holds).toEqual([]);
});

it('a source of another namespace than the workload is refused', async () => {
  const query = { workload: keyIn(space, 'Deployment/auto'), source: 'ConfigMap/elsewhere/cm' };
  expect(await api.problem('explain', { query })).toMatchObject({
    code: 'InvalidRequest',
    errors: [{ path: 'query.source', expected: "a source of the workload's namespace" }],
  });
});

it('writes nothing: no job, no outcome, no key besides the one that hashes are shown under', async () => {
  const keysNow = async (): Promise<string[]> =>
    (await reroll.redis.keys('*')).filter((key) => key.startsWith(reroll.catalog.keys.prefix)).sort();
  const [jobs, keys] = [await reroll.history.outcomes(1_000), await keysNow()];
  await api.call('preview', {
    body: {
      of: 'workload',
      workload: { kind: 'Deployment', namespace: space.name, name: 'no' },
      annotations: { [KEYS.auto]: 'true' },
    },
  });
  expect(await reroll.history.outcomes(1_000)).toEqual(jobs);
  expect(await keysNow()).toEqual(keys);
  expect(recordOf(await space.get('Deployment/no'))).toEqual({});
});
