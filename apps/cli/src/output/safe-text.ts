/**
 * Controls (C0, DEL, C1), format characters (zero-width ones, and those that change the direction of writing), line and
 * paragraph separators: everything that moves a terminal's cursor, colors text, or makes a line read as another one.
 */
const UNSAFE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/** Makes foreign text safe to print on one line: characters that a terminal would act on become `\u001b`. */
export function safeText(text: string): string {
  return text.replaceAll(UNSAFE, escaped);
}

/** As `safeText`, for JSON and for YAML that quotes as JSON does: line breaks stay, and values read back as they were. */
export function safeLines(text: string): string {
  return text.split('\n').map(safeText).join('\n');
}

function escaped(character: string): string {
  const units = Array.from({ length: character.length }, (_, index) => character.charCodeAt(index));
  return units.map((unit) => String.raw`\u${unit.toString(16).padStart(4, '0')}`).join('');
}
