/** A POST to an external server, with a deadline. Redirects are not followed. */
import { Agent, ProxyAgent, type Dispatcher } from 'undici';
import { trustMessagesOf } from '../logging/error-fields.ts';

/** The request was not received: the message is a status, or a code such as `ECONNREFUSED`, without URL or response. */
export class PostError extends Error {
  readonly code: string;

  constructor(code: string) {
    super(`expected the receiver to accept it; given ${code}`);
    this.name = 'PostError';
    this.code = code;
  }
}
trustMessagesOf(PostError);

export interface Post {
  readonly contentType: string;
  readonly body: string;
  isReceived(status: number): boolean;
}

/** Bytes of a response that are read at most. */
const MOST_ANSWER = 64 * 1024;

const CODE = /^[A-Z][A-Z0-9_]{1,63}$/u;

/** The code of the error or of its cause. Not the message, which may hold the URL. */
function codeOf(error: unknown): string {
  const causes = [error, error instanceof Error ? error.cause : undefined];
  const codes = causes.map((each) => (each as { code?: unknown } | null | undefined)?.code);
  return codes.find((code) => typeof code === 'string' && CODE.test(code))?.toString() ?? 'no answer';
}

function credentialsOf({ username, password }: URL): Record<string, string> {
  if (username === '' && password === '') return {};
  const text = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return { authorization: `Basic ${Buffer.from(text).toString('base64')}` };
}

export interface HttpPostSettings {
  readonly url: string;
  readonly proxy?: string | undefined;
  /** Milliseconds for a whole attempt. */
  readonly timeout: number;
  /** Default: connections to the URL, or to the proxy. */
  readonly dispatcher?: Dispatcher | undefined;
}

/** Posts to one URL, directly or through a proxy (`HTTP_PROXY` is not read). */
export class HttpPost {
  readonly #url: URL;
  readonly #dispatcher: Dispatcher;
  readonly #timeout: number;
  readonly #headers: Readonly<Record<string, string>>;

  /** Throws if a URL is invalid. */
  constructor({ url, proxy, timeout, dispatcher }: HttpPostSettings) {
    this.#url = new URL(url);
    this.#timeout = timeout;
    this.#headers = { 'user-agent': 'Reroll', ...credentialsOf(this.#url) };
    this.#dispatcher = dispatcher ?? (proxy === undefined ? new Agent() : new ProxyAgent(proxy));
  }

  /** Rejects with a `PostError` unless the server accepted the request. */
  async send(post: Post): Promise<void> {
    const status = await this.#status(post);
    if (!post.isReceived(status)) throw new PostError(`status ${status}`);
  }

  async close(): Promise<void> {
    await this.#dispatcher.destroy();
  }

  async #status({ contentType, body }: Post): Promise<number> {
    const signal = AbortSignal.timeout(this.#timeout);
    try {
      const answer = await this.#dispatcher.request({
        origin: this.#url.origin,
        path: this.#url.pathname + this.#url.search,
        method: 'POST',
        headers: { ...this.#headers, 'content-type': contentType },
        body,
        signal,
      });
      // The response's body is discarded, and it does not matter if it ends early.
      await answer.body.dump({ limit: MOST_ANSWER, signal }).catch(() => undefined);
      return answer.statusCode;
    } catch (error) {
      throw new PostError(signal.aborted ? `no answer within ${this.#timeout} ms` : codeOf(error));
    }
  }
}
