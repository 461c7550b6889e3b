/** Terminal controls, line separators, invisible characters, and those that change the direction of text, without what JSON escapes. */
const UNSEEN = /[\u007F-\u009F\p{Cf}\p{Zl}\p{Zp}]/gu;

/** Escapes, in a line of the log, characters that JSON leaves as they are and Go's `%q` does not. A line of JSON keeps its value. */
export function escapeUnseen(line: string): string {
  return line.replaceAll(UNSEEN, (character) =>
    Array.from({ length: character.length }, (_none, index) => escapeOf(character.charCodeAt(index))).join(
      '',
    ),
  );
}

function escapeOf(unit: number): string {
  return String.raw`\u` + unit.toString(16).padStart(4, '0');
}
