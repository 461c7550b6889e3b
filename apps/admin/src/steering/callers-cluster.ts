import { KubeError } from '@reroll/kube/client/errors';
import { MERGE_PATCH, METADATA_ONLY, type KubeClient } from '@reroll/kube/client/connection';
import { resumedMetadata } from '@reroll/kube/sources/resume-change';
import type { AdminOptions } from '@reroll/shared/platform/options/parsing/table';
import type { Request } from 'express';
import { bearerToken } from '../auth/bearer-token.ts';
import { ProblemError } from '../http/problem-error.ts';

/** Milliseconds, so that the request is answered before its own deadline. */
const PATCH_TIMEOUT = 5_000;
const PATCH_OPTIONS = {
  contentType: MERGE_PATCH,
  accept: METADATA_ONLY,
  query: { fieldManager: 'reroll-admin' },
  timeoutMs: PATCH_TIMEOUT,
} as const;
const REFUSED: ReadonlySet<number> = new Set([400, 409, 413, 422]);

/** Annotations to set or (null) remove. */
export interface AnnotationPatch {
  /** Of the object in the API. */
  readonly path: string;
  readonly annotations: Readonly<Record<string, string | null>>;
  /** The command that does the same without the admin. */
  readonly command: string;
}

/** Whether callers of this admin can have a token that the API server takes. */
export function takesClusterTokens(
  options: Pick<AdminOptions, 'auth' | 'apiAcceptApiServerTokens'>,
): boolean {
  return options.auth === 'kubernetes' && options.apiAcceptApiServerTokens;
}

/**
 * Reads and writes in the cluster as the caller, with their own token, where the admin has no right of its own. Static tokens are not
 * sent anywhere.
 */
export class CallersCluster {
  readonly #client: Pick<KubeClient, 'as'>;
  readonly #options: Pick<AdminOptions, 'auth'>;

  constructor(client: Pick<KubeClient, 'as'>, options: Pick<AdminOptions, 'auth'>) {
    this.#client = client;
    this.#options = options;
  }

  /** Rejects with a `ProblemError` if the caller may not, and with a `KubeError` if the API server does not answer. */
  async annotate(
    request: Pick<Request, 'headers'>,
    { path, annotations, command }: AnnotationPatch,
  ): Promise<void> {
    await this.#write(request, { command, rights: 'patch' }, (client) =>
      client.patch(path, { metadata: { annotations } }, PATCH_OPTIONS),
    );
  }

  /** Lets a halted change go on; see `resumedMetadata`. Rejects like `annotate`. */
  async resume(
    request: Pick<Request, 'headers'>,
    { path, reason, command }: { path: string; reason: string; command: string },
  ): Promise<void> {
    await this.#write(request, { command, rights: 'get and patch' }, async (client) => {
      const metadata = await resumedMetadata(client, { path, reason, timeoutMs: PATCH_TIMEOUT });
      return await client.patch(path, { metadata }, PATCH_OPTIONS);
    });
  }

  async #write(
    request: Pick<Request, 'headers'>,
    { command, rights }: { command: string; rights: string },
    task: (client: KubeClient) => Promise<unknown>,
  ): Promise<void> {
    try {
      await this.run(request, command, task);
    } catch (error) {
      throw problemOf(error, rights);
    }
  }

  /**
   * Runs the task with a client of the caller, which is closed afterwards. Rejects with a `ProblemError` that names the command if there
   * is no token that the API server takes, and with the task's error.
   */
  async run<Result>(
    request: Pick<Request, 'headers'>,
    command: string,
    task: (client: KubeClient) => Promise<Result>,
  ): Promise<Result> {
    const { token } = bearerToken(request);
    if (token === undefined || this.#options.auth !== 'kubernetes') throw noClusterToken(command);
    const client = this.#client.as(token);
    try {
      return await task(client);
    } catch (error) {
      throw error instanceof KubeError && error.status === 401 ? noClusterToken(command) : error;
    } finally {
      await client.close();
    }
  }
}

function problemOf(error: unknown, rights: string): unknown {
  if (!(error instanceof KubeError)) return error;
  const { status, reason } = error;
  if (status === 403)
    return new ProblemError('Forbidden', {
      detail: `expected the right to ${rights} this object in the cluster`,
    });
  if (status === 404) return new ProblemError('NotFound');
  if (REFUSED.has(status))
    return new ProblemError('Conflict', { detail: `the API server refused the annotation (${reason})` });
  return error;
}

function noClusterToken(command: string): ProblemError {
  return new ProblemError('Forbidden', {
    detail: `expected a token for the API server, because this is done with the rights of the caller. An admin takes such tokens with --api-accept-api-server-tokens. Without one, use: ${command}`,
  });
}
