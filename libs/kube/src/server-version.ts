import type { KubeClient } from './client/connection.ts';
import { KubeError } from './client/errors.ts';

interface VersionInfo {
  readonly major?: unknown;
  readonly minor?: unknown;
}

/** Refusals of credentials and of too many requests: the version may be shown next time. */
const TRY_AGAIN: ReadonlySet<number> = new Set([401, 429]);
const NUMBER = /^\d{1,4}\+?$/u;

/** The version of the API server that a stream is connected to. Each connection may lead to another server. */
export class ServerVersion {
  readonly #client: Pick<KubeClient, 'get'>;
  #current: string | undefined;
  #isRead = false;

  constructor(client: Pick<KubeClient, 'get'>) {
    this.#client = client;
  }

  /** `<major>.<minor>` as last read; undefined if the server does not show it. */
  get current(): string | undefined {
    return this.#current;
  }

  /** Reads it again, and returns whether it has changed since the last time. Rejects with a `KubeError` if the server cannot be asked. */
  async read(signal: AbortSignal): Promise<boolean> {
    const before = this.#current;
    const wasRead = this.#isRead;
    this.#current = await this.#ask(signal);
    this.#isRead = true;
    return wasRead && before !== this.#current;
  }

  async #ask(signal: AbortSignal): Promise<string | undefined> {
    try {
      return versionOf((await this.#client.get<VersionInfo | null>('/version', { signal })).body);
    } catch (error) {
      if (isHidden(error)) return undefined;
      throw error;
    }
  }
}

/** Whether the caller may not see the version, or a proxy does not pass the path on. */
function isHidden(error: unknown): boolean {
  if (!(error instanceof KubeError)) return false;
  const isRefused = error.status >= 400 && error.status < 500 && !TRY_AGAIN.has(error.status);
  return isRefused || error.code === 'KUBE_BAD_RESPONSE';
}

function versionOf(info: VersionInfo | null): string | undefined {
  const parts = [String(info?.major), String(info?.minor)];
  return parts.every((part) => NUMBER.test(part)) ? parts.join('.') : undefined;
}
