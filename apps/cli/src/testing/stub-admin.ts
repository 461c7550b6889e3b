import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { afterAll } from 'vitest';

/** A request, as a handler sees it. */
export interface StubRequest {
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}
export interface StubAnswer {
  readonly status?: number;
  readonly type?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: unknown;
}
/** Undefined answers 404. A function writes the response itself. */
export type StubHandler = (
  request: StubRequest,
) => StubAnswer | undefined | ((response: ServerResponse) => void);

/** An HTTP server in place of the admin; it is closed after the file's specs. */
export async function stubAdmin(
  handler: StubHandler,
): Promise<{ readonly url: string; readonly requests: StubRequest[] }> {
  const requests: StubRequest[] = [];
  const server = createServer((incoming, response) => {
    const chunks: Buffer[] = [];
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
    incoming.on('end', () => {
      const url = new URL(incoming.url ?? '/', 'http://stub');
      const request = {
        method: incoming.method ?? '',
        path: url.pathname,
        query: url.searchParams,
        headers: incoming.headers,
        body: Buffer.concat(chunks).toString(),
      };
      requests.push(request);
      answer(response, handler(request));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('expected a port');
  return { url: `http://127.0.0.1:${address.port}`, requests };
}

export function problem(
  status: number,
  code: string,
  rest: Readonly<Record<string, unknown>> = {},
): StubAnswer {
  const body = { type: `urn:reroll:problem:${code}`, title: `Title of ${code}`, status, code, ...rest };
  return { status, type: 'application/problem+json', body };
}

function answer(response: ServerResponse, given: ReturnType<StubHandler>): void {
  if (typeof given === 'function') return given(response);
  const { status = 200, type = 'application/json', headers = {}, body } = given ?? problem(404, 'NotFound');
  response.writeHead(status, { 'content-type': type, ...headers });
  response.end(typeof body === 'string' ? body : JSON.stringify(body));
}
