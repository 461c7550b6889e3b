/** A file of JSON that is generated for the chart: an object of one list, an item a line. Helm reads JSON much faster than YAML. */
export function linesOfJson(name: string, items: readonly object[]): string {
  const generated = 'from values.yaml by `npm run -s docs`';
  const lines = items.map((item) => `  ${JSON.stringify(item)}`).join(',\n');
  return `{"generated": ${JSON.stringify(generated)}, "${name}": [\n${lines}\n]}\n`;
}
