import type { KubeClient, KubeStream, RequestOptions, StreamOptions } from '../client/connection.ts';
import { abortedError } from '../client/errors.ts';

/** One line of a watch. */
export function line(type: string, object: object): string {
  return `${JSON.stringify({ type, object })}\n`;
}

/** A ConfigMap at a resourceVersion. */
export function item(name: string, resourceVersion: number, value = '1'): object {
  return {
    metadata: { namespace: 'shop', name, resourceVersion: String(resourceVersion) },
    data: { v: value },
  };
}

/** The bookmark that ends a streamed list. */
export function listEnd(resourceVersion: number): string {
  const annotations = { 'k8s.io/initial-events-end': 'true' };
  return line('BOOKMARK', { metadata: { resourceVersion: String(resourceVersion), annotations } });
}

/** The answer to one call: an error, or text after which the stream ends or (`open`) stays silent. */
export type Answer = Error | { readonly text: string; readonly open?: boolean };

/** Simulates servers that a real one cannot be made to be. Calls that the script does not expect fail. */
export class ScriptedClient implements Pick<KubeClient, 'get' | 'stream'> {
  readonly #streams: Answer[];
  readonly #pages: (object | Error)[];
  /** The page size of each list request. */
  readonly limits: unknown[] = [];
  /** The queries of the calls, as `name=value` words. */
  readonly calls: string[] = [];

  constructor(script: { streams: Answer[]; pages?: (object | Error)[] }) {
    this.#streams = [...script.streams];
    this.#pages = [...(script.pages ?? [])];
  }

  get<T>(
    _path: string,
    { query }: RequestOptions = {},
  ): Promise<{ status: number; body: T; date: undefined }> {
    this.calls.push('page');
    this.limits.push(query?.['limit']);
    const body = this.#pages.shift() ?? new Error('expected no further page');
    if (body instanceof Error) return Promise.reject(body);
    return Promise.resolve({ status: 200, body: body as T, date: undefined });
  }

  stream(_path: string, { query, signal }: StreamOptions): Promise<KubeStream> {
    this.calls.push(query?.['sendInitialEvents'] ? 'list' : `watch ${String(query?.['resourceVersion'])}`);
    const answer = this.#streams.shift() ?? { text: '', open: true };
    return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(play(answer, signal));
  }
}

async function* play(answer: Exclude<Answer, Error>, signal: AbortSignal): AsyncGenerator<Buffer> {
  yield Buffer.from(answer.text);
  if (!answer.open) return;
  await new Promise<void>((resolve) => {
    signal.addEventListener('abort', () => resolve());
    if (signal.aborted) resolve();
  });
  throw abortedError('stream');
}
