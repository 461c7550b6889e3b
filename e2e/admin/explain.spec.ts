import { sample } from 'fast-check';
import { beforeAll, expect, it } from 'vitest';
import type { z } from 'zod';
import { previewAnswer } from '@reroll/shared/api/explained';
import type { Preview, previewRequest } from '@reroll/shared/api/explain';
import { previewSource } from '@reroll/core/explain/preview-source';
import { decidingKeys } from '@reroll/core/state/observe';
import { DEFAULT_ANNOTATION_KEYS as KEYS } from '@reroll/core/annotations/annotation-keys';
import { keyOf, partsOf, type Annotations } from '@reroll/core/model';
import { Processes, settingsInForce } from '@reroll/redis/processes/processes';
import { ExplainGatherer } from '@reroll/kube/gather-explain';
import { collectionPath, type KubeObject } from '@reroll/kube/objects';
import { WORKLOAD_DEFINITIONS } from '@reroll/kube/workloads/registry';
import { AdminApi, TOKENS } from '../support/admin/admin-api.ts';
import { sharedCluster } from '../support/cluster.ts';
import {
  SEED,
  SOURCES,
  WORKLOAD_ANNOTATIONS,
  generatedSources,
  generatedWorkloads,
} from '../support/objects/generated.ts';
import {
  connect,
  namespace,
  refOf,
  type Ref,
  type SourceRef,
  type Space,
  type WorkloadRef,
} from '../support/kube.ts';
import { keyIn, startReroll, type Reroll } from '../support/reroll.ts';
import { recordOf, settled } from '../support/objects/rollouts.ts';
import { eventually } from '../support/wait.ts';

/**
 * What a preview says is held against what then happens: whose pod templates are changed when a source changes, one after the
 * other, because a rollout for one source also brings what another one has by then. Everything is made of one seed; with
 * any other these tests have to hold too.
 */
const WORKLOADS = generatedWorkloads(40, SEED);
const GENERATED: ReadonlySet<Ref> = new Set(WORKLOADS.map(refOf));

type SourceRefId = Preview['verdicts'][number]['source'];
type WorkloadRefId = Preview['verdicts'][number]['workload'];

let space: Space;
let reroll: Reroll;
let api: AdminApi;

beforeAll(async () => {
  const cluster = sharedCluster();
  space = await namespace(connect(cluster));
  await space.applyAll([...generatedSources(SEED), ...WORKLOADS]);
  reroll = await startReroll({
    cluster,
    namespaces: [space],
    admins: 1,
    workerFlags: ['--cronjob-strategy=patch'],
  });
  const [admin] = reroll.admins;
  if (!admin) throw new Error('expected an admin');
  api = new AdminApi(admin, TOKENS.reader);
  await settled(reroll, space);
});

/** `<workload> <source>`, as references. */
type Pair = string;
type PreviewOf = z.input<typeof previewRequest>;

const sourceId = (ref: Ref): SourceRefId => partsOf(keyIn(space, ref as SourceRef));
const workloadId = (ref: Ref): WorkloadRefId => partsOf(keyIn(space, ref as WorkloadRef));

async function preview(body: PreviewOf): Promise<Preview> {
  return await api.call('preview', { body });
}

function pairOf({ workload, source }: Pick<Preview['verdicts'][number], 'workload' | 'source'>): Pair {
  return `${workload.kind}/${workload.name} ${source.kind}/${source.name}`;
}

function reloading(verdicts: Preview['verdicts']): Pair[] {
  return verdicts.filter(({ reloads }) => reloads).map(pairOf);
}

/** The pairs that reload, by the previews of these sources as they are. */
async function previewed(sources: readonly Ref[] = SOURCES): Promise<Pair[]> {
  const found = await Promise.all(sources.map((ref) => preview({ of: 'source', source: sourceId(ref) })));
  return found.flatMap(({ verdicts }) => reloading(verdicts)).sort();
}

