/** Parses JSON; undefined if the text is not JSON. */
export function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The fields of a JSON object; none if the text is something else. */
export function jsonFields(text: string): Readonly<Record<string, unknown>> {
  const found = jsonOf(text);
  return typeof found === 'object' && found !== null ? (found as Readonly<Record<string, unknown>>) : {};
}
