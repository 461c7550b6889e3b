import type { PodTemplate } from '@reroll/core/model';
import type { KubeClient } from '@reroll/kube/client/connection';
import { JsonLines } from '@reroll/kube/client/json-lines';
import { collectionPath, type KubeObject } from '@reroll/kube/objects';
import { ClusterError } from '../../../cluster/src/errors.ts';
import { DEPLOYMENTS } from '../kinds.ts';
import type { RolloutLog } from './rollout-log.ts';

interface WorkloadObject extends KubeObject {
  readonly spec?: { readonly template?: PodTemplate };
}

interface WatchEvent {
  readonly type: string;
  readonly object: WorkloadObject;
}

/** A watch of all Deployments that tells a log what it sees. */
export class RolloutWatch {
  readonly #client: KubeClient;
  readonly #path: string;
  readonly #log: RolloutLog;
  readonly #end = new AbortController();
  #resourceVersion = '';
  #lastEventAt = performance.now();
  #failure: unknown;
  #reading: Promise<void> = Promise.resolve();

  constructor(client: KubeClient, log: RolloutLog) {
    this.#client = client;
    this.#path = collectionPath(DEPLOYMENTS);
    this.#log = log;
  }

  /** Resolves when everything from now on will be seen. */
  async start(): Promise<void> {
    const page = await this.#client.get<KubeObject>(this.#path, { query: { limit: 1 } });
    this.#resourceVersion = page.body.metadata.resourceVersion;
    const chunks = await this.#open();
    this.#reading = this.#follow(chunks).catch((error: unknown) => {
      this.#failure = error;
    });
  }

  /** How long no workload has been written, by anybody, in milliseconds. */
  get quietMs(): number {
    return performance.now() - this.#lastEventAt;
  }

  /** @throws ClusterError when the watch broke: then what was counted is worth nothing. */
  verify(): void {
    if (this.#failure === undefined) return;
    throw new ClusterError('the watch of the bench broke: the run measured nothing', {
      cause: this.#failure,
    });
  }

  async stop(): Promise<void> {
    this.#end.abort();
    await this.#reading;
  }

  async #open(): Promise<AsyncIterable<Buffer>> {
    return await this.#client.stream(this.#path, {
      query: { watch: true, allowWatchBookmarks: true, resourceVersion: this.#resourceVersion },
      signal: this.#end.signal,
    });
  }

  /** kube-apiserver ends every watch after a while: then the next begins where it ended. */
  async #follow(first: AsyncIterable<Buffer>): Promise<void> {
    for (let chunks = first; ; chunks = await this.#open()) {
      try {
        await this.#read(chunks);
      } catch (error) {
        if (this.#end.signal.aborted) return;
        throw error;
      }
      if (this.#end.signal.aborted) return;
    }
  }

  async #read(chunks: AsyncIterable<Buffer>): Promise<void> {
    const lines = new JsonLines();
    for await (const chunk of chunks) {
      const at = performance.now();
      for (const event of lines.push(chunk)) this.#take(event as WatchEvent, at);
    }
  }

  #take({ type, object }: WatchEvent, at: number): void {
    if (type === 'ERROR') throw new ClusterError('the watch of the bench ended with an error of the server');
    this.#resourceVersion = object.metadata.resourceVersion;
    if (type === 'BOOKMARK') return;
    this.#lastEventAt = at;
    const { namespace, name, generation = 1 } = object.metadata;
    const markers = markersOf(object.spec?.template);
    this.#log.observe({ workload: `${namespace}/${name}`, generation, markers, at });
  }
}

/** Where stakater/Reloader, and whoever takes over from it, leave the hash of a source. */
export function markersOf(template: PodTemplate | undefined): string[] {
  const variables = (template?.spec?.containers ?? []).flatMap((container) => container.env ?? []);
  const values = variables.filter(({ name }) => name.startsWith('STAKATER_')).map(({ value }) => value ?? '');
  return [...values, ...Object.values(template?.metadata?.annotations ?? {})];
}
