import { linesOfJson } from './lines-of-json.ts';
import { chartValues, type Value } from './values-comments.ts';

/**
 * deploy/helm/reroll/maps.json: every map that the templates look into, and what it is when the values say null: with keys
 * of its own their defaults, else (also the resources of a container) empty. A map comes before those in it. `default` is of those
 * that the notes compare with it.
 */
export function mapsFile(): string {
  const lines = mapsOf(chartValues()).map(({ path, ...rest }) => ({ path: path.split('.'), ...rest }));
  return linesOfJson('maps', lines);
}

interface ValuesMap {
  /** Dotted. */
  readonly path: string;
  /** What stands in for null. */
  readonly initial: unknown;
  readonly default?: unknown;
}

/** Every map of values.yaml. */
export function mapsOf(values: readonly Value[]): readonly ValuesMap[] {
  return values.flatMap((value) => {
    const { path, children } = value;
    if (children.length === 0) return isMap(value.initial) ? [{ path, initial: {} }] : [];
    if (path.endsWith('.resources')) return [{ path, initial: {}, default: defaultOf(value) }];
    const compared = path.endsWith('.podDisruptionBudget') ? { default: defaultOf(value) } : {};
    return [{ path, initial: defaultOf(value), ...compared }, ...mapsOf(children)];
  });
}

function defaultOf({ children, initial }: Value): unknown {
  if (children.length === 0) return initial;
  return Object.fromEntries(children.map((child) => [child.path.split('.').at(-1), defaultOf(child)]));
}

function isMap(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
