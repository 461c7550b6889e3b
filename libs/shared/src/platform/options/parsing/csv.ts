/**
 * One line of comma-separated values, as pflag's stringSlice reads it (Go's encoding/csv): a field in double
 * quotes may hold commas, and a doubled quote in it stands for one. '' is no field at all. Undefined if the
 * quotes do not add up.
 */
export function parseCsv(line: string): string[] | undefined {
  if (line === '') return [];
  const fields: string[] = [];
  const field = /(?:"(?<quoted>(?:[^"]|"")*)"|(?<bare>[^",]*))(?<end>,|$)/uy;
  for (;;) {
    const groups = field.exec(line)?.groups;
    if (groups === undefined) return undefined;
    fields.push(groups['quoted']?.replaceAll('""', '"') ?? groups['bare'] ?? '');
    if (groups['end'] === '') return fields;
  }
}
