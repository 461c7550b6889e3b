/** What breaks a line, steers a terminal, cannot be seen, or is half a character. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\s]+/gu;

/**
 * Somebody's words on one line, for where others read them: each run of blanks, and of characters that break lines,
 * steer terminals or cannot be seen, is one blank. Longer than `most` characters: cut, with `…` as the last.
 */
export function oneLine(text: string, most: number): string {
  const characters = Array.from(text.replace(UNSEEN, ' ').trim());
  return characters.length > most ? `${characters.slice(0, most - 1).join('')}…` : characters.join('');
}
