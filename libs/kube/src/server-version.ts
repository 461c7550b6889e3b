import type { KubeClient } from './client/connection.ts';
import { KubeError } from './client/errors.ts';

interface VersionInfo {
  readonly major?: unknown;
  readonly minor?: unknown;
}

/** What a server may answer if the caller may not see the version, or a proxy does not pass the path on. */
const HIDDEN: ReadonlySet<number> = new Set([403, 404]);
const NUMBER = /^\d{1,4}\+?$/u;

/** The version of the API server that a stream is connected to. Each connection may lead to another server. */
export class ServerVersion {
  readonly #client: Pick<KubeClient, 'get'>;
  #current: string | undefined;

  constructor(client: Pick<KubeClient, 'get'>) {
    this.#client = client;
  }

  /** `<major>.<minor>` as last read; undefined if the server does not show it. */
  get current(): string | undefined {
    return this.#current;
  }

  /** Reads it again. Rejects with a `KubeError` if the server cannot be asked. */
  async read(signal: AbortSignal): Promise<void> {
    try {
      const { body } = await this.#client.get<VersionInfo>('/version', { signal });
      this.#current = versionOf(body);
    } catch (error) {
      if (!(error instanceof KubeError) || !HIDDEN.has(error.status)) throw error;
      this.#current = undefined;
    }
  }
}

function versionOf({ major, minor }: VersionInfo): string | undefined {
  const parts = [String(major), String(minor)];
  return parts.every((part) => NUMBER.test(part)) ? parts.join('.') : undefined;
}
