import type { Request } from 'express';
import { ProblemError } from './problem-error.ts';

/** The maximum size of a body, in bytes. */
const MOST_OF_BODY = 64 * 1024;

const JSON_TYPE = /^application\/json\s*(?:;|$)/iu;

/** Reads the JSON of a request. Called only once the caller is known. */
export async function readBody(request: Request): Promise<unknown> {
  if (!JSON_TYPE.test(request.headers['content-type'] ?? ''))
    throw new ProblemError('UnsupportedMediaType', { detail: 'expected Content-Type: application/json' });
  if (request.headers['content-encoding'] !== undefined)
    throw new ProblemError('UnsupportedMediaType', { detail: 'expected a body without Content-Encoding' });
  const text = await readText(request);
  try {
    return JSON.parse(text);
  } catch {
    // V8's message quotes the text.
    throw new ProblemError('InvalidRequest', { errors: [{ path: 'body', expected: 'JSON' }] });
  }
}

async function readText(request: Request): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > MOST_OF_BODY)
      throw new ProblemError('TooLarge', { detail: `expected at most ${MOST_OF_BODY} bytes` });
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