/** The same by the command line's way without an admin. */
async function previewedFromCluster(): Promise<Pair[]> {
  const processes = new Processes(reroll.redis, reroll.catalog.keys);
  const settings = settingsInForce(await processes.all());
  if (!settings) throw new Error('expected a worker that is alive');
  const gather = new ExplainGatherer(space.client, settings.decision);
  const { workloads } = await gather.workloads(space.name);
  const { sources } = await gather.sources(space.name, ['ConfigMap', 'Secret']);
  const generated = sources.filter(({ key }) => SOURCES.some((ref) => keyIn(space, ref) === key));
  return generated
    .map((source) => previewAnswer(previewSource({ source, workloads, settings, from: 'cluster' })))
    .flatMap(({ verdicts }) => reloading(verdicts))
    .sort();
}

/** The pod templates, by reference. */
async function templates(): Promise<ReadonlyMap<Ref, string>> {
  const kinds = new Set(WORKLOADS.map(({ kind }) => kind));
  const lists = await Promise.all(
    WORKLOAD_DEFINITIONS.filter(({ kind }) => kinds.has(kind)).map(async (definition) => {
      const path = collectionPath(definition, space.name);
      const { body } = await space.client.get<{ items: KubeObject[] }>(path);
      return body.items.map(
        (object) =>
          [
            `${definition.kind}/${object.metadata.name}`,
            JSON.stringify(definition.template(object)),
          ] as const,
      );
    }),
  );
  return new Map(lists.flat().filter(([ref]) => GENERATED.has(ref)));
}

let round = 0;

/** Changes one source after the other, and finds after each that the templates of exactly those were changed that are expected. */
async function expectRolled(expected: readonly Pair[]): Promise<void> {
  round += 1;
  // Annotations that were just put on can make a source one that was changed while it did not count: that is pending at once.
  await settled(reroll, space);
  let before = await templates();
  for (const source of SOURCES) {
    const pairs = expected.filter((pair) => pair.endsWith(` ${source}`));
    await space.setData(source, { key: `${round}` });
    await settled(reroll, space);
    before = await eventually(async () => {
      const now = await templates();
      // What is between its deletion and its creation (a Job) is no answer yet.
      expect([...now.keys()].sort()).toEqual([...GENERATED].sort());
      const changed = [...now].filter(([ref, template]) => before.get(ref) !== template);
      expect(changed.map(([ref]) => `${ref} ${source}`).sort()).toEqual(pairs);
      return now;
    });
  }
}

/** Puts these in the place of those that decide; resolves when the catalog has them. */
async function annotate(ref: WorkloadRef, annotations: Annotations): Promise<void> {
  const gone = Object.fromEntries(decidingKeys(KEYS).map((key) => [key, null]));
  await space.annotate(ref, { ...gone, ...annotations });
  const key = keyIn(space, ref);
  await eventually(async () => {
    expect((await reroll.catalog.workloads([key])).get(key)?.annotations).toEqual(annotations);
    return true;
  });
}

/** `before`, but for the pairs that these previews are about, of which it is as they say. */
function withPreviews(before: readonly Pair[], previews: readonly Preview[]): Pair[] {
  const judged = new Set(previews.flatMap(({ verdicts }) => verdicts.map(pairOf)));
  const kept = before.filter((pair) => !judged.has(pair));
  return [...kept, ...previews.flatMap(({ verdicts }) => reloading(verdicts))]
    .filter((pair) => SOURCES.some((ref) => pair.endsWith(` ${ref}`)))
    .sort();
}

/** What they say of today has to be what the sources' previews say, and wherever they say nothing, nothing is other. */
function expectToday(before: readonly Pair[], previews: readonly Preview[]): void {
  for (const { verdicts, today } of previews) {
    const told = new Map(today.map((verdict) => [pairOf(verdict), verdict.reloads]));
    for (const verdict of verdicts) {
      const pair = pairOf(verdict);
      if (SOURCES.some((ref) => pair.endsWith(` ${ref}`)))
        expect([pair, told.get(pair) ?? verdict.reloads]).toEqual([pair, before.includes(pair)]);
    }
  }
}

