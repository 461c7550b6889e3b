import { stringify } from 'yaml';
import { installed } from '../look.ts';
import { type Manifest, manifestsWith } from '../render.ts';
import type { Variant } from './variants.ts';

/** What only Helm may say of an object. */
const HELM_LABELS = ['helm.sh/chart', 'app.kubernetes.io/managed-by'];
/** The chart writes the name of the namespace; here it is the one that kustomize puts it into. */
const NAMESPACES_ARGUMENT = /^--namespaces=reroll$/;

const rendered = new Map<Variant, Promise<readonly Manifest[]>>();

/** The objects of a variant as the chart renders them, for whoever does not install them by Helm. */
export async function objectsOf(variant: Variant): Promise<readonly Manifest[]> {
  const objects = rendered.get(variant) ?? render(variant);
  rendered.set(variant, objects);
  return await objects;
}

async function render({ values }: Variant): Promise<readonly Manifest[]> {
  const objects = installed(await manifestsWith(values));
  const secret = objects.find(({ kind }) => kind === 'Secret');
  if (secret !== undefined)
    throw new Error(`expected no Secret, for it would be in git; the chart renders ${secret.metadata.name}`);
  return objects.map((object) => withoutHelm(object) as Manifest);
}

function withoutHelm(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutHelm);
  if (typeof value === 'string') return value.replace(NAMESPACES_ARGUMENT, '--namespaces=$(POD_NAMESPACE)');
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).filter(([key]) => !HELM_LABELS.includes(key));
  return Object.fromEntries(entries.map(([key, inner]) => [key, withoutHelm(inner)]));
}

/** `Deployment/reroll-watcher`: all are in one namespace or in none. */
export function keyOf({ kind, metadata }: Manifest): string {
  return `${kind}/${metadata.name}`;
}

export function toYaml(value: unknown): string {
  return stringify(value, { lineWidth: 0, aliasDuplicateObjects: false });
}

export function toStream(objects: readonly unknown[]): string {
  return objects.map(toYaml).join('---\n');
}
