import { stringify } from 'yaml';
import { safeLines } from './safe-text.ts';

/** Prints for `-o json`. Characters that a terminal would act on are escaped, and read back as they were. */
export function jsonText(value: unknown): string {
  return `${safeLines(JSON.stringify(value, undefined, 2))}\n`;
}

/** Prints JSON on one line, for streams. */
export function jsonLine(value: unknown): string {
  return `${safeLines(JSON.stringify(value))}\n`;
}

/** Prints for `-o yaml`. Texts with special characters are quoted as in JSON. */
export function yamlText(value: unknown): string {
  const text = stringify(value, { lineWidth: 0, aliasDuplicateObjects: false, version: '1.1' });
  return safeLines(
    isPlain(text)
      ? text
      : stringify(value, { lineWidth: 0, defaultStringType: 'QUOTE_DOUBLE', aliasDuplicateObjects: false }),
  );
}

function isPlain(text: string): boolean {
  return safeLines(text) === text;
}
