/** Reads the commands out of what a client writes (RESP: arrays of bulk strings). Text has one character a byte. */
export class RequestReader {
  #rest = '';

  /** Returns the commands that are complete now. */
  read(chunk: string): string[][] {
    const text = this.#rest === '' ? chunk : this.#rest + chunk;
    const commands: string[][] = [];
    let at = 0;
    while (at < text.length) {
      const command = commandAt(text, at);
      if (!command) break;
      commands.push(command.args);
      at = command.end;
    }
    this.#rest = text.slice(at);
    return commands;
  }
}

function commandAt(text: string, start: number): { args: string[]; end: number } | undefined {
  const head = text.indexOf('\r\n', start);
  if (head < 0) return undefined;
  if (text[start] !== '*') throw new Error('expected an array of bulk strings');
  const count = Number(text.slice(start + 1, head));
  const args: string[] = [];
  let at = head + 2;
  for (let index = 0; index < count; index++) {
    const line = text.indexOf('\r\n', at);
    if (line < 0) return undefined;
    const begin = line + 2;
    const end = begin + Number(text.slice(at + 1, line));
    if (end + 2 > text.length) return undefined;
    args.push(text.slice(begin, end));
    at = end + 2;
  }
  return { args, end: at };
}

/** What a client writes as one character a byte. */
export function bytesOf(data: string | Uint8Array): string {
  if (typeof data !== 'string') return Buffer.from(data).toString('latin1');
  const isAscii = Buffer.byteLength(data, 'utf8') === data.length;
  return isAscii ? data : Buffer.from(data, 'utf8').toString('latin1');
}
