/** Characters that break a line, control a terminal or cannot be seen, and lone surrogates. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\s]+/gu;

/**
 * Puts text of users on one line: each run of blanks, line breaks, terminal controls and invisible characters becomes one blank.
 * Text longer than `most` characters is cut and ends in `…`.
 */
export function oneLine(text: string, most: number): string {
  const characters = Array.from(text.replace(UNSEEN, ' ').trim());
  return characters.length > most ? `${characters.slice(0, most - 1).join('')}…` : characters.join('');
}
