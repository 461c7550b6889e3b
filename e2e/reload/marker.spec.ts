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
  type Modifier,
  type SourceRef,
} from '../support/objects/builders.ts';
import { sharedCluster } from '../support/cluster.ts';
import { connect, namespace, type KubeEvent, type KubeObject, type Space } from '../support/kube.ts';
import { startReroll } from '../support/reroll.ts';
import { RolloutCount, inStep, markerText, markerVariables, settled } from '../support/objects/rollouts.ts';

/**
 * Every way of using a source, in both strategies, and every kind of workload and of source with each other: rolled once,
 * and marked as stakater/Reloader marks, byte for byte. Two containers, `web` and `app`; `app` is the one
 * that uses the source. What every combination comes to is a matter of `core`, and tested there.
 */
interface Way {
  readonly tells: string;
  readonly modifiers: (ref: SourceRef) => readonly Modifier[];
  readonly marked: 'web' | 'app';
  readonly matching?: boolean;
}

const WAYS: Readonly<Record<string, Way>> = {
  'env-from': {
    tells: 'reads all of it into its environment',
    modifiers: (ref) => [auto(), usingEnvFrom(ref)],
    marked: 'app',
  },
  'env-key': {
    tells: 'reads one key into its environment',
    modifiers: (ref) => [auto(), usingEnvKey(ref)],
    marked: 'app',
  },
  volume: { tells: 'mounts it', modifiers: (ref) => [auto(), usingVolume(ref)], marked: 'app' },
  projected: {
    tells: 'mounts it in a projected volume',
    modifiers: (ref) => [auto(), usingProjectedVolume(ref)],
    marked: 'app',
  },
  'init-env': {
    tells: 'reads it in an init container',
    modifiers: (ref) => [auto(), usingEnvInInit(ref)],
    marked: 'web',
  },
  'init-volume': {
    tells: 'mounts it in an init container',
    modifiers: (ref) => [auto(), usingVolumeInInit(ref)],
    marked: 'web',
  },
  named: { tells: 'names it and uses it nowhere', modifiers: (ref) => [naming(ref)], marked: 'web' },
  pattern: {
    tells: 'names it by a pattern and uses it nowhere',
    modifiers: (ref) => [naming(`${ref.slice(0, -1)}[a-z]`)],
    marked: 'web',
  },
  search: {
    tells: 'searches, and it matches',
    modifiers: (ref) => [searching(), usingEnvFrom(ref)],
    marked: 'app',
    matching: true,
  },
};

const OLD = { key: 'old', more: '1' };
const NEW = { key: 'new', more: '1' };
/** Computed here by the incumbent's rule, with nothing of ours. */
const NEW_SHA1 = createHash('sha1').update('key=new;more=1').digest('hex');

interface Case extends Way {
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
  return Object.entries(WAYS).map(([way, rest], index) => {
    const kind = KINDS[(first + index) % KINDS.length] ?? '';
    const sourceKind = SOURCE_KINDS[(first + index) % 2] ?? 'ConfigMap';
    const [name, sourceName] = ['-', '.'].map((dot) => `${way}${dot}${kind}-${sourceKind}`.toLowerCase());
    return { ...rest, kind, sourceKind, name: `${name}`, sourceName: `${sourceName}` };
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
  let space: Space;
  let events: readonly KubeEvent[];
  const before = new Map<string, KubeObject>();
  const after = new Map<string, KubeObject>();
  const rollouts = new Map<string, number>();

  beforeAll(async () => {
    const cluster = sharedCluster();
    space = await namespace(connect(cluster));
    const flags = [`--reload-strategy=${strategy}`];
    const reroll = await startReroll({ cluster, namespaces: [space], workerFlags: flags });
    await space.applyAll(
      cases.map(({ sourceKind, sourceName, matching }) =>
        source(`${sourceKind}/${sourceName}`, OLD, matching ? MATCHING : {}),
      ),
    );
    await space.applyAll(
      cases.map(({ kind, sourceKind, name, sourceName, modifiers }) => {
        const build = WORKLOAD_BUILDERS[kind] as (typeof WORKLOAD_BUILDERS)['Deployment'];
        return build(name, withContainers('web', 'app'), ...modifiers(`${sourceKind}/${sourceName}`));
      }),
    );
    for (const { kind, sourceKind, name, sourceName } of cases) {
      before.set(name, await inStep(space, `${kind}/${name}`, [`${sourceKind}/${sourceName}`]));
    }
    const counts = await Promise.all(
      cases.map(({ kind, name }) => RolloutCount.from(space, `${kind}/${name}`)),
    );
    await Promise.all(cases.map((one) => space.setData(`${one.sourceKind}/${one.sourceName}`, NEW)));
    for (const { kind, sourceKind, name, sourceName } of cases) {
      await inStep(space, `${kind}/${name}`, [`${sourceKind}/${sourceName}`]);
    }
    await settled(reroll, space);
    for (const [index, { kind, name }] of cases.entries()) {
      after.set(name, await space.get(`${kind}/${name}`));
      rollouts.set(name, (await counts[index]?.now()) ?? 0);
    }
    // Ends the worker orderly: it posts what Events it still has.
    await reroll.stop();
    events = await space.events();
  });

  it.each(cases)('rolls a $kind once that $tells: a $sourceKind', ({ name }) => {
    const [old, now] = [before.get(name), after.get(name)];
    expect(rollouts.get(name)).toBe(1);
    expect(withoutMarkers(now as KubeObject)).toEqual(withoutMarkers(old as KubeObject));
  });

  it.each(cases)('marks a $kind as the incumbent does that $tells: a $sourceKind', (one) => {
    const now = after.get(one.name) as KubeObject;
    const type = one.sourceKind.toUpperCase();
    if (strategy === 'env-vars') {
      expect(markerVariables(now)).toEqual({ [one.marked]: { [variableOf(one)]: NEW_SHA1 } });
      expect(markerText(now)).toBeUndefined();
    } else {
      const observedAt = /(?<="observedAt":)\d{10}(?=\}$)/.exec(markerText(now) ?? '')?.[0];
      expect(markerText(now)).toBe(
        `{"type":"${type}","name":"${one.sourceName}","namespace":"${space.name}","hash":"${NEW_SHA1}",` +
          `"containerRefs":["${one.marked}"],"observedAt":${observedAt}}`,
      );
      expect(Math.abs(Date.now() / 1000 - Number(observedAt))).toBeLessThan(120);
      expect(markerVariables(now)).toEqual({});
    }
  });

  it.each(cases)('tells of it by one Event on the $kind that $tells: a $sourceKind', (one) => {
    const { kind, name } = one;
    const type = one.sourceKind.toUpperCase();
    const about = events.filter(({ involvedObject: { kind: k, name: n } }) => k === kind && n === name);
    const ours = about.filter(({ source: { component } }) => component.startsWith('reloader-'));
    expect(ours.map(({ reason, message }) => ({ reason, message }))).toEqual([
      {
        reason: 'Reloaded',
        message:
          `Changes detected in '${one.sourceName}' of type '${type}' in namespace '${space.name}', ` +
          `Updated '${name}' of type '${kind}' in namespace '${space.name}'`,
      },
    ]);
  });

  it('writes as the field manager that GitOps settings name', () => {
    const managers = [...after.values()].map(({ metadata }) =>
      metadata.managedFields?.map(({ manager }) => manager),
    );
    for (const each of managers) expect(each).toContain('Reloader');
  });
});
