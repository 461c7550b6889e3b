import type { Io } from '../io.ts';
import { COLOR_CODES, isColored } from './color.ts';
import { safeLines } from './safe-text.ts';

/**
 * All output passes here. A terminal only gets line breaks and, where colors are on, our own colors. Foreign text is
 * escaped by `safeText` where it is put into a line, because it must not break the line; this catches text that was
 * forgotten there.
 */
export function safeIo(io: Io): Io {
  const { redraw } = io;
  return {
    ...io,
    redraw: redraw && ((text) => redraw(printable(text, isColored(io, io.errIsTerminal)))),
    out: (text) => io.out(printable(text, isColored(io, io.outIsTerminal))),
    err: (text) => io.err(printable(text, isColored(io, io.errIsTerminal))),
  };
}

function printable(text: string, hasColors: boolean): string {
  if (!hasColors) return safeLines(text);
  return text
    .split(COLOR_CODES)
    .map((part, index) => (index % 2 === 0 ? safeLines(part) : part))
    .join('');
}
