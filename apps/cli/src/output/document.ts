import { stringify } from 'yaml';
import { safeLines } from './safe-text.ts';

/** As `-o json` prints it: whatever a terminal would act on is escaped, and reads back as it was. */
export function jsonText(value: unknown): string {
  return `${safeLines(JSON.stringify(value, undefined, 2))}\n`;
}

/** The same on one line, for streams. */
export function jsonLine(value: unknown): string {
  return `${safeLines(JSON.stringify(value))}\n`;
}

/** As `-o yaml` prints it. Texts are quoted as JSON quotes them when they hold anything that is not plain to see. */
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
