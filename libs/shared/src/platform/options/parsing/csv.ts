/**
 * Parses one line of comma-separated values, as pflag's stringSlice does (Go's encoding/csv). A field in double quotes
 * may hold commas; a doubled quote in it stands for one. '' has no fields. Undefined if the quotes do not match.
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
