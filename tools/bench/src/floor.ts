import { randomBytes } from 'node:crypto';
import { envVarName } from '../../../libs/shared/src/core/marker/env-var-name.ts';
import type { EnvVar, PodTemplate } from '../../../libs/shared/src/core/model.ts';
import { RECORD_ANNOTATION } from '../../../libs/shared/src/core/record/record.ts';
import { pointer, type PatchOperation } from '../../../libs/shared/src/core/reload/json-patch.ts';
import type { KubeClient } from '../../../libs/shared/src/kube/connection.ts';
import { objectPath, type KubeObject } from '../../../libs/shared/src/kube/objects.ts';
import type { Bench } from './bench.ts';
import { forEach } from './each.ts';
import { KINDS } from './kinds.ts';
import { recordOf } from './manifests.ts';
import { scale, subtract, type RequestCounts } from './request-counts.ts';
import { untilQuiet } from './quiet.ts';
import { RolloutLog } from './rollout-log.ts';
import { RolloutWatch } from './rollout-watch.ts';
import { type ObjectId, type Source, idText } from './work.ts';
import type { WorkSet } from './work-set.ts';

/** What the same work takes with nothing but the API server and the client in the way. */
export interface Floor {
  /** The best of the rounds. */
  readonly ms: number;
  readonly rounds: readonly number[];
  readonly workloads: number;
  readonly concurrency: number;
  /** What the control plane does by itself for each rolled workload. */
  readonly reaction: RequestCounts;
}

interface Target {
  readonly id: ObjectId;
  readonly source: string;
  readonly record: string;
}

interface WorkloadObject extends KubeObject {
  readonly spec: { readonly template: PodTemplate };
}

const ROUNDS = 3;

/** Reads and patches every workload of the sources three times. To be called while no reloader runs. */
export async function measureFloor(bench: Bench, set: WorkSet, sources: readonly Source[]): Promise<Floor> {
  const { api, signal } = bench;
  const targets = sources.flatMap((source) => targetsOf(source, set.values.get(idText(source)) ?? ''));
  const concurrency = bench.options.workers * bench.options.concurrency;
  const client = api.open(concurrency);
  const watch = new RolloutWatch(api.client, KINDS[bench.options.kind], new RolloutLog(bench.generations));
  await watch.start();
  try {
    await untilQuiet(watch, signal);
    const [all, own] = [await api.serverRequests(signal), api.ownRequests()];
    const rounds: number[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      rounds.push(await oneRound({ bench, client, concurrency }, targets));
      await untilQuiet(watch, signal);
    }
    const sent = subtract(api.ownRequests(), own);
    const extra = subtract(subtract(await api.serverRequests(signal), all), sent);
    const reaction = scale(extra, 1 / (ROUNDS * targets.length));
    return { ms: Math.min(...rounds), rounds, workloads: targets.length, concurrency, reaction };
  } finally {
    await watch.stop();
    await client.close();
  }
}

function targetsOf({ name, workloads }: Source, value: string): Target[] {
  const record = recordOf(name, value);
  return workloads.map((id) => ({ id, source: name, record }));
}

async function oneRound(
  by: { bench: Bench; client: KubeClient; concurrency: number },
  targets: readonly Target[],
): Promise<number> {
  const { bench, client, concurrency } = by;
  const resource = KINDS[bench.options.kind];
  // As long as the hash that a reloader writes, and new in every round.
  const hash = randomBytes(20).toString('hex');
  const began = performance.now();
  await forEach(targets, { concurrency, signal: bench.signal }, async (target) => {
    const path = objectPath(resource, target.id);
    const { body } = await client.get<WorkloadObject>(path);
    const patched = await client.patch<KubeObject>(path, patchOf(body, target, hash), {
      query: { fieldManager: 'Reloader' },
    });
    bench.generations.set(idText(target.id), patched.body.metadata.generation ?? 1);
  });
  return performance.now() - began;
}

/** As Reroll's: tests, the record (which stays true, so that nothing is owed afterwards), a variable. */
function patchOf({ metadata, spec }: WorkloadObject, target: Target, hash: string): PatchOperation[] {
  const record = pointer('/metadata/annotations', RECORD_ANNOTATION);
  return [
    { op: 'test', path: '/metadata/uid', value: metadata.uid },
    { op: 'test', path: '/metadata/generation', value: metadata.generation ?? null },
    { op: 'test', path: record, value: metadata.annotations?.[RECORD_ANNOTATION] ?? null },
    { op: 'add', path: record, value: target.record },
    variableOperation(spec.template.spec?.containers?.[0]?.env, {
      name: envVarName('ConfigMap', target.source),
      value: hash,
    }),
  ];
}

function variableOperation(env: readonly EnvVar[] | undefined, variable: EnvVar): PatchOperation {
  const path = '/spec/template/spec/containers/0/env';
  if (!env) return { op: 'add', path, value: [variable] };
  const index = env.findIndex(({ name }) => name === variable.name);
  if (index < 0) return { op: 'add', path: `${path}/-`, value: variable };
  return { op: 'replace', path: `${path}/${index}`, value: variable };
}
