import {
  array,
  constantFrom,
  integer,
  oneof,
  record,
  sample,
  subarray,
  tuple,
  type Arbitrary,
} from 'fast-check';
import { DEFAULT_ANNOTATION_KEYS as KEYS } from '@reroll/core/annotations/annotation-keys';
import type { Annotations } from '@reroll/core/model';
import {
  annotated,
  cronJob,
  daemonSet,
  deployment,
  job,
  podAnnotated,
  source,
  statefulSet,
  usingEnvFrom,
  usingEnvInInit,
  usingEnvKey,
  usingProjectedVolume,
  usingVolume,
  usingVolumeInInit,
  withContainers,
  type Builder,
  type Modifier,
} from './builders.ts';
import type { Manifest } from '../kube.ts';

/** Of every run that is not told otherwise. */
export const SEED = 20_261_121;

/** No pattern below matches what `settled` changes. */
export const SOURCES = [
  'ConfigMap/app',
  'ConfigMap/app-1',
  'ConfigMap/app-2',
  'ConfigMap/shop.conf',
  'ConfigMap/db',
  'ConfigMap/x',
  'Secret/app',
  'Secret/tls',
  'Secret/tls-2',
  'Secret/db',
  'Secret/x9',
  'Secret/x',
] as const;

const BUILDERS: Readonly<Record<string, Builder>> = {
  deployment,
  statefulSet,
  daemonSet,
  cronJob,
  job,
};

/** Half of them are there. */
function maybe(values: Readonly<Record<string, Arbitrary<string>>>): Arbitrary<Annotations> {
  return record(values, { requiredKeys: [] }) as Arbitrary<Annotations>;
}

const flag = constantFrom('true', 'true', 'false', 'TRUE', 'yes', '');
const pattern = constantFrom(
  'app',
  'app-.*',
  'app-[12]',
  'shop.conf',
  'shop-conf',
  'x',
  'x.',
  '(app|db|x).*',
  '[',
  'a(',
  ' db ',
  '',
  'App',
  'nowhere',
);
const patterns = array(pattern, { minLength: 1, maxLength: 3 }).map((each) => each.join(','));
const names = subarray(['app', 'app-1', 'db', 'x', 'tls', 'APP', ' shop.conf'], {
  minLength: 1,
  maxLength: 3,
}).map((each) => each.join(','));

/** Annotations of a workload's own metadata, or of its pod template. */
const asking = maybe({
  [KEYS.auto]: flag,
  [KEYS.configMapAuto]: flag,
  [KEYS.secretAuto]: flag,
  [KEYS.search]: constantFrom('true', 'true', 'True'),
  [KEYS.configMapReload]: patterns,
  [KEYS.secretReload]: patterns,
  [KEYS.configMapExclude]: names,
  [KEYS.secretExclude]: names,
  [KEYS.pausePeriod]: constantFrom('1h', 'soon'),
});
/** Most say one or two things, and some nothing. */
export const WORKLOAD_ANNOTATIONS: Arbitrary<Annotations> = tuple(asking, integer({ min: 0, max: 4 })).map(
  ([all, most]) => Object.fromEntries(Object.entries(all).slice(0, most)),
);
const SOURCE_ANNOTATIONS: Arbitrary<Annotations> = oneof(
  constantFrom<Annotations>({}),
  maybe({ [KEYS.match]: constantFrom('true', 'yes'), [KEYS.ignore]: constantFrom('true', 'True') }),
);

/** Named by a volume that no container mounts. */
function unmounted(ref: string): Modifier {
  return (draft) => {
    const pod = draft.spec.template.spec;
    const [kind, name = ''] = ref.split('/');
    const what = kind === 'Secret' ? { secret: { secretName: name } } : { configMap: { name } };
    pod.volumes = [...(pod.volumes ?? []), { name: `idle-${pod.volumes?.length ?? 0}`, ...what }];
  };
}

const using = constantFrom(
  usingEnvFrom,
  usingEnvKey,
  usingVolume,
  usingProjectedVolume,
  usingEnvInInit,
  usingVolumeInInit,
  unmounted,
);
const use = tuple(using, constantFrom(...SOURCES)).map(([by, ref]) => by(ref));

const workload = record({
  // As often as they are met.
  builder: constantFrom(
    'deployment',
    'deployment',
    'deployment',
    'statefulSet',
    'daemonSet',
    'cronJob',
    'job',
  ),
  own: WORKLOAD_ANNOTATIONS,
  ofPods: oneof(constantFrom<Annotations>({}), WORKLOAD_ANNOTATIONS),
  uses: array(use, { maxLength: 4 }),
  containers: constantFrom(['app'], ['sidecar', 'app']),
});

export function generatedWorkloads(count: number, seed: number): Manifest[] {
  return sample(workload, { numRuns: count, seed }).map(
    ({ builder, own, ofPods, uses, containers }, index) => {
      const build = BUILDERS[builder] ?? deployment;
      return build(`w${index}`, withContainers(...containers), annotated(own), podAnnotated(ofPods), ...uses);
    },
  );
}

export function generatedSources(seed: number): Manifest[] {
  const annotations = sample(SOURCE_ANNOTATIONS, { numRuns: SOURCES.length, seed });
  return SOURCES.map((ref, index) => source(ref, { key: '0' }, { annotations: annotations[index] ?? {} }));
}
