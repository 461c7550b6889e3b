import { createHash } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import {
  MATCHING,
  WORKLOAD_BUILDERS,
  auto,
  naming,
  searching,
  source,
  usingEnvFrom,
  usingEnvInInit,
  usingEnvKey,
  usingProjectedVolume,
  usingVolume,
  usingVolumeInInit,
  withContainers,
  type Builder,
  type Modifier,
  type SourceRef,
} from '../support/objects/builders.ts';
import { sharedCluster } from '../support/cluster.ts';
import { connect, namespace, type KubeEvent, type KubeObject, type Space } from '../support/kube.ts';
import { startReroll } from '../support/reroll.ts';
import { countRollouts, inStep, markerText, markerVariables, settled } from '../support/objects/rollouts.ts';

/**
 * Every way of using a source, in both strategies, and every kind of workload and of source with each other: reloaded
 * once, and marked as stakater/Reloader marks, byte for byte. Two containers, `web` and `app`; `app` is the one
 * that uses the source. What every combination comes to is a matter of `core`, and tested there.
 */
type Way = readonly [marked: 'web' | 'app', modifiers: (ref: SourceRef) => readonly Modifier[]];

const WAYS: Readonly<Record<string, Way>> = {
  'env-from': ['app', (ref) => [auto(), usingEnvFrom(ref)]],
  'env-key': ['app', (ref) => [auto(), usingEnvKey(ref)]],
  volume: ['app', (ref) => [auto(), usingVolume(ref)]],
  projected: ['app', (ref) => [auto(), usingProjectedVolume(ref)]],
  'init-env': ['web', (ref) => [auto(), usingEnvInInit(ref)]],
  'init-volume': ['web', (ref) => [auto(), usingVolumeInInit(ref)]],
  named: ['web', (ref) => [naming(ref)]],
  pattern: ['web', (ref) => [naming(`${ref.slice(0, -1)}[a-z]`)]],
  search: ['app', (ref) => [searching(), usingEnvFrom(ref)]],
};

const OLD = { key: 'old', more: '1' };
const NEW = { key: 'new', more: '1' };
/** Computed here by the incumbent's rule, with nothing of ours. */
const NEW_SHA1 = createHash('sha1').update('key=new;more=1').digest('hex');

interface Case {
  readonly way: string;
  readonly kind: string;
  readonly sourceKind: 'ConfigMap' | 'Secret';
  readonly name: string;
  /** Of the source: a dot where the workload has a dash, which reads alike in a variable. */
  readonly sourceName: string;
}

const KINDS = Object.keys(WORKLOAD_BUILDERS);
const SOURCE_KINDS = ['ConfigMap', 'Secret'] as const;

/** Each way once, the kinds in turn; another `first` pairs them otherwise. */
function casesFrom(first: number): Case[] {
  return Object.keys(WAYS).map((way, index) => {
    const kind = KINDS[(first + index) % KINDS.length] ?? '';
    const sourceKind = SOURCE_KINDS[(first + index) % 2] ?? 'ConfigMap';
    const [name, sourceName] = ['-', '.'].map((dot) => `${way}${dot}${kind}-${sourceKind}`.toLowerCase());
    return { way, kind, sourceKind, name: `${name}`, sourceName: `${sourceName}` };
  });
}

/** `volume.deployment-secret` → `STAKATER_VOLUME_DEPLOYMENT_SECRET_SECRET`. */
function variableOf({ name, sourceKind }: Case): string {
  return `STAKATER_${name.toUpperCase().replaceAll(/[-.]/g, '_')}_${sourceKind.toUpperCase()}`;
}

function withoutMarkers({ spec }: KubeObject): unknown {
  const { metadata, spec: pod } = spec.template;
  const { 'reloader.stakater.com/last-reloaded-from': _marker, ...annotations } = metadata?.annotations ?? {};
  const containers = pod?.containers?.map(({ env = [], ...container }) => ({
    ...container,
    env: env.filter(({ name }) => !name.startsWith('STAKATER_')),
  }));
  return { ...spec, template: { metadata: { ...metadata, annotations }, spec: { ...pod, containers } } };
}

