import { chartValues, type Value } from './values-comments.ts';

const HEAD = `# Generated from values.yaml: run \`node tools/docs/generate.ts\`.
# Every map that the templates look into, and what it is when the values say null: with keys of its own their defaults,
# else (also the resources of a container) empty. A map comes before those in it.
maps:
`;

/** deploy/helm/reroll/maps.yaml. JSON, one map a line, is YAML too. */
export function mapsFile(): string {
  const lines = mapsOf(chartValues()).map(({ path, initial }) => ({ path: path.split('.'), initial }));
  return HEAD + lines.map((line) => `  - ${JSON.stringify(line)}\n`).join('');
}

/** Every map of values.yaml, by its dotted path, with what stands in for null. */
export function mapsOf(values: readonly Value[]): readonly { path: string; initial: unknown }[] {
  return values.flatMap((value) => {
    const { path, children } = value;
    if (children.length === 0) return isMap(value.initial) ? [{ path, initial: {} }] : [];
    if (path.endsWith('.resources')) return [{ path, initial: {} }];
    return [{ path, initial: defaultOf(value) }, ...mapsOf(children)];
  });
}

function defaultOf({ children, initial }: Value): unknown {
  if (children.length === 0) return initial;
  return Object.fromEntries(children.map((child) => [child.path.split('.').at(-1), defaultOf(child)]));
}

function isMap(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
