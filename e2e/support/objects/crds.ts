import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import type { Cluster } from '../../../tools/cluster/src/cluster.ts';
import { send } from '../../../tools/cluster/src/servers/http.ts';
import { isServed } from '@reroll/kube/discovery';
import { KubeError } from '@reroll/kube/client/errors';
import type { KubeClient } from '@reroll/kube/client/connection';
import { cleanUp } from '../cleanup.ts';
import { resourceOf } from '../kube.ts';
import { eventually } from '../wait.ts';

const CRDS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const ANY = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };

interface Shape {
  /** Of `spec`, beside the template, which may hold anything. */
  readonly spec: Readonly<Record<string, unknown>>;
  readonly shortNames: readonly string[];
  /** If it has no status subresource (and no scale): of `status`. */
  readonly status?: Readonly<Record<string, unknown>>;
}

const TEXT = { type: 'string' };
const TEXTS = { type: 'object', additionalProperties: TEXT };

function listOf(properties: Readonly<Record<string, unknown>>): object {
  return { type: 'array', items: { type: 'object', properties } };
}

/** As their projects' own, in what matters here: a status subresource (so generation counts the spec), a scale. */
const SHAPES: Readonly<Record<string, Shape>> = {
  Rollout: {
    shortNames: ['ro'],
    spec: {
      replicas: { type: 'integer', format: 'int32' },
      restartAt: { type: 'string', format: 'date-time' },
      paused: { type: 'boolean' },
      selector: ANY,
      strategy: ANY,
      template: ANY,
      workloadRef: {
        type: 'object',
        properties: {
          apiVersion: { type: 'string' },
          kind: { type: 'string' },
          name: { type: 'string' },
          scaleDown: { type: 'string' },
        },
      },
    },
  },
  DeploymentConfig: {
    shortNames: ['dc'],
    spec: {
      replicas: { type: 'integer', format: 'int32' },
      paused: { type: 'boolean' },
      selector: { type: 'object', additionalProperties: { type: 'string' } },
      strategy: ANY,
      template: ANY,
      triggers: { type: 'array', items: ANY },
    },
  },
  SecretProviderClass: {
    shortNames: [],
    spec: {
      provider: TEXT,
      parameters: TEXTS,
      secretObjects: listOf({
        secretName: TEXT,
        type: TEXT,
        labels: TEXTS,
        annotations: TEXTS,
        data: listOf({ objectName: TEXT, key: TEXT }),
      }),
    },
    status: { byPod: listOf({ id: TEXT, namespace: TEXT }) },
  },
  SecretProviderClassPodStatus: {
    shortNames: [],
    spec: {},
    status: {
      podName: TEXT,
      secretProviderClassName: TEXT,
      mounted: { type: 'boolean' },
      targetPath: TEXT,
      objects: listOf({ id: TEXT, version: TEXT }),
    },
  },
};

/** Installs the CRD of one of these kinds and resolves when the API server has it. */
export async function installCrd(client: KubeClient, kind: string): Promise<void> {
  await client.post(CRDS, definition(kind));
  await eventually(() => isServed(client, resourceOf(kind)), { what: `the API of ${kind}` });
  // Its discovery document comes a little before its collection.
  await eventually(() => hasCollection(client, kind), { what: `the collection of ${kind}` });
}

/** Installs a project's own CRD, one YAML file; it goes when the file of specs ends. */
export async function installCrdFile({ access }: Cluster, client: KubeClient, file: string): Promise<void> {
  const answer = await send({
    url: access.server + CRDS,
    method: 'POST',
    ca: access.ca,
    headers: { authorization: `Bearer ${access.token}`, 'content-type': 'application/yaml' },
    body: readFileSync(file, 'utf8'),
    timeoutMs: 30_000,
  });
  if (answer.status !== 201)
    throw new Error(`expected ${basename(file)} to be created, given ${answer.body}`);
  const { metadata } = JSON.parse(answer.body) as { metadata: { name: string } };
  cleanUp(() => removeCrdNamed(client, metadata.name));
}

/** Removes it with every object of it, and resolves when the API server has neither. */
export async function removeCrd(client: KubeClient, kind: string): Promise<void> {
  await removeCrdNamed(client, nameOf(kind));
  await eventually(async () => !(await hasCollection(client, kind)), { what: `${kind} to be gone` });
}

/** The same by the CRD's own name, `rollouts.argoproj.io`. */
export async function removeCrdNamed(client: KubeClient, name: string): Promise<void> {
  const path = `${CRDS}/${name}`;
  await client.request({ method: 'DELETE', path });
  await eventually(async () => !(await exists(client, path)), { what: `${name} to be gone` });
}

function hasCollection(client: KubeClient, kind: string): Promise<boolean> {
  const { group, version, plural } = resourceOf(kind);
  return exists(client, `/apis/${group}/${version}/${plural}`);
}

async function exists(client: KubeClient, path: string): Promise<boolean> {
  try {
    await client.get(path, { query: { limit: 1 } });
    return true;
  } catch (error) {
    if (error instanceof KubeError && error.status === 404) return false;
    throw error;
  }
}

function nameOf(kind: string): string {
  const { group, plural } = resourceOf(kind);
  return `${plural}.${group}`;
}

function definition(kind: string): object {
  const { group, version, plural } = resourceOf(kind);
  const { spec, shortNames, status } = SHAPES[kind] as Shape;
  const properties = {
    spec: { type: 'object', properties: spec },
    status: status ? { type: 'object', properties: status } : ANY,
  };
  const subresources = {
    status: {},
    scale: { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' },
  };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: nameOf(kind) },
    spec: {
      group,
      scope: 'Namespaced',
      names: { kind, listKind: `${kind}List`, plural, singular: kind.toLowerCase(), shortNames },
      versions: [
        {
          name: version,
          served: true,
          storage: true,
          ...(status ? {} : { subresources }),
          schema: { openAPIV3Schema: { type: 'object', properties } },
        },
      ],
    },
  };
}
