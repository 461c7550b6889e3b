import { createHash } from 'node:crypto';
import type { PodTemplate, SourceData } from '../model.ts';

/**
 * Whether the pods of a template began with this data of the ConfigMap `name`, by the variable that ConfigmapController (fabric8)
 * wrote into every container. A variable with another value proves nothing: with several ConfigMaps in its list, fabric8 wrote the
 * token of the changed one into the variables of all.
 */
export function isFabric8Mark({ spec }: PodTemplate, name: string, data: SourceData): boolean {
  const names = variableNames(name);
  const marks = (spec?.containers ?? [])
    .flatMap(({ env = [] }) => env)
    .filter((variable) => names.has(variable.name))
    .map(({ value = '' }) => value);
  const tokens = tokensOf(data);
  return marks.length > 0 && marks.every((mark) => tokens.includes(mark));
}

/**
 * Returns `FABRIC8_<NAME>_CONFIGMAP`. NAME is upper case; a run of characters other than A-Z and 0-9 becomes one `_`, or nothing at
 * the start. Release 2.3.5 only replaced `-` by `_`; earlier ones removed it.
 */
function variableNames(name: string): ReadonlySet<string> {
  const upper = name.toUpperCase();
  const snake = upper.replaceAll(/[^A-Z0-9]+/g, '_').replace(/^_/, '');
  return new Set([snake, upper.replaceAll('-', '_'), upper].map((each) => `FABRIC8_${each}_CONFIGMAP`));
}

/** In every release, `key=value` of `data`, sorted and joined with `;`. Later releases use the base64url of its SHA-256. */
function tokensOf({ data }: SourceData): string[] {
  const text = Object.entries(data ?? {})
    .map(([key, value]) => `${key}=${value}`)
    .sort()
    .join(';');
  const digest = createHash('sha256').update(text).digest('base64');
  return [text, digest.replaceAll('+', '-').replaceAll('/', '_')];
}
