import { createHash } from 'node:crypto';
import type { KubeObject, Ref, Space } from '../kube.ts';

/** What ConfigmapController, k8s-trigger-controller and Wave write when they reload a workload: stand-ins of our own. */
export type OldSystem = (space: Space, ref: Ref, sources: readonly Ref[]) => Promise<void>;

interface Source extends KubeObject {
  readonly data?: Readonly<Record<string, string>>;
}

interface Workload extends KubeObject {
  readonly spec: { template: { spec: { containers: { name: string; env?: { name: string }[] }[] } } };
}

export const configmapController: OldSystem = async (space, ref, sources) => {
  const { spec } = (await space.get(ref)) as Workload;
  let { containers } = spec.template.spec;
  for (const source of sources) {
    const name = `FABRIC8_${source.slice('ConfigMap/'.length).toUpperCase().replaceAll('-', '_')}_CONFIGMAP`;
    const pairs = entriesOf(await space.get(source)).map(([key, value]) => `${key}=${value}`);
    const value = createHash('sha256').update(pairs.join(';')).digest('base64');
    const variable = { name, value: value.replaceAll('+', '-').replaceAll('/', '_') };
    containers = containers.map(({ env = [], ...container }) => ({
      ...container,
      env: [...env.filter((each) => each.name !== name), variable],
    }));
  }
  await space.patch(ref, { spec: { template: { spec: { containers } } } });
};

export const triggerController: OldSystem = async (space, ref, sources) => {
  for (const source of sources) {
    const entries = entriesOf(await space.get(source));
    const hash = createHash('sha1').update(entries.map(([key]) => key).join(''));
    for (const [, value] of entries) hash.update(Buffer.from(value, 'base64'));
    const text = hash.digest('hex');
    const key = `trigger.k8s.io/secret-${source.slice('Secret/'.length)}-last-hash`;
    await space.annotate(source, { 'trigger.k8s.io/data-hash': text });
    await space.patch(ref, { spec: { template: { metadata: { annotations: { [key]: text } } } } });
  }
};

export const wave: OldSystem = async (space, ref, sources) => {
  const configMaps: Record<string, Record<string, string>> = {};
  const secrets: Record<string, Record<string, string>> = {};
  for (const source of [...sources].sort()) {
    const name = source.slice(source.indexOf('/') + 1);
    const entries = entriesOf(await space.get(source));
    if (source.startsWith('Secret/')) secrets[name] = Object.fromEntries(entries);
    else
      configMaps[name] = Object.fromEntries(
        entries.map(([key, value]) => [key, Buffer.from(value).toString('base64')]),
      );
  }
  const hash = createHash('sha256').update(JSON.stringify({ configMaps, secrets })).digest('hex');
  const annotations = { 'wave.pusher.com/config-hash': hash };
  await space.patch(ref, { spec: { template: { metadata: { annotations } } } });
};

function entriesOf(source: Source): [string, string][] {
  return Object.entries(source.data ?? {}).sort(([one], [other]) => (one < other ? -1 : 1));
}
