import { recordOf } from '../manifests.ts';

const PER_NAMESPACE = 1_000;
/** What a server-side apply leaves of its writer; the API server serves it with every object. */
const MANAGED_FIELDS = [
  {
    manager: 'kubectl',
    operation: 'Apply',
    apiVersion: 'v1',
    time: '2026-01-01T00:00:01Z',
    fieldsType: 'FieldsV1',
    fieldsV1: { 'f:metadata': { 'f:labels': { 'f:app': {} } } },
  },
];

/** JSON of an object as the API server serves it. */
export type Served = (index: number, resourceVersion: number) => string;

/** Each workload uses a ConfigMap of its own, and carries the record of it. */
export const servedSource: Served = (index, resourceVersion) =>
  JSON.stringify({
    metadata: metadataOf(index, `service-${index}-config`, resourceVersion),
    data: { value: String(resourceVersion) },
  });

export const servedWorkload: Served = (index, resourceVersion) => {
  const name = `service-${index}`;
  const source = `${name}-config`;
  const labels = { app: name };
  const annotations = {
    'reloader.stakater.com/auto': 'true',
    'reroll.dev/applied': recordOf(source, String(index + 1)),
  };
  const container = {
    name: 'app',
    image: `registry.example.com/${name}:1.0.0`,
    envFrom: [{ configMapRef: { name: source } }],
  };
  return JSON.stringify({
    metadata: { ...metadataOf(index, name, resourceVersion), annotations, labels, generation: 1 },
    spec: {
      replicas: 1,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [container] } },
    },
    status: {
      observedGeneration: 1,
      replicas: 1,
      updatedReplicas: 1,
      readyReplicas: 1,
      availableReplicas: 1,
    },
  });
};

function metadataOf(index: number, name: string, resourceVersion: number): object {
  return {
    name,
    namespace: `team-${Math.floor(index / PER_NAMESPACE)}`,
    uid: `${String(index).padStart(8, '0')}-9f6c-4c3e-8f5e-6d1f0a7b2c4d`,
    resourceVersion: String(resourceVersion),
    creationTimestamp: '2026-01-01T00:00:00Z',
    managedFields: MANAGED_FIELDS,
  };
}
