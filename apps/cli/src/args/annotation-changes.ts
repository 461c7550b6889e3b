import { usageError } from '../errors.ts';

/** Annotations to set or (null) remove, by key. */
export type AnnotationChanges = Readonly<Record<string, string | null>>;

/** Reads changes as `kubectl annotate` does: `key=value` sets an annotation, `key-` removes it. */
export function annotationChanges(flag: string, texts: readonly string[]): AnnotationChanges {
  return Object.fromEntries(texts.map((text) => change(flag, text)));
}

function change(flag: string, text: string): readonly [string, string | null] {
  const equals = text.indexOf('=');
  if (equals > 0) return [text.slice(0, equals), text.slice(equals + 1)];
  if (equals === -1 && text.length > 1 && text.endsWith('-')) return [text.slice(0, -1), null];
  throw usageError(
    `expected ${flag} to be key=value, or key- to take it away, given ${JSON.stringify(text)}`,
  );
}

export function annotationsAfter(
  present: Readonly<Record<string, string>>,
  changes: AnnotationChanges,
): Record<string, string> {
  const merged = { ...present, ...changes };
  return Object.fromEntries(
    Object.entries(merged).flatMap(([key, value]) => (value === null ? [] : [[key, value]])),
  );
}
