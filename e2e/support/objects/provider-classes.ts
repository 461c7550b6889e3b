import { expect } from 'vitest';
import { DEFAULT_ANNOTATION_KEYS as KEYS } from '@reroll/core/annotations/annotation-keys';
import { providerClassData } from '@reroll/core/provider-class/observe-status';
import { recordHash } from '@reroll/core/record/record-hash';
import { annotated, deployment, type Modifier } from './builders.ts';
import { installCrd, removeCrd } from './crds.ts';
import type { KubeObject, Manifest, Ref, Space } from '../kube.ts';
import type { Reroll } from '../reroll.ts';
import { recordOf } from './rollouts.ts';
import { eventually } from '../wait.ts';

/** The Secrets Store CSI Driver, as far as Reroll sees it: its CRDs, and what it writes for each pod. */

const KINDS = ['SecretProviderClass', 'SecretProviderClassPodStatus'];
const API_VERSION = 'secrets-store.csi.x-k8s.io/v1';

export async function installDriver(space: Space): Promise<void> {
  for (const kind of KINDS) await installCrd(space.client, kind);
}

export async function removeDriver(space: Space): Promise<void> {
  for (const kind of KINDS) await removeCrd(space.client, kind);
}

export function providerClass(name: string, annotations: Readonly<Record<string, string>> = {}): Manifest {
  const spec = { provider: 'vault', parameters: { roleName: 'web' } };
  const manifest = { metadata: { name, annotations }, spec };
  return { apiVersion: API_VERSION, kind: 'SecretProviderClass', ...manifest };
}

export function mounting(name: string): Modifier {
  return ({ spec }) => {
    const pod = spec.template.spec;
    const csi = { driver: 'secrets-store.csi.k8s.io', volumeAttributes: { secretProviderClass: name } };
    pod.volumes = [...(pod.volumes ?? []), { name, csi }];
    const [container] = pod.containers;
    if (!container) throw new RangeError('expected a container');
    container.volumeMounts = [...(container.volumeMounts ?? []), { name, mountPath: `/mnt/${name}` }];
  };
}

/** Names classes, or patterns of names. */
export function namingClass(names: string): Modifier {
  return annotated({ [KEYS.secretProviderClassReload]: names });
}

export function classAuto(): Modifier {
  return annotated({ [KEYS.secretProviderClassAuto]: 'true' });
}

function objectsOf(version: string): { id: string; version: string }[] {
  return [
    { id: 'secret/token-id-5c1e', version },
    { id: 'secret/fixed-id-5c1e', version: 'always-5c1e' },
  ];
}

/** What the driver writes when a pod mounts, or rotates to, a version; without one nothing is mounted yet. */
export function status(pod: string, name: string, version?: string): Manifest {
  const objects = version === undefined ? {} : { objects: objectsOf(version) };
  const body = { podName: pod, secretProviderClassName: name, mounted: true, ...objects };
  const manifest = { metadata: { name: `${pod}-${name}` }, status: body };
  return { apiVersion: API_VERSION, kind: 'SecretProviderClassPodStatus', ...manifest };
}

export function statusRef(pod: string, name: string): Ref {
  return `SecretProviderClassPodStatus/${pod}-${name}`;
}

/** Resolves when the workload's record says that it was reloaded with this version. */
export async function hasVersion(
  space: Space,
  ref: Ref,
  at: { name: string; version: string },
): Promise<KubeObject> {
  const hash = recordHash(providerClassData(at.name, objectsOf(at.version)), []);
  return await eventually(async () => {
    const object = await space.get(ref);
    expect(recordOf(object), `record of ${ref}`).toMatchObject({ [`SecretProviderClass/${at.name}`]: hash });
    return object;
  });
}

const CONTROL = 'e2e-control-class';
let changes = 0;

/** As `settled`, for classes: their statuses come on a stream of their own, in order. */
export async function classesSettled(reroll: Reroll, space: Space): Promise<void> {
  const ref = `Deployment/${CONTROL}`;
  if (changes === 0 || !(await space.find(ref))) {
    await space.apply(
      providerClass(CONTROL),
      status('control', CONTROL, 'v0'),
      deployment(CONTROL, namingClass(CONTROL)),
    );
    await hasVersion(space, ref, { name: CONTROL, version: 'v0' });
  }
  changes += 1;
  await space.apply(status('control', CONTROL, `v${changes}`));
  await hasVersion(space, ref, { name: CONTROL, version: `v${changes}` });
  await reroll.idle();
}
