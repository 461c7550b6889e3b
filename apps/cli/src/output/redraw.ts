import type { WriteStream } from 'node:tty';
import type { Io } from '../io.ts';

type Stream = Pick<WriteStream, 'write' | 'rows'> & { readonly isTTY: boolean };

const ESCAPE = '\u001b';
const CLEAR_BELOW = `${ESCAPE}[J`;
/** A line that is longer than the terminal is wide is cut, so that the number of lines on it is known. */
const CUT = `${ESCAPE}[?7l`;
const WRAP = `${ESCAPE}[?7h`;

/** A `redraw` of a terminal; undefined for a pipe, a file, and a terminal that is `dumb`. What does not fit on it is left out. */
export function redrawing(stream: Stream, env: Io['env']): Io['redraw'] {
  if (!stream.isTTY || env['TERM'] === 'dumb') return undefined;
  let drawn = 0;
  return (text) => {
    const lines = fitting(text.trimEnd().split('\n'), stream.rows - 1);
    const up = drawn === 0 ? '' : `${ESCAPE}[${drawn}A`;
    stream.write(`${up}\r${CLEAR_BELOW}${CUT}${lines.join('\n')}${WRAP}\n`);
    drawn = lines.length;
  };
}

/** The first lines and the last one. */
function fitting(lines: readonly string[], rows: number): readonly string[] {
  if (lines.length <= rows || rows < 3) return lines;
  const left = rows - 2;
  return [...lines.slice(0, left), `... ${lines.length - left - 1} more lines`, ...lines.slice(-1)];
}
