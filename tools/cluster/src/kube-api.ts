import { readFileSync } from 'node:fs';
import { certificateFile } from './servers/apiserver.ts';
import { ClusterError } from './errors.ts';
import { type HttpRequest, send } from './servers/http.ts';

/** How to talk to the API server of a folder as its admin. */
export interface KubeAccess {
  /** `https://127.0.0.1:PORT`. */
  readonly server: string;
  /** PEM. */
  readonly ca: string;
  readonly token: string;
}

export interface KubeRequest {
  /** With its query: `/api/v1/nodes?limit=1`. */
  readonly path: string;
  /** Default GET, or POST with a body. */
  readonly method?: string;
  /** Sent as JSON. */
  readonly body?: unknown;
  /** Default `application/json`; a patch names its own. */
  readonly contentType?: string;
}

export function kubeAccess({ dir, port, token }: { dir: string; port: number; token: string }): KubeAccess {
  return { server: `https://127.0.0.1:${port}`, ca: readFileSync(certificateFile(dir), 'utf8'), token };
}

/**
 * Asks the API server and returns the parsed answer.
 * @throws ClusterError for any status of 400 and above, with the message of the server.
 */
export async function kube(access: KubeAccess, request: KubeRequest): Promise<unknown> {
  const { path, body, contentType = 'application/json' } = request;
  const { method = body === undefined ? 'GET' : 'POST' } = request;
  const sent: HttpRequest = {
    url: access.server + path,
    method,
    ca: access.ca,
    headers: {
      authorization: `Bearer ${access.token}`,
      accept: 'application/json',
      'content-type': contentType,
    },
    timeoutMs: 30_000,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  };
  const answer = await send(sent);
  if (answer.status >= 400) {
    throw new ClusterError(`${method} ${path} was answered with ${answer.status}: ${answer.body.trim()}`);
  }
  return JSON.parse(answer.body) as unknown;
}
