import type { PatchOperation } from '@reroll/core/reload/json-patch';

/** What a worker may not do to a workload, as patches: for the policies of the chart. */
export const SHA1 = 'a'.repeat(40);
export const MARKER = { name: 'STAKATER_CM_CONFIGMAP', value: SHA1 };

const OWNER = [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'x', uid: 'x' }];

export function add(path: string, value: unknown): PatchOperation {
  return { op: 'add', path, value };
}

/** Of every workload, whatever its kind. */
export const METADATA: Readonly<Record<string, PatchOperation>> = {
  'a label': add('/metadata/labels/x', 'y'),
  'an annotation of somebody else': add('/metadata/annotations/x', 'y'),
  'whether it is reloaded': add('/metadata/annotations/reloader.stakater.com~1auto', 'false'),
  owners: add('/metadata/ownerReferences', OWNER),
  finalizers: add('/metadata/finalizers', ['example.com/x']),
};

/** What is no marker, in a pod template. */
function templateChanges(template: string): Readonly<Record<string, PatchOperation>> {
  const [spec, container] = [`${template}/spec`, `${template}/spec/containers/0`];
  const config = { name: 'x', configMap: { name: 'x' } };
  return {
    'an image': { op: 'replace', path: `${container}/image`, value: 'evil' },
    'a command': add(`${container}/command`, ['sh']),
    arguments: add(`${container}/args`, ['-c']),
    'a variable': add(`${container}/env/-`, { name: 'LD_PRELOAD', value: '/x' }),
    'the value of a variable': { op: 'replace', path: `${container}/env/0/value`, value: 'changed' },
    'a variable that is taken away': { op: 'remove', path: `${container}/env/0` },
    'a variable before others': add(`${container}/env/0`, { name: 'FIRST', value: 'x' }),
    'a marker that is no hash': add(`${container}/env/-`, { ...MARKER, value: '$(OWN)' }),
    'a marker of something else': add(`${container}/env/-`, { name: 'STAKATER_X', value: SHA1 }),
    'a marker from a Secret': add(`${container}/env/-`, {
      name: MARKER.name,
      valueFrom: { secretKeyRef: { name: 'x', key: 'x' } },
    }),
    'variables from a Secret': add(`${container}/envFrom/-`, { secretRef: { name: 'x' } }),
    'the security context of a container': add(`${container}/securityContext`, { privileged: true }),
    resources: add(`${container}/resources`, { limits: { cpu: '1' } }),
    'a life-cycle hook': add(`${container}/lifecycle`, { postStart: { exec: { command: ['x'] } } }),
    'a container': add(`${spec}/containers/-`, { name: 'evil', image: 'evil' }),
    'an init container': add(`${spec}/initContainers`, [{ name: 'evil', image: 'evil' }]),
    'a service account': add(`${spec}/serviceAccountName`, 'admin'),
    'a volume': add(`${spec}/volumes`, [config]),
    'a path of the node': add(`${spec}/volumes`, [{ name: 'x', hostPath: { path: '/' } }]),
    'the network of the node': add(`${spec}/hostNetwork`, true),
    'the security context of pods': add(`${spec}/securityContext`, { runAsUser: 0 }),
    'a node': add(`${spec}/nodeSelector`, { x: 'y' }),
    'a pull secret': add(`${spec}/imagePullSecrets`, [{ name: 'x' }]),
    'a label of pods': add(`${template}/metadata/labels/x`, 'y'),
    'an annotation of pods': add(`${template}/metadata/annotations`, { x: 'y' }),
  };
}

/** What is no template, in a spec. */
const SPEC_CHANGES: Readonly<Record<string, Readonly<Record<string, PatchOperation>>>> = {
  Deployment: {
    replicas: add('/spec/replicas', 7),
    'how it is rolled': add('/spec/strategy', { type: 'Recreate' }),
    'a pause that no period asks for': add('/spec/paused', true),
  },
  StatefulSet: { replicas: add('/spec/replicas', 7) },
  DaemonSet: { 'when its pods are ready': add('/spec/minReadySeconds', 7) },
  Rollout: {
    replicas: add('/spec/replicas', 7),
    'a pause': add('/spec/paused', true),
    'a restart that is not asked for': add('/spec/restartAt', '2026-01-01T00:00:00Z'),
    'whose template it has': add('/spec/workloadRef', {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      name: 'x',
    }),
  },
  DeploymentConfig: { triggers: add('/spec/triggers', []), replicas: add('/spec/replicas', 7) },
  CronJob: {
    'its schedule': add('/spec/schedule', '* * * * *'),
    'a suspension': add('/spec/suspend', true),
    'how many pods its Jobs have': add('/spec/jobTemplate/spec/parallelism', 7),
    'labels of its Jobs': add('/spec/jobTemplate/metadata', { labels: { x: 'y' } }),
    'a marker in its template': add('/spec/jobTemplate/spec/template/spec/containers/0/env/-', MARKER),
  },
};

/** The policies judge every kind by the same words: one kind is asked everything, the others that they are judged. */
export function refusedOf(kind: string, template: string): Readonly<Record<string, PatchOperation>> {
  const all = { ...METADATA, ...templateChanges(template) };
  const few = [
    'a label',
    'a label of the object',
    'an image',
    'a marker that is no hash',
    'a volume',
    'a label of pods',
  ];
  const asked = Object.entries(all).filter(([what]) => kind === 'Deployment' || few.includes(what));
  return { ...Object.fromEntries(asked), ...SPEC_CHANGES[kind] };
}
