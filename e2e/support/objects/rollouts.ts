import { expect } from 'vitest';
import { keyOf, type Annotations, type EnvVar, type SourceKind } from '@reroll/core/model';
import { DEFAULT_ANNOTATION_KEYS } from '@reroll/core/annotations/annotation-keys';
import { parseLastReloadedFrom } from '@reroll/core/marker/last-reloaded-from';
import { RECORD_ANNOTATION, recordedHashes, type RecordedHashes } from '@reroll/core/record/record';
import { recordHash, sourceKeys, type HashKeys } from '@reroll/core/record/record-hash';
import { auto, configMap, deployment, naming, secret, source, usingEnvFrom } from './builders.ts';
import type { KubeObject, Ref, Space } from '../kube.ts';
import type { Reroll } from '../reroll.ts';
import { TemplateWatch } from './template-watch.ts';
import { eventually, type WaitOptions } from '../wait.ts';

/** What the record says of a workload's sources, by `<kind>/<name>`. */
export function recordOf(object: KubeObject): RecordedHashes {
  return recordedHashes(object.metadata.annotations?.[RECORD_ANNOTATION]);
}

/** Hash of a source's data as records have it. */
export function hashOf(source: KubeObject, keys: HashKeys = []): string {
  const { kind, metadata } = source;
  const key = keyOf({ kind: kind as SourceKind, namespace: metadata.namespace, name: metadata.name });
  return recordHash(source, sourceKeys(key, keys));
}

/** Variables of the incumbent, by container: `{ app: { STAKATER_CM_CONFIGMAP: '…' } }`. */
export function markerVariables(object: KubeObject): Record<string, Record<string, string | undefined>> {
  const containers = [
    ...(object.spec.template.spec?.initContainers ?? []),
    ...(object.spec.template.spec?.containers ?? []),
  ];
  const found = containers.map(({ name, env }) => [name, Object.fromEntries(markersOf(env ?? []))] as const);
  return Object.fromEntries(found.filter(([, markers]) => Object.keys(markers).length > 0));
}

function markersOf(env: readonly EnvVar[]): [string, string | undefined][] {
  return env.filter(({ name }) => name.startsWith('STAKATER_')).map(({ name, value }) => [name, value]);
}

/** Text of the incumbent's annotation in the pod template. */
export function markerText(object: KubeObject): string | undefined {
  const annotations: Annotations = object.spec.template.metadata?.annotations ?? {};
  return annotations[DEFAULT_ANNOTATION_KEYS.lastReloadedFrom];
}

export function markerAnnotation(object: KubeObject): ReturnType<typeof parseLastReloadedFrom> {
  const text = markerText(object);
  return text === undefined ? undefined : parseLastReloadedFrom(text);
}

/** Resolves when the workload's record has the present hash of each of these sources (`ConfigMap/cm`). */
export async function inStep(
  space: Space,
  ref: Ref,
  sources: readonly Ref[],
  options: WaitOptions & { keys?: HashKeys } = {},
): Promise<KubeObject> {
  const sourcesNow = await Promise.all(sources.map((source) => space.get(source)));
  const expected = Object.fromEntries(
    sources.map((source, index) => [source, hashOf(sourcesNow[index] as KubeObject, options.keys)]),
  );
  return await eventually(async () => {
    const object = await space.get(ref);
    expect(recordOf(object), `record of ${ref}`).toMatchObject(expected);
    return object;
  }, options);
}

const watches = new WeakMap<Space, Promise<TemplateWatch>>();

function watchOf(space: Space): Promise<TemplateWatch> {
  const watch = watches.get(space) ?? TemplateWatch.start(space);
  watches.set(space, watch);
  return watch;
}

/** How often a workload was reloaded since: how often its pod template was changed, by whomever. */
export class RolloutCount {
  readonly #watch: TemplateWatch;
  readonly #ref: Ref;
  readonly #from: number;

  private constructor(watch: TemplateWatch, ref: Ref, from: number) {
    this.#watch = watch;
    this.#ref = ref;
    this.#from = from;
  }

  static async from(space: Space, ref: Ref): Promise<RolloutCount> {
    const watch = await watchOf(space);
    return new RolloutCount(watch, ref, await watch.changes(ref));
  }

  async now(): Promise<number> {
    return (await this.#watch.changes(this.#ref)) - this.#from;
  }
}

/** Begins to count the rollouts of each of these workloads. */
export async function countRollouts(space: Space, refs: readonly Ref[]): Promise<() => Promise<number[]>> {
  const counts = await Promise.all(refs.map((ref) => RolloutCount.from(space, ref)));
  return async () => await Promise.all(counts.map((count) => count.now()));
}

/** A Deployment and the source of its name, which it uses, recorded; counts its rollouts from then on. */
export async function adopted(
  space: Space,
  name: string,
  ref: `${'ConfigMap' | 'Secret'}/${string}` = `ConfigMap/${name}`,
): Promise<RolloutCount> {
  await space.apply(source(ref, { v: '1' }), deployment(name, auto(), usingEnvFrom(ref)));
  await inStep(space, `Deployment/${name}`, [ref]);
  return await RolloutCount.from(space, `Deployment/${name}`);
}

/** Changes the data of a source, and resolves when the records of these workloads have it. */
export async function change(space: Space, ref: Ref, v: string, workloads: readonly Ref[]): Promise<void> {
  await space.setData(ref, { v });
  for (const workload of workloads) await inStep(space, workload, [ref]);
}

const CONTROL = 'e2e-control';
let changes = 0;

/**
 * Resolves when everything that happened in the namespace so far has been dealt with, so that what did not
 * happen by now will not happen either: a control workload whose sources are changed last has been reloaded,
 * and no job is left. (One stream tells of its objects in order, and a job is enqueued before those after it.)
 */
export async function settled(reroll: Reroll, space: Space): Promise<void> {
  changes += 1;
  const sources = [`ConfigMap/${CONTROL}`, `Secret/${CONTROL}`] as const;
  const data = { change: `${process.pid} ${changes}` };
  if (!(await space.find(`Deployment/${CONTROL}`))) {
    await space.apply(
      configMap(CONTROL, { change: '' }),
      secret(CONTROL, { change: '' }),
      deployment(CONTROL, naming(CONTROL, `Secret/${CONTROL}`)),
    );
    await inStep(space, `Deployment/${CONTROL}`, sources);
  }
  for (const source of sources) await space.setData(source, data);
  await inStep(space, `Deployment/${CONTROL}`, sources);
  await reroll.idle();
}
