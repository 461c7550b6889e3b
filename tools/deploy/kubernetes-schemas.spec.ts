import { beforeAll, describe, expect, it } from 'vitest';
import { manifestsWith, type Manifest } from './render.ts';
import { clusterVersion, ensureSchemas, kubernetesVersion } from './schemas/ensure-schemas.ts';
import { SchemaSet } from './schemas/schema-set.ts';
import { VALUES_MATRIX } from './testing/values-matrix.ts';

const VERSIONS = ['oldest', 'newest'] as const;
/** By default the chart makes them only where the API server has them. */
const SINCE_1_30 = 'ValidatingAdmissionPolicy';
const sets = new Map<string, SchemaSet>();

beforeAll(async () => {
  const files = await ensureSchemas({ log: console.log });
  for (const version of VERSIONS) sets.set(version, new SchemaSet(files[version], files.crds));
});

function problems(version: string, objects: readonly Manifest[]): readonly string[] {
  const set = sets.get(version);
  if (!set) throw new Error(`expected schemas of ${version}`);
  return objects.flatMap((object) => set.problemsOf(object));
}

describe.concurrent.each(VERSIONS.map((version) => [kubernetesVersion(version), version] as const))(
  'for Kubernetes %s and the CRDs of others',
  (_number, version) => {
    it.each(Object.entries(VALUES_MATRIX))('every object fits, with %s', async (_what, values) => {
      const all = await manifestsWith(values);
      const objects = all.filter(({ kind }) => version === 'newest' || !kind.startsWith(SINCE_1_30));
      expect(objects.length).toBeGreaterThan(10);
      expect(problems(version, objects)).toEqual([]);
    });

    it('an object that does not fit is told', () => {
      const metadata = { name: 'x' };
      const spec = { replicas: '2', selecter: {}, template: { spec: { containers: [{ image: 1 }] } } };
      const deployment = { apiVersion: 'apps/v1', kind: 'Deployment', metadata, spec };
      const scaled = {
        apiVersion: 'keda.sh/v1alpha1',
        kind: 'ScaledObject',
        metadata,
        spec: { trigger: [] },
      };
      const unknown = { apiVersion: 'apps/v1beta1', kind: 'Deployment', metadata };
      expect(problems(version, [deployment, scaled, unknown])).toEqual([
        'Deployment x.spec.selector: is missing',
        'Deployment x.spec.replicas: expected integer, given string',
        'Deployment x.spec.selecter: is no field',
        'Deployment x.spec.template.spec.containers.0.name: is missing',
        'Deployment x.spec.template.spec.containers.0.image: expected string, given integer',
        'ScaledObject x.spec.scaleTargetRef: is missing',
        'ScaledObject x.spec.triggers: is missing',
        'ScaledObject x.spec.trigger: is no field',
        'Deployment x: apps/v1beta1 is not known',
      ]);
    });
  },
);

it('the newest is the one that tools/cluster runs', () => {
  expect(kubernetesVersion('newest')).toBe(clusterVersion());
});
