import { describe, expect, it } from 'vitest';

import { ADOPTED_SYSTEMS, adoptedAnnotations, adoptionProblems, type AdoptedSystem } from './adopted.ts';
import { DEFAULT_ANNOTATION_KEYS } from '../annotations/annotation-keys.ts';
import { isDependency, namedSources } from '../state/dependencies/dependencies.ts';
import { observeWorkload } from '../state/observe.ts';
import type { Annotations, ObjectMeta, PodSpec } from '../model.ts';
import type { Reason } from '../reasons.ts';
import { decideReload } from '../rules/decision.ts';

const SPEC: PodSpec = {
  containers: [
    {
      name: 'app',
      envFrom: [{ configMapRef: { name: 'used' } }],
      volumeMounts: [{ name: 'v' }, { name: 'p' }],
    },
  ],
  volumes: [
    { name: 'v', secret: { secretName: 'mounted' } },
    { name: 'p', projected: { sources: [{ configMap: { name: 'projected' } }] } },
  ],
};

function observed(annotations: Annotations, by: { adopt?: readonly AdoptedSystem[]; spec?: PodSpec } = {}) {
  const { adopt = ADOPTED_SYSTEMS, spec = SPEC } = by;
  const metadata: ObjectMeta = {
    name: 'web',
    namespace: 'shop',
    uid: 'u',
    resourceVersion: '1',
    annotations,
  };
  const keys = { ...DEFAULT_ANNOTATION_KEYS, adopt };
  const workload = observeWorkload({ kind: 'Deployment', metadata, template: { spec } }, keys);
  const settings = { keys, autoReloadAll: false, ignoredWorkloadTypes: [] };
  return { workload, settings };
}

function rolls(source: string, at: ReturnType<typeof observed>): boolean {
  const known = [...at.workload.uses, ...namedSources(at.workload, at.settings.keys).literal];
  return (
    known.includes(source) &&
    isDependency({ workload: at.workload, source, annotations: undefined }, at.settings)
  );
}

describe('annotations of other systems', () => {
  const fabric8 = { 'configmap.fabric8.io/update-on-change': 'a, b' };
  const trigger = {
    'trigger.k8s.io/triggering-secrets': 'mounted,used,elsewhere',
    'trigger.k8s.io/triggering-configMaps': 'used,projected',
  };
  const wave = { 'wave.pusher.com/update-on-config-change': 'true' };
  const extra = { ...wave, 'wave.pusher.com/extra-secrets': 'more,shop/own,other/foreign' };
  const cases: Readonly<Record<string, readonly [Annotations, string, boolean]>> = {
    'fabric8 names a ConfigMap, used or not': [fabric8, 'ConfigMap/a', true],
    'fabric8 names a ConfigMap after a blank too': [fabric8, 'ConfigMap/b', true],
    'fabric8 names no Secret': [fabric8, 'Secret/a', false],
    'fabric8 names a ConfigMap that it does not list': [fabric8, 'ConfigMap/used', false],
    'trigger names a Secret that is a volume': [trigger, 'Secret/mounted', true],
    'trigger does not name a Secret that is no volume': [trigger, 'Secret/elsewhere', false],
    'trigger does not name a ConfigMap that is read by envFrom': [trigger, 'ConfigMap/used', false],
    'trigger does not name a ConfigMap of a projected volume': [trigger, 'ConfigMap/projected', false],
    'wave rolls for what is used': [wave, 'ConfigMap/used', true],
    'wave does not roll for what is not used': [wave, 'ConfigMap/a', false],
    'wave says "true" and nothing else': [
      { 'wave.pusher.com/update-on-config-change': 'True' },
      'ConfigMap/used',
      false,
    ],
    'an extra of wave, used or not': [extra, 'Secret/more', true],
    'an extra of wave with the own namespace': [extra, 'Secret/own', true],
    'an extra of wave of another namespace': [extra, 'Secret/foreign', false],
    'an extra of wave without its main annotation': [
      { 'wave.pusher.com/extra-secrets': 'more' },
      'Secret/more',
      false,
    ],
  };
  it.each(Object.entries(cases))('%s', (_, [annotations, source, expected]) => {
    expect(rolls(source, observed(annotations))).toBe(expected);
  });

  it('count for nothing without --adopt', () => {
    const all = { ...fabric8, ...trigger, ...extra };
    expect(observed(all, { adopt: [] }).workload.annotations).toEqual({});
    for (const source of ['ConfigMap/a', 'Secret/mounted', 'ConfigMap/used', 'Secret/more']) {
      expect(rolls(source, observed(all, { adopt: [] })), source).toBe(false);
    }
  });

  it('count for the systems that are named only', () => {
    expect(rolls('ConfigMap/used', observed(wave, { adopt: ['fabric8'] }))).toBe(false);
  });

  it('come after those of stakater/Reloader, so that an exclusion beats them', () => {
    const { workload, settings } = observed({
      ...wave,
      'configmaps.exclude.reloader.stakater.com/reload': 'used',
      'reloader.stakater.com/auto': 'true',
    });
    const reason = (name: string): Reason =>
      decideReload({ source: { kind: 'ConfigMap', name, annotations: {} }, workload, settings }).reason;
    expect([reason('used'), reason('other')]).toEqual(['SourceExcluded', 'AutoReload']);
  });
});

describe('what another system left', () => {
  const metadata: ObjectMeta = {
    name: 'web',
    namespace: 'shop',
    uid: 'u',
    resourceVersion: '1',
    finalizers: ['wave.pusher.com/finalizer'],
    annotations: {
      'wave.pusher.com/update-on-config-change': 'true',
      'wave.pusher.com/extra-configmaps': 'a,other/b',
    },
  };
  const workload = { metadata, template: { spec: { ...SPEC, schedulerName: 'wave.pusher.com/invalid' } } };

  it('is told: scheduler, finalizer, and sources of another namespace', () => {
    expect(adoptionProblems(adoptedAnnotations(workload, ['wave']))).toEqual([
      expect.stringContaining('schedulerName wave.pusher.com/invalid'),
      expect.stringContaining('finalizer wave.pusher.com/finalizer'),
      'wave.pusher.com/extra-configmaps: expected sources of its own namespace, given "other/b"',
    ]);
  });

  it('is not looked for in a workload of another system', () => {
    expect(adoptionProblems(adoptedAnnotations(workload, ['fabric8', 'trigger']))).toEqual([]);
  });
});
