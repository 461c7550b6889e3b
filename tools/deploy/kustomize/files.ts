import type { Manifest } from '../render.ts';
import { differenceOf, type Difference } from './difference.ts';
import { objectsOf, toStream, toYaml } from './objects.ts';
import { BASE, OVERLAYS, type Variant } from './variants.ts';

export interface GeneratedFile {
  /** From the project's root. */
  readonly path: string;
  readonly render: () => Promise<string>;
}

const FROM_CHART = '# Generated from the chart by tools/deploy/kustomize: run `npm run -s docs`.\n';
const FOLDER = 'deploy/kustomize';
const COMPONENTS = ['make-secrets', 'watcher', 'worker', 'admin', 'redis'] as const;
/** Those of them that only a cluster which Reroll runs in needs. */
const IN_CLUSTER: readonly unknown[] = ['make-secrets', 'redis'];

/** Whoever applies one file has nothing else that makes it. */
const NAMESPACE = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'reroll' } };

/** What the chart renders, for those who do not use Helm. */
export const KUSTOMIZE_FILES: readonly GeneratedFile[] = [
  {
    path: 'deploy/manifests/reroll.yaml',
    render: async () => head(BASE) + toStream([NAMESPACE, ...(await objectsOf(BASE))]),
  },
  {
    path: 'deploy/compose/rbac.yaml',
    render: async () => FROM_CHART + toStream((await objectsOf(BASE)).filter(isRight)),
  },
  { path: `${FOLDER}/base/kustomization.yaml`, render: () => Promise.resolve(baseKustomization()) },
  ...COMPONENTS.map((component) => ({
    path: `${FOLDER}/base/${component}.yaml`,
    render: async () => FROM_CHART + toStream(ofComponent(await objectsOf(BASE), component)),
  })),
  ...Object.entries(OVERLAYS).flatMap(([name, overlay]) =>
    overlayFiles(`${FOLDER}/overlays/${name}`, overlay),
  ),
];

function overlayFiles(folder: string, overlay: Variant): readonly GeneratedFile[] {
  const { addsIn } = overlay;
  const kustomization = {
    path: `${folder}/kustomization.yaml`,
    render: async () => overlayKustomization(overlay, await differenceTo(overlay)),
  };
  if (addsIn === undefined) return [kustomization];
  const render = async (): Promise<string> => FROM_CHART + toStream((await differenceTo(overlay)).added);
  return [kustomization, { path: `${folder}/${addsIn}`, render }];
}

async function differenceTo(overlay: Variant): Promise<Difference> {
  return differenceOf(await objectsOf(BASE), await objectsOf(overlay));
}

/** What watcher, worker and admin need in a cluster that they do not run in. */
function isRight({ kind, metadata }: Manifest): boolean {
  const isInside = IN_CLUSTER.includes(metadata.labels?.['app.kubernetes.io/component']);
  return !isInside && /^(ServiceAccount|((Cluster)?Role|ValidatingAdmissionPolicy)(Binding)?)$/.test(kind);
}

function ofComponent(objects: readonly Manifest[], component: string): readonly Manifest[] {
  return objects.filter(({ metadata }) => metadata.labels?.['app.kubernetes.io/component'] === component);
}

function head({ about }: Variant): string {
  return FROM_CHART + about.map((line) => `# ${line}\n`).join('');
}

const KUSTOMIZATION = { apiVersion: 'kustomize.config.k8s.io/v1beta1', kind: 'Kustomization' };

function baseKustomization(): string {
  const resources = COMPONENTS.map((component) => `${component}.yaml`);
  return head(BASE) + toYaml({ ...KUSTOMIZATION, namespace: 'reroll', resources });
}

function overlayKustomization(overlay: Variant, { added, removed, changed }: Difference): string {
  const { addsIn } = overlay;
  if (added.length > 0 !== (addsIn !== undefined))
    throw new Error(`expected \`addsIn\` of an overlay exactly if it adds objects; it adds ${added.length}`);
  const patches = [
    ...removed.map(({ apiVersion, kind, metadata: { name, namespace } }) => ({
      patch: toYaml({ $patch: 'delete', apiVersion, kind, metadata: { name, namespace } }),
    })),
    ...changed.map(({ object: { kind, metadata }, operations }) => ({
      target: { kind, name: metadata.name },
      patch: toYaml(operations),
    })),
  ];
  const resources = ['../../base', ...(addsIn === undefined ? [] : [addsIn])];
  return head(overlay) + toYaml({ ...KUSTOMIZATION, resources, patches });
}
