import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { imagesOf } from './images-file.ts';
import { at, installed, titleOf } from '../look.ts';
import { manifestsWith, type ChartValues, type Manifest } from '../render.ts';
import { clusterVersion, ensureSchemas, kubernetesVersion } from '../schemas/ensure-schemas.ts';
import { SchemaSet } from '../schemas/schema-set.ts';
import { CREDENTIAL, VALUES_MATRIX } from '../testing/values-matrix.ts';
import { CHART } from './values-comments.ts';

/** What holds whatever the values are: each set of them is rendered once, with a mirror of the images. */
const MIRROR = { imageRegistry: 'mirror.example/all', imagePullSecrets: ['pull'] };

/** By default the chart makes them only where the API server has them. */
const SINCE_1_30 = 'ValidatingAdmissionPolicy';

let oldest: SchemaSet;
let newest: SchemaSet;

beforeAll(async () => {
  const files = await ensureSchemas({ log: console.log });
  oldest = new SchemaSet(files.oldest, files.crds);
  newest = new SchemaSet(files.newest, files.crds);
});

interface Pod {
  readonly owner: string;
  readonly spec: unknown;
}

/** Every pod that the objects make. */
function podsOf(manifests: readonly Manifest[]): readonly Pod[] {
  return manifests.flatMap((object) => {
    const spec = object.kind === 'Pod' ? at(object, 'spec') : at(object, 'spec.template.spec');
    return at(spec, 'containers') === undefined
      ? []
      : [{ owner: titleOf(object.kind, object.metadata.name), spec }];
  });
}

const VOLUMES = ['configMap', 'downwardAPI', 'emptyDir', 'persistentVolumeClaim', 'projected', 'secret'];

/** What the pod security standard "restricted" finds wrong, and what we ask beyond it. */
function problemsOf({ spec }: Pod, isOpenshift: boolean): readonly string[] {
  const problems: string[] = [];
  const check = (holds: boolean, problem: string): void => {
    if (!holds) problems.push(problem);
  };
  const security = at(spec, 'securityContext');
  check(at(security, 'runAsNonRoot') === true, 'may run as root');
  check(at(security, 'seccompProfile.type') === 'RuntimeDefault', 'has no seccomp profile');
  if (!isOpenshift) check(Number(at(security, 'runAsUser')) > 0, 'has no user');
  for (const field of ['hostNetwork', 'hostPID', 'hostIPC', 'initContainers'])
    check(at(spec, field) === undefined, `has ${field}`);
  check(at(spec, 'enableServiceLinks') === false, 'has variables of every Service');
  for (const volume of (at(spec, 'volumes') ?? []) as readonly object[])
    check(
      Object.keys(volume).every((key) => key === 'name' || VOLUMES.includes(key)),
      'has another kind of volume',
    );
  for (const container of at(spec, 'containers') as readonly unknown[]) {
    const own = at(container, 'securityContext');
    check(at(own, 'allowPrivilegeEscalation') === false, 'may gain privileges');
    check(at(own, 'readOnlyRootFilesystem') === true, 'may write its root file system');
    check(JSON.stringify(at(own, 'capabilities')) === '{"drop":["ALL"]}', 'has capabilities');
    check(at(own, 'privileged') === undefined, 'is privileged');
    check(at(container, 'resources.requests') !== undefined, 'requests nothing');
    check(at(container, 'resources.limits.memory') !== undefined, 'has no limit of memory');
    const ports = (at(container, 'ports') ?? []) as readonly { hostPort?: number }[];
    check(
      ports.every(({ hostPort }) => hostPort === undefined),
      'has a port of the host',
    );
  }
  return problems;
}

interface Option {
  readonly value: string;
  readonly sensitive: boolean;
}

function valuesOf(secret: Manifest): readonly string[] {
  const data = Object.values((at(secret, 'data') ?? {}) as Readonly<Record<string, string>>);
  const text = Object.values((at(secret, 'stringData') ?? {}) as Readonly<Record<string, string>>);
  return [...data.map((each) => Buffer.from(each, 'base64').toString()), ...text];
}

/** Every object fits the oldest and the newest Kubernetes, and the CRDs of others. */
function schemaProblems(manifests: readonly Manifest[]): readonly string[] {
  const old = manifests.filter(({ kind }) => !kind.startsWith(SINCE_1_30));
  return [
    ...old.flatMap((object) => oldest.problemsOf(object)),
    ...manifests.flatMap((object) => newest.problemsOf(object)),
  ];
}

/** Only who calls the API server has a token. */
const WITH_TOKEN = [
  'Deployment reroll-admin',
  'Deployment reroll-standalone',
  'Deployment reroll-watcher',
  'Deployment reroll-worker',
  'Job reroll-make-secrets',
  'Pod reroll-test',
];

