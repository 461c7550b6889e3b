/**
 * Splits a stream of bytes into lines and parses each as JSON, in time linear in the bytes: the pieces of an unfinished line are
 * joined once, when its end arrives.
 */
export interface JsonLinesOptions {
  /** A longer line is refused. Default 64 MiB; etcd limits an object to 1.5 MiB. */
  readonly maxLineBytes?: number;
}

const LINE_FEED = 0x0a;

/** A line is too long or not JSON. The message does not hold its text. */
export class JsonLineError extends Error {
  readonly reason: 'LineTooLong' | 'NotJson';

  constructor(reason: 'LineTooLong' | 'NotJson') {
    super(`expected one JSON document per line, given ${reason === 'NotJson' ? 'something else' : 'no end'}`);
    this.name = 'JsonLineError';
    this.reason = reason;
  }
}

export class JsonLines {
  readonly #maxLineBytes: number;
  #pieces: Buffer[] = [];
  #pieceBytes = 0;

  constructor(options: JsonLinesOptions = {}) {
    this.#maxLineBytes = options.maxLineBytes ?? 64 * 1024 * 1024;
  }

  /** Yields the documents that `chunk` completes, in order. Read all of them before the next `push`. */
  *push(chunk: Buffer): Generator<unknown, void, undefined> {
    let start = 0;
    for (;;) {
      const end = chunk.indexOf(LINE_FEED, start);
      if (end === -1) break;
      const line = this.#complete(chunk, { start, end });
      if (line !== '') yield parse(line);
      start = end + 1;
    }
    if (start < chunk.length) this.#keep(chunk.subarray(start));
  }

  /** Returns the last document, if the stream ended without a line feed. */
  end(): unknown {
    const line = this.#complete(Buffer.alloc(0), { start: 0, end: 0 });
    return line === '' ? undefined : parse(line);
  }

  #complete(chunk: Buffer, part: { start: number; end: number }): string {
    if (this.#pieceBytes === 0) return chunk.toString('utf8', part.start, part.end).trim();
    const line = Buffer.concat([...this.#pieces, chunk.subarray(part.start, part.end)]).toString('utf8');
    this.#pieces = [];
    this.#pieceBytes = 0;
    return line.trim();
  }

  #keep(piece: Buffer): void {
    this.#pieces.push(piece);
    this.#pieceBytes += piece.length;
    if (this.#pieceBytes > this.#maxLineBytes) throw new JsonLineError('LineTooLong');
  }
}

function parse(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    throw new JsonLineError('NotJson'); // V8's message quotes the text
  }
}
