/**
 * Controls (C0, DEL, C1), format characters (zero-width ones, and those that turn the direction of writing), line and
 * paragraph separators: nothing that moves a terminal's cursor, colours it, or makes a line read as another one.
 */
const UNSAFE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/** Text of others, on one line, as it can be printed: what a terminal would act on becomes `\u001b`. */
export function safeText(text: string): string {
  return text.replaceAll(UNSAFE, escaped);
}

/** The same for JSON, and for YAML that quotes as JSON does: their own line breaks stay, and they read back as they were. */
export function safeLines(text: string): string {
  return text.split('\n').map(safeText).join('\n');
}

function escaped(character: string): string {
  const units = Array.from({ length: character.length }, (_, index) => character.charCodeAt(index));
  return units.map((unit) => String.raw`\u${unit.toString(16).padStart(4, '0')}`).join('');
}
