import {
  type Query,
  JSON_PATCH,
  MERGE_PATCH,
  METADATA_ONLY,
  METADATA_ONLY_LIST,
  type KubeRequest,
} from '@reroll/kube/client/connection';
import type { Side } from './side.ts';

/** Asks one side; the choices are made before, so that both sides are asked the same. */
export type Step = (side: Side) => KubeRequest;

type Pick = <T>(choices: readonly T[]) => T;
type Fields = Record<string, unknown>;

interface Collection {
  readonly path: string;
  readonly kind: string;
  readonly manifest: (value: string) => Fields;
  /** A merge patch of the content. */
  readonly change: (value: string) => Fields;
}

const NAMES = ['a', 'b', 'c', 'a-b'];

function template(value: string): Fields {
  return {
    metadata: { labels: { app: 'web' }, annotations: { value } },
    spec: { restartPolicy: 'Never', containers: [{ name: 'app', image: 'app:1' }] },
  };
}

function workload(value: string): Fields {
  const pods = template(value);
  const spec = { ...(pods['spec'] as Fields), restartPolicy: 'Always' };
  return { spec: { selector: { matchLabels: { app: 'web' } }, template: { ...pods, spec } } };
}

function templateChange(value: string): Fields {
  return { spec: { template: { metadata: { annotations: { value } } } } };
}

/** The collections in a namespace. Those of custom resources need their definitions. */
export function collectionsIn(namespace: string): readonly Collection[] {
  const data = (value: string): Fields => ({ data: { k: value } });
  const secret = (value: string): Fields => ({ data: { k: Buffer.from(value).toString('base64') } });
  const spec = (value: string): Fields => ({ spec: { replicas: Number(value), template: template(value) } });
  const within = (root: string, plural: string): string => `${root}/namespaces/${namespace}/${plural}`;
  return [
    { path: within('/api/v1', 'configmaps'), kind: 'ConfigMap', manifest: data, change: data },
    { path: within('/api/v1', 'configmaps'), kind: 'ConfigMap', manifest: data, change: data },
    { path: within('/api/v1', 'secrets'), kind: 'Secret', manifest: secret, change: secret },
    {
      path: within('/apis/apps/v1', 'deployments'),
      kind: 'Deployment',
      manifest: workload,
      change: templateChange,
    },
    {
      path: within('/apis/apps/v1', 'statefulsets'),
      kind: 'StatefulSet',
      manifest: (value) => ({ spec: { ...(workload(value)['spec'] as Fields), serviceName: 'web' } }),
      change: templateChange,
    },
    {
      path: within('/apis/apps/v1', 'daemonsets'),
      kind: 'DaemonSet',
      manifest: workload,
      change: templateChange,
    },
    {
      path: within('/apis/batch/v1', 'cronjobs'),
      kind: 'CronJob',
      manifest: (value) => ({
        spec: { schedule: '0 0 1 1 *', jobTemplate: { spec: { template: template(value) } } },
      }),
      change: (value) => ({ spec: { suspend: Number(value) % 2 === 0 } }),
    },
    {
      path: within('/apis/batch/v1', 'jobs'),
      kind: 'Job',
      manifest: (value) => ({ spec: { template: template(value) } }),
      change: (value) => (Number(value) % 2 === 0 ? { spec: { suspend: true } } : templateChange(value)),
    },
    {
      path: within('/apis/coordination.k8s.io/v1', 'leases'),
      kind: 'Lease',
      manifest: (value) => ({ spec: { holderIdentity: value } }),
      change: (value) => ({ spec: { holderIdentity: value } }),
    },
    { path: within('/apis/argoproj.io/v1alpha1', 'rollouts'), kind: 'Rollout', manifest: spec, change: spec },
    {
      path: within('/apis/secrets-store.csi.x-k8s.io/v1', 'secretproviderclasspodstatuses'),
      kind: 'SecretProviderClassPodStatus',
      manifest: (value) => ({ status: { targetPath: value } }),
      change: (value) => ({ status: { targetPath: value } }),
    },
  ];
}

/** Makes steps at random. `random` is in [0, 1). */
export class RandomRequests {
  readonly #random: () => number;
  readonly #collections: readonly Collection[];
  #count = 0;

  constructor(namespace: string, random: () => number) {
    this.#random = random;
    this.#collections = collectionsIn(namespace);
  }