it(`of each source: exactly those are reloaded that its preview names (seed ${SEED})`, async () => {
  const expected = await previewed();
  expect(expected.length).toBeGreaterThan(20);
  expect(await previewedFromCluster()).toEqual(expected);
  const { verdicts } = await preview({ of: 'source', source: sourceId(SOURCES[0] ?? expect.fail()) });
  for (const { workload, source, reloads, reason } of verdicts) {
    const query = { workload: keyOf(workload), source: keyOf(source) };
    expect(await api.call('explain', { query })).toMatchObject({ reloads, reason });
  }
  await expectRolled(expected);
});

it(`of annotations proposed for a workload: what is reloaded once it has them (seed ${SEED})`, async () => {
  const before = await previewed();
  const proposed = sample(WORKLOAD_ANNOTATIONS, { numRuns: WORKLOADS.length, seed: SEED + 1 });
  const chosen = WORKLOADS.map((manifest) => refOf(manifest) as WorkloadRef).filter(
    (_ref, index) => index % 3 === 0,
  );
  const annotationsOf = (index: number): Annotations => proposed[index] ?? {};
  const previews = await Promise.all(
    chosen.map((ref, index) =>
      preview({ of: 'workload', workload: workloadId(ref), annotations: annotationsOf(index) }),
    ),
  );
  expectToday(before, previews);
  const expected = withPreviews(before, previews);
  expect(expected).not.toEqual(before);
  await Promise.all(chosen.map((ref, index) => annotate(ref, annotationsOf(index))));
  expect(await previewed()).toEqual(expected);
  await expectRolled(expected);
});

it('hashes of a Secret are shown only keyed, though the workload has them plain', async () => {
  const pair = (await previewed(['Secret/app'])).at(0) ?? expect.fail('expected a workload of Secret/app');
  const [ref = ''] = pair.split(' ');
  const plain = recordOf(await space.get(ref))['Secret/app'] ?? '';
  expect(plain).toMatch(/^1\./);
  const query = { workload: keyIn(space, ref), source: keyIn(space, 'Secret/app') };
  const { record } = await api.call('explain', { query });
  expect(record).toMatchObject({ agrees: true, recorded: expect.stringMatching(/^shown\./) });
  expect(record.current).toBe(record.recorded);
  expect(await (await api.request('explain', { query })).text()).not.toContain(plain.slice(2));
});

it('writes nothing: no outcome, no key besides the one that hashes are shown under', async () => {
  const now = async (): Promise<unknown> => [
    await reroll.history.outcomes(1_000),
    (await reroll.redis.keys('*')).filter((key) => key.startsWith(reroll.catalog.keys.prefix)).sort(),
  ];
  const before = await now();
  await preview({ of: 'source', source: sourceId('ConfigMap/app') });
  expect(await now()).toEqual(before);
});

it('says that a queue is paused, which only puts a reload off; a source of another namespace is refused', async () => {
  const [pair = ''] = await previewed(['Secret/app']);
  const query = { workload: keyIn(space, pair.split(' ')[0] ?? ''), source: keyIn(space, 'Secret/app') };
  await reroll.queues.reloads.pause();
  const { reloads, holds } = await api.call('explain', { query });
  await reroll.queues.reloads.resume();
  expect(reloads).toBe(true);
  expect(holds.map(({ reason, stops }) => [reason, stops])).toContainEqual(['QueuePaused', false]);
  const elsewhere = { ...query, source: 'ConfigMap/elsewhere/cm' };
  expect(await api.problem('explain', { query: elsewhere })).toMatchObject({
    code: 'InvalidRequest',
    errors: [{ path: 'query.source', expected: "a source of the workload's namespace" }],
  });
});
