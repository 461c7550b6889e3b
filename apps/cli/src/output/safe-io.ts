import type { Io } from '../io.ts';
import { COLOUR_CODES, isColoured } from './colour.ts';
import { safeLines } from './safe-text.ts';

/**
 * All output passes here. A terminal only gets line breaks and, where colours are on, our own colours. Foreign text is
 * escaped by `safeText` where it is put into a line, because it must not break the line; this catches text that was
 * forgotten there.
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