  next(): Step {
    this.#count += 1;
    const pick: Pick = (choices) => choices[Math.floor(this.#random() * choices.length)] as never;
    const collection = pick(this.#collections);
    const make = pick([
      this.#create,
      this.#create,
      this.#get,
      this.#list,
      this.#list,
      this.#jsonPatch,
      this.#jsonPatch,
      this.#mergePatch,
      this.#mergePatch,
      this.#put,
      this.#put,
      this.#delete,
    ]);
    return make.call(this, collection, pick);
  }

  /** The path and query of a watch. */
  nextWatch(): (side: Side) => { path: string; query: Query } {
    const pick: Pick = (choices) => choices[Math.floor(this.#random() * choices.length)] as never;
    const { path } = pick(this.#collections);
    const start = pick(['listed', 'object', 'initial', 'initialAny', 'any', 'wrong']);
    const which = this.#random();
    const selector = pick([
      {},
      {},
      { labelSelector: 'app=web' },
      { labelSelector: '!tier' },
      { fieldSelector: 'metadata.name!=a' },
    ]);
    return (side) => {
      const bodies = side.bodies(path);
      const object = bodies[Math.floor(which * bodies.length)]?.metadata?.resourceVersion;
      const initial = { sendInitialEvents: true, resourceVersionMatch: 'NotOlderThan' };
      const starts: Readonly<Record<string, Query>> = {
        listed: { resourceVersion: side.listed(path) },
        object: { resourceVersion: object },
        initial,
        initialAny: { ...initial, resourceVersion: side.listed(path) ?? '0' },
        any: {},
        wrong: { sendInitialEvents: true },
      };
      return { path, query: { ...selector, ...starts[start], allowWatchBookmarks: true } };
    };
  }

  #create({ path, kind, manifest }: Collection, pick: Pick): Step {
    const labels = pick([undefined, { app: 'web' }, { app: 'db', tier: 'x' }]);
    const metadata = {
      name: pick(NAMES),
      labels,
      ...pick<{ namespace?: string; name?: string | undefined; resourceVersion?: string }>([
        {},
        {},
        {},
        { namespace: 'elsewhere' },
        { resourceVersion: '5' },
        { name: 'Not_A_Name' },
        { name: undefined },
      ]),
    };
    const apiVersion = path.replace(/^\/apis?\/(.*)\/namespaces.*/, '$1');
    const body = {
      ...pick([{ apiVersion, kind }, { apiVersion, kind }, {}]),
      ...manifest(String(this.#count)),
      metadata,
    };
    const query = metadata.resourceVersion ? undefined : pick([undefined, undefined, { dryRun: 'All' }]);
    return () => ({ method: 'POST', path, body, query });
  }

  #get({ path }: Collection, pick: Pick): Step {
    const object = `${path}/${pick(NAMES)}`;
    const accept = pick([undefined, METADATA_ONLY]);
    return () => ({ method: 'GET', path: object, accept });
  }

  #list({ path }: Collection, pick: Pick): Step {
    const accept = pick([undefined, METADATA_ONLY_LIST]);
    const limit = pick([undefined, 1, 2]);
    const labelSelector = pick([
      undefined,
      undefined,
      'app=web',
      'app!=web',
      'app in (web,db),!tier',
      'tier',
      'app notin (web)',
    ]);
    const fieldSelector = pick([
      undefined,
      undefined,
      undefined,
      'metadata.name=a',
      'metadata.name!=a',
      'metadata.namespace!=x',
      'spec.none=1',
    ]);
    const isContinued = pick([true, false]);
    const more = pick([
      {},
      {},
      {},
      { resourceVersionMatch: 'Exact' },
      { resourceVersionMatch: 'Exact', resourceVersion: '0' },
      { resourceVersion: 'x' },
      { sendInitialEvents: true },
    ]);
    const selectors = { labelSelector, fieldSelector };
    return (side) => {
      const next = isContinued ? side.next(path) : undefined;
      const query = next === undefined ? { limit, ...selectors, ...more } : { limit, continue: next };
      return { method: 'GET', path, accept, query };
    };
  }

  #jsonPatch({ path }: Collection, pick: Pick): Step {
    const value = String(this.#count);
    const tests = pick([
      [],
      [{ op: 'test', path: '/metadata/uid', value: 'x' }],
      [{ op: 'test', path: '/metadata/nothing', value: null }],
      [{ op: 'test', path: '/metadata/nothing' }],
      [{ op: 'test', path: '/nothing/below', value: null }],
      [{ op: 'test', path: '/metadata/generation', value: pick([1, 2]) }],
      [{ op: 'test', path: '/metadata/labels', value: { app: 'web' } }],
    ]);
    const writes = pick<object[]>([
      [{ op: 'add', path: '/metadata/annotations', value: { value } }],
      [{ op: 'add', path: '/metadata/annotations/value', value }],
      [{ op: 'add', path: '/metadata/annotations/value', value: 5 }],
      [{ op: 'add', path: '/metadata/labels', value: { app: pick(['web', 'db']) } }],
      [{ op: 'remove', path: '/metadata/annotations' }],
      [{ op: 'replace', path: '/metadata/annotations/value', value }],
      [{ op: 'replace', path: '/spec/template/spec/containers/0/image', value: `app:${value}` }],
      [{ op: 'add', path: '/spec/template/spec/containers/0/env', value: [{ name: 'V', value }] }],
      [{ op: 'add', path: '/spec/template/spec/containers/0/env/-', value: { name: `V${value}`, value } }],
      [{ op: 'add', path: '/spec/template/spec/containers/9/env', value: [] }],
      [{ op: 'copy', from: '/metadata/name', path: '/metadata/annotations/name' }],
      [{ op: 'none', path: '/metadata/name' }],
    ]);
    const object = `${path}/${pick(NAMES)}`;
    return () => ({ method: 'PATCH', path: object, contentType: JSON_PATCH, body: [...tests, ...writes] });
  }

  #mergePatch({ path, change }: Collection, pick: Pick): Step {
    const value = String(this.#count);
    const which = this.#random();
    // Another uid makes more of a Job invalid.
    const uid = path.endsWith('/jobs') ? 'nothing' : 'uid';
    const kind = pick(['content', 'content', 'annotations', 'labels', 'nothing', 'version', uid, 'status']);
    const object = `${path}/${pick(NAMES)}`;
    return (side) => {
      const bodies = side.bodies(path);
      const old = bodies[Math.floor(which * bodies.length)]?.metadata?.resourceVersion;
      const patches: Readonly<Record<string, Fields>> = {
        content: change(value),
        annotations: { metadata: { annotations: { value, 'old-value': null } } },
        labels: { metadata: { labels: { app: which < 0.3 ? null : which < 0.6 ? 'web' : 'db' } } },
        nothing: {},
        version: { metadata: { resourceVersion: old, annotations: { version: value } } },
        uid: { metadata: { uid: '00000000-0000-4000-a000-000000000000' } },
        status: { status: { observedGeneration: 1 } },
      };
      return { method: 'PATCH', path: object, contentType: MERGE_PATCH, body: patches[kind] };
    };
  }

  /** Puts an object as it was answered before, with another annotation. */
  #put({ path }: Collection, pick: Pick): Step {
    const which = 1 - this.#random() ** 2;
    const value = String(this.#count);
    const version = pick(['same', 'same', 'none', 'nameless']);
    return (side) => {
      const bodies = side.bodies(path);
      const body = bodies[Math.floor(which * (bodies.length - 1))] as
        | { kind: string; metadata: Fields }
        | undefined;
      const { name = 'a' } = body?.metadata ?? {};
      const { resourceVersion, ...metadata } = body?.metadata ?? {};
      const changed = {
        ...metadata,
        annotations: { value },
        ...(version === 'none' ? {} : { resourceVersion }),
        ...(version === 'nameless' ? { name: '' } : {}),
      };
      return {
        method: 'PUT',
        path: `${path}/${String(name)}`,
        body: { ...body, metadata: changed },
      };
    };
  }

  #delete({ path }: Collection, pick: Pick): Step {
    const which = this.#random();
    const kind = pick(['none', 'none', 'uid', 'version']);
    const propagationPolicy = pick(['Background', 'Background', 'Background', 'Foreground']);
    const object = `${path}/${pick(NAMES)}`;
    return (side) => {
      const bodies = side.bodies(path);
      const old = bodies[Math.floor(which * bodies.length)]?.metadata;
      const preconditions: Readonly<Record<string, object | undefined>> = {
        uid: { uid: '00000000-0000-4000-a000-000000000000' },
        version: { resourceVersion: old?.resourceVersion },
      };
      const body = {
        apiVersion: 'v1',
        kind: 'DeleteOptions',
        propagationPolicy,
        preconditions: preconditions[kind],
      };
      return { method: 'DELETE', path: object, body };
    };
  }
}