function podProblems(manifests: readonly Manifest[], values: ChartValues): readonly string[] {
  const isOpenshift = at(values, 'reloader.isOpenshift') === true;
  return podsOf(manifests).flatMap((pod) => {
    const hasToken = at(pod.spec, 'automountServiceAccountToken') === true;
    const token =
      hasToken === WITH_TOKEN.includes(pod.owner) ? [] : ['has a token without need, or needs one'];
    const secrets = at(pod.spec, 'imagePullSecrets.0.name') === 'pull' ? [] : ['does not pull by the Secret'];
    return [...problemsOf(pod, isOpenshift), ...token, ...secrets].map(
      (problem) => `${pod.owner} ${problem}`,
    );
  });
}

function imageProblems(manifests: readonly Manifest[]): readonly string[] {
  return imagesOf(manifests)
    .filter((image) => !image.startsWith(`${MIRROR.imageRegistry}/`))
    .map((image) => `${image} is not from the mirror`);
}

function rightProblems(manifests: readonly Manifest[]): readonly string[] {
  return manifests.flatMap(({ kind, metadata, ...rest }) => {
    const rules = (at(rest, 'rules') ?? []) as readonly Readonly<Record<string, unknown>>[];
    // What follows in a path is a resource of the API, not one of the cluster.
    const named = rules.map(({ nonResourceURLs: _paths, ...rule }) => rule);
    const hasWildcard = kind.endsWith('Role') && JSON.stringify(named).includes('*');
    return hasWildcard ? [`${kind} ${metadata.name} has a wildcard`] : [];
  });
}

/** A credential is in Secrets and nowhere else, neither as it is nor as base64. */
function credentialProblems(all: readonly Manifest[], values: ChartValues): readonly string[] {
  const manifests = installed(all);
  const credentials = manifests.filter(({ kind }) => kind === 'Secret').flatMap(valuesOf);
  const isGiven = JSON.stringify(values).includes(CREDENTIAL);
  const isKept = credentials.some((each) => each.includes(CREDENTIAL));
  const rest = JSON.stringify(manifests.filter(({ kind }) => kind !== 'Secret'));
  const shown = [CREDENTIAL, ...credentials].filter(
    (each) => rest.includes(each) || rest.includes(Buffer.from(each).toString('base64')),
  );
  return [
    ...(isGiven === isKept ? [] : ['a credential is in no Secret']),
    ...shown.map((each) => `${each} is outside of Secrets`),
  ];
}

it.concurrent.each(Object.entries(VALUES_MATRIX))(
  'with %s: schemas, pod security, images, rights and credentials are in order',
  async (_what, values) => {
    const manifests = await manifestsWith({ ...values, global: MIRROR });
    expect(manifests.length).toBeGreaterThan(10);
    expect(podsOf(manifests).length).toBeGreaterThan(2);
    expect(imagesOf(manifests).join(' ')).toMatch(/\/reroll\/reroll[:@]/);
    expect([
      ...schemaProblems(manifests),
      ...podProblems(manifests, values),
      ...imageProblems(manifests),
      ...rightProblems(manifests),
      ...credentialProblems(manifests, values),
    ]).toEqual([]);
  },
);

it('every value that is a credential is among them', () => {
  const { options } = JSON.parse(readFileSync(join(CHART, 'options.json'), 'utf8')) as {
    options: readonly Option[];
  };
  const sensitive = options.filter((option) => option.sensitive).map(({ value }) => value);
  expect(sensitive).toContain('redis.external.password');
  const without = sensitive.filter(
    (path) => !Object.values(VALUES_MATRIX).some((values) => String(at(values, path)).includes(CREDENTIAL)),
  );
  expect(without).toEqual([]);
});

it('an object that does not fit its schema is told', () => {
  const metadata = { name: 'x' };
  const spec = { replicas: '2', selecter: {}, template: { spec: { containers: [{ image: 1 }] } } };
  const deployment = { apiVersion: 'apps/v1', kind: 'Deployment', metadata, spec };
  const scaled = { apiVersion: 'keda.sh/v1alpha1', kind: 'ScaledObject', metadata, spec: { trigger: [] } };
  const unknown = { apiVersion: 'apps/v1beta1', kind: 'Deployment', metadata };
  expect([deployment, scaled, unknown].flatMap((object) => newest.problemsOf(object))).toEqual([
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

it('the newest Kubernetes is the one that tools/cluster runs', () => {
  expect(kubernetesVersion('newest')).toBe(clusterVersion());
});