describe.each([
  ['env-vars', 0],
  ['annotations', 1],
] as const)('with the strategy %s', (strategy, first) => {
  const cases = casesFrom(first);
  const refs = cases.map(({ kind, name }) => `${kind}/${name}`);
  const sources = cases.map(({ sourceKind, sourceName }) => `${sourceKind}/${sourceName}`);
  let space: Space;
  let events: readonly KubeEvent[];
  let before: readonly KubeObject[];
  let after: readonly KubeObject[];
  let rollouts: readonly number[];

  const allInStep = async (): Promise<KubeObject[]> =>
    await Promise.all(refs.map((ref, index) => inStep(space, ref, [sources[index] ?? ''])));

  beforeAll(async () => {
    const cluster = sharedCluster();
    space = await namespace(connect(cluster));
    const workerFlags = [`--reload-strategy=${strategy}`];
    const reroll = await startReroll({ cluster, namespaces: [space], workerFlags });
    await space.applyAll(sources.map((ref) => source(ref, OLD, ref.includes('search') ? MATCHING : {})));
    await space.applyAll(
      cases.map(({ way, kind, name }, index) => {
        const build = WORKLOAD_BUILDERS[kind] as Builder;
        const [, modifiers] = WAYS[way] as Way;
        return build(name, withContainers('web', 'app'), ...modifiers(sources[index] ?? ''));
      }),
    );
    before = await allInStep();
    const counts = await countRollouts(space, refs);
    await Promise.all(sources.map((ref) => space.setData(ref, NEW)));
    await allInStep();
    await settled(reroll, space);
    after = await Promise.all(refs.map((ref) => space.get(ref)));
    rollouts = await counts();
    // Ends the worker orderly: it posts what Events it still has.
    await reroll.stop();
    events = await space.events();
  });

  it.each(cases.map((one, index) => ({ ...one, index })))(
    '$way: a $kind is reloaded once for a $sourceKind, marked as the incumbent does, and tells of it by one Event',
    ({ index, ...one }) => {
      const [old, now] = [before[index], after[index]] as [KubeObject, KubeObject];
      expect(rollouts[index]).toBe(1);
      expect(withoutMarkers(now)).toEqual(withoutMarkers(old));
      expect(now.metadata.managedFields?.map(({ manager }) => manager)).toContain('Reloader');
      isMarked(now, one);
      const { kind, name, sourceName, sourceKind } = one;
      const about = events.filter(({ involvedObject: { kind: k, name: n } }) => k === kind && n === name);
      const ours = about.filter(({ source: { component } }) => component.startsWith('reloader-'));
      expect(ours.map(({ reason, message }) => ({ reason, message }))).toEqual([
        {
          reason: 'Reloaded',
          message:
            `Changes detected in '${sourceName}' of type '${sourceKind.toUpperCase()}' in namespace '${space.name}', ` +
            `Updated '${name}' of type '${kind}' in namespace '${space.name}'`,
        },
      ]);
    },
  );

  function isMarked(now: KubeObject, one: Case): void {
    const [container] = WAYS[one.way] as Way;
    if (strategy === 'env-vars') {
      expect(markerVariables(now)).toEqual({ [container]: { [variableOf(one)]: NEW_SHA1 } });
      expect(markerText(now)).toBeUndefined();
      return;
    }
    const observedAt = /(?<="observedAt":)\d{10}(?=\}$)/.exec(markerText(now) ?? '')?.[0];
    expect(markerText(now)).toBe(
      `{"type":"${one.sourceKind.toUpperCase()}","name":"${one.sourceName}","namespace":"${space.name}",` +
        `"hash":"${NEW_SHA1}","containerRefs":["${container}"],"observedAt":${observedAt}}`,
    );
    expect(Math.abs(Date.now() / 1000 - Number(observedAt))).toBeLessThan(120);
    expect(markerVariables(now)).toEqual({});
  }
});
