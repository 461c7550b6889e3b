import type { Io } from '../io.ts';
import { COLOUR_CODES, isColoured } from './colour.ts';
import { safeLines } from './safe-text.ts';

/**
 * Whatever is printed, by whatever command, passes here: a terminal is given line breaks and our own colours, and only
 * where there are colours. Texts of others are escaped by `safeText` where they are put into a line, because they may not
 * break it; this is for the one that was forgotten.
 */
export function safeIo(io: Io): Io {
  return {
    ...io,
    out: (text) => io.out(printable(text, isColoured(io, io.outIsTerminal))),
    err: (text) => io.err(printable(text, isColoured(io, io.errIsTerminal))),
  };
}

function printable(text: string, hasColours: boolean): string {
  if (!hasColours) return safeLines(text);
  return text
    .split(COLOUR_CODES)
    .map((part, index) => (index % 2 === 0 ? safeLines(part) : part))
    .join('');
}
