import { KubeClient, type RequestReport } from '@reroll/kube/client/connection';
import { KubeError } from '@reroll/kube/client/errors';
import { countsOf, pairOf, type RequestCounts } from './measure/request-counts.ts';

/** The bench's own way to the API server: clients of Reroll's kind that count what they send. */
export class Api {
  readonly #kubeconfig: string;
  readonly #own = new Map<string, number>();
  readonly #clients: KubeClient[] = [];
  /** For whatever is not timed. */
  readonly client: KubeClient;

  constructor(kubeconfig: string) {
    this.#kubeconfig = kubeconfig;
    this.client = this.open(64);
  }

  /** One more client; it is closed with the others. */
  open(connections: number): KubeClient {
    const client = new KubeClient({
      kubeconfig: this.#kubeconfig,
      userAgent: 'reroll-bench',
      connections,
      timeoutMs: 60_000,
      onRequest: (report) => this.#count(report),
    });
    this.#clients.push(client);
    return client;
  }

  /** Requests that were sent through these clients, so far. */
  ownRequests(): RequestCounts {
    return new Map(this.#own);
  }

  /** Requests that kube-apiserver has finished since it started, by its own metrics. */
  async serverRequests(signal: AbortSignal): Promise<RequestCounts> {
    const chunks: Buffer[] = [];
    for await (const chunk of await this.client.stream('/metrics', { signal })) chunks.push(chunk);
    return countsOf(Buffer.concat(chunks).toString());
  }

  async close(): Promise<void> {
    await Promise.all(this.#clients.map(async (client) => await client.close()));
  }

  #count({ verb, resource, status }: RequestReport): void {
    // Without an answer, nobody knows whether it arrived.
    if (verb === 'watch' || status === 0) return;
    const pair = pairOf(verb, resource);
    this.#own.set(pair, (this.#own.get(pair) ?? 0) + 1);
  }
}

const ATTEMPTS = 5;

/** Repeats what the server refuses for the moment; to be used with requests that may arrive twice. */
export async function persistently<T>(request: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await request();
    } catch (error) {
      if (!(error instanceof KubeError) || !error.retryable || attempt === ATTEMPTS) throw error;
      await new Promise((resolve) => {
        setTimeout(resolve, error.retryAfterMs ?? 100 * 2 ** attempt);
      });
    }
  }
}

/** Creates an object; that it is there already, say by an attempt whose answer was lost, is as good. */
export async function create(client: KubeClient, path: string, manifest: unknown): Promise<void> {
  try {
    await persistently(() => client.post(path, manifest));
  } catch (error) {
    if (!(error instanceof KubeError) || error.reason !== 'AlreadyExists') throw error;
  }
}
