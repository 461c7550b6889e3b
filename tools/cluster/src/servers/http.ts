import { request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';

export interface HttpRequest {
  readonly url: string;
  /** Default GET. */
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** PEM of the authority that signed the server's certificate. Default: the system's authorities. */
  readonly ca?: string;
  /** Default true. False only for a probe that sends no credential. */
  readonly verify?: boolean;
  /** Default 5000. */
  readonly timeoutMs?: number;
}

export interface HttpResponse {
  readonly status: number;
  readonly body: string;
}

/** Sends one request. Any status is a result; only a connection that fails is an error. */
export async function send(options: HttpRequest): Promise<HttpResponse> {
  const { url, method = 'GET', headers = {}, body, ca, verify = true, timeoutMs = 5000 } = options;
  const request = url.startsWith('https:') ? requestHttps : requestHttp;
  return await new Promise((resolve, reject) => {
    const sent = request(
      url,
      {
        method,
        // A connection of its own: one kept from before a server was killed would fail in another way.
        agent: false,
        headers,
        signal: AbortSignal.timeout(timeoutMs),
        ...(ca === undefined ? {} : { ca }),
        rejectUnauthorized: verify,
      },
      (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('error', reject);
        response.on('end', () =>
          resolve({ status: response.statusCode ?? 0, body: Buffer.concat(chunks).toString('utf8') }),
        );
      },
    );
    sent.on('error', reject);
    sent.end(body);
  });
}

/** Whether a GET answers 200; a connection that fails means no. */
export async function answersOk(options: HttpRequest): Promise<boolean> {
  try {
    return (await send(options)).status === 200;
  } catch {
    return false;
  }
}
