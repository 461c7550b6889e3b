/**
 * What the annotations of other systems mean, as far as `--adopt` takes them over. A workload is observed with those that count,
 * translated into the form that the rules read; without `--adopt`, none count.
 */
import { annotationOf } from '../annotations/annotation-keys.ts';
import { splitList } from '../go-text.ts';
import type { Annotations, ObjectMeta, PodTemplate, SourceKind } from '../model.ts';
import { nameList } from '../patterns/patterns.ts';

/** ConfigmapController, k8s-trigger-controller, Wave. */
export const ADOPTED_SYSTEMS = ['fabric8', 'trigger', 'wave'] as const;
export type AdoptedSystem = (typeof ADOPTED_SYSTEMS)[number];

type KeyOfKind = Readonly<Partial<Record<SourceKind, string>>>;

/** Annotations that list names of sources, by system and kind. */
export const ADOPTED_LISTS: Readonly<Record<AdoptedSystem, KeyOfKind>> = {
  fabric8: { ConfigMap: 'configmap.fabric8.io/update-on-change' },
  trigger: {
    ConfigMap: 'trigger.k8s.io/triggering-configMaps',
    Secret: 'trigger.k8s.io/triggering-secrets',
  },
  wave: { ConfigMap: 'wave.pusher.com/extra-configmaps', Secret: 'wave.pusher.com/extra-secrets' },
};
/** Exactly `"true"`: reload for every source that is used. */
export const WAVE_AUTO = 'wave.pusher.com/update-on-config-change';
/** All that ask for reloads. */
export const ADOPTED_KEYS: readonly string[] = [
  WAVE_AUTO,
  ...Object.values(ADOPTED_LISTS).flatMap((lists) => Object.values(lists)),
];
/** Never on an object in the cluster: lists what an observed workload still has of Wave's. */
const LEFT_BY_WAVE = 'wave.pusher.com/left-behind';
const WAVE_SCHEDULER = 'wave.pusher.com/invalid';
const WAVE_FINALIZER = 'wave.pusher.com/finalizer';

interface Adoptable {
  readonly metadata: ObjectMeta;
  readonly template: PodTemplate;
}

/** Returns the annotations of other systems that count for a workload. */
export function adoptedAnnotations(workload: Adoptable, systems: readonly AdoptedSystem[]): Annotations {
  const found: Record<string, string> = {};
  for (const system of systems) {
    for (const [kind, key] of Object.entries(ADOPTED_LISTS[system])) {
      const list = annotationOf(workload.metadata.annotations ?? {}, key);
      if (list !== undefined) found[key] = counting(splitList(list), { system, kind }, workload).join(',');
    }
  }
  return systems.includes('wave') ? ofWave(found, workload) : found;
}

/** Returns the names of a list that count; Wave's names lose the prefix of the workload's own namespace. */
function counting(
  names: string[],
  by: { system: AdoptedSystem; kind: string },
  workload: Adoptable,
): string[] {
  const { system, kind } = by;
  if (system === 'trigger') {
    const volumes = plainVolumes(workload.template, kind);
    return names.filter((name) => volumes.has(name));
  }
  const own = `${workload.metadata.namespace}/`;
  return system === 'wave'
    ? names.map((name) => (name.startsWith(own) ? name.slice(own.length) : name))
    : names;
}

/** k8s-trigger-controller knows no other kind of use. */
function plainVolumes({ spec }: PodTemplate, kind: string): Set<string | undefined> {
  const volumes = spec?.volumes ?? [];
  return new Set(
    volumes.map(({ configMap, secret }) => (kind === 'Secret' ? secret?.secretName : configMap?.name)),
  );
}

function ofWave(found: Readonly<Record<string, string>>, { metadata, template }: Adoptable): Annotations {
  const left = [
    ...(template.spec?.schedulerName === WAVE_SCHEDULER ? ['schedulerName'] : []),
    ...(metadata.finalizers?.includes(WAVE_FINALIZER) ? ['finalizer'] : []),
  ];
  const auto = annotationOf(metadata.annotations ?? {}, WAVE_AUTO);
  return {
    ...found,
    ...(auto === undefined ? {} : { [WAVE_AUTO]: auto }),
    ...(left.length === 0 ? {} : { [LEFT_BY_WAVE]: left.join(',') }),
  };
}

const NONE: ReadonlySet<string> = new Set();

/** Returns the names in the lists of an observed workload, by kind. Wave's lists count only with its main annotation. */
export function adoptedNames(
  annotations: Annotations,
  system: AdoptedSystem,
  kind: SourceKind,
): ReadonlySet<string> {
  const key = ADOPTED_LISTS[system][kind];
  if (key === undefined) return NONE;
  if (system === 'wave' && annotationOf(annotations, WAVE_AUTO) !== 'true') return NONE;
  const list = annotationOf(annotations, key);
  return list === undefined || list === '' ? NONE : nameList(list).words;
}

const LEFT: Readonly<Record<string, string>> = {
  schedulerName: `Wave left schedulerName ${WAVE_SCHEDULER} in the pod template: without Wave its pods are never scheduled; remove it`,
  finalizer: `Wave left the finalizer ${WAVE_FINALIZER}: without Wave the workload cannot be deleted; remove it`,
};

/** Returns what the owner of an observed workload should change before the other system is removed. */
export function adoptionProblems(annotations: Annotations): string[] {
  const left = annotationOf(annotations, LEFT_BY_WAVE)?.split(',') ?? [];
  const foreign = (['ConfigMap', 'Secret'] as const).flatMap((kind) =>
    [...adoptedNames(annotations, 'wave', kind)]
      .filter((name) => name.includes('/'))
      .map(
        (name) =>
          `${ADOPTED_LISTS.wave[kind]}: expected sources of its own namespace, given ${JSON.stringify(name)}`,
      ),
  );
  return [...left.map((each) => LEFT[each] ?? each), ...foreign];
}
