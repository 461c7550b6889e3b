import { randomBytes } from 'node:crypto';
import { envVarName } from '@reroll/core/marker/env-var-name';
import type { EnvVar, PodTemplate } from '@reroll/core/model';
import { RECORD_ANNOTATION } from '@reroll/core/record/record';
import { pointer, type PatchOperation } from '@reroll/core/reload/json-patch';
import type { KubeClient } from '@reroll/kube/client/connection';
import { objectPath, type KubeObject } from '@reroll/kube/objects';
import { type Bench, surroundings } from './bench.ts';
import { forEach } from './each.ts';
import { REROLL } from './options.ts';
import { DEPLOYMENTS } from './kinds.ts';
import { recordOf } from './manifests.ts';
import { meter, type Metered } from './measure/meter.ts';
import { scale, subtract, type RequestCounts } from './measure/request-counts.ts';
import { untilQuiet } from './measure/quiet.ts';
import { RolloutLog } from './measure/rollout-log.ts';
import { RolloutWatch } from './measure/rollout-watch.ts';
import { type ObjectId, type Source, idText } from './work.ts';
import type { WorkSet } from './work-set.ts';

/** What the same work takes with nothing but the API server and the client in the way. */
export interface Floor {
  /** The best of the rounds. */
  readonly ms: number;
  readonly rounds: readonly number[];
  readonly workloads: number;
  readonly concurrency: number;
  /** Of the best round. */
  readonly metered: Metered;
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
  const concurrency = REROLL.workers * REROLL.concurrency;
  const client = api.open(concurrency);
  try {
    await rest(bench);
    const [all, own] = [await api.serverRequests(signal), api.ownRequests()];
    const rounds: Round[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      rounds.push(await oneRound({ bench, client, concurrency }, targets));
      await rest(bench);
    }
    const sent = subtract(api.ownRequests(), own);
    const extra = subtract(subtract(await api.serverRequests(signal), all), sent);
    const times = rounds.map(({ ms }) => ms);
    bench.log(`floor: ${times.map((ms) => ms.toFixed(0)).join(', ')} ms for ${targets.length} workloads`);
    const reaction = scale(extra, 1 / (ROUNDS * targets.length));
    const { ms, metered } = best(rounds);
    return { ms, metered, rounds: times, workloads: targets.length, concurrency, reaction };
  } finally {
    await client.close();
  }
}

/** Until controllers have reacted. The watch is there for that alone: during a round it would take time. */
async function rest(bench: Bench): Promise<void> {
  const watch = new RolloutWatch(bench.api.client, new RolloutLog(bench.generations, bench.markers));
  await watch.start();
  try {
    await untilQuiet(watch, bench.signal);
  } finally {
    await watch.stop();
  }
}

function targetsOf({ name, workloads }: Source, value: string): Target[] {
  const record = recordOf(name, value);
  return workloads.map((id) => ({ id, source: name, record }));
}

interface Round {
  readonly ms: number;
  readonly metered: Metered;
}

function best(rounds: readonly Round[]): Round {
  return rounds.reduce((fastest, round) => (round.ms < fastest.ms ? round : fastest));
}

async function oneRound(
  by: { bench: Bench; client: KubeClient; concurrency: number },
  targets: readonly Target[],
): Promise<Round> {
  const { bench, client, concurrency } = by;
  // As long as the hash that a reloader writes, and new in every round.
  const hash = randomBytes(20).toString('hex');
  const usage = meter(surroundings(bench));
  const began = performance.now();
  await forEach(targets, { concurrency, signal: bench.signal }, async (target) => {
    const path = objectPath(DEPLOYMENTS, target.id);
    const { body } = await client.get<WorkloadObject>(path);
    const patched = await client.patch<KubeObject>(path, patchOf(body, target, hash), {
      query: { fieldManager: 'Reloader' },
    });
    bench.generations.set(idText(target.id), patched.body.metadata.generation ?? 1);
  });
  return { ms: performance.now() - began, metered: usage() };
}

/** As Reroll's: tests, the record (which stays true, so that nothing is pending afterwards), a variable. */
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
