import { Backoff } from '@reroll/kube/client/backoff';
import { pause, systemClock } from '@reroll/kube/client/clock';
import { KubeError, errorClass } from '@reroll/kube/client/errors';
import type { Logger } from '@reroll/shared/platform/logging/logging';
import { StreamGroup, type Stream } from './stream-group.ts';
import { PENDING_JOB_LABEL } from '@reroll/core/reload/pending-job';
import { isServed } from '@reroll/kube/discovery';
import { collectionPath } from '@reroll/kube/objects';
import {
  SECRET_PROVIDER_CLASSES,
  SECRET_PROVIDER_CLASS_POD_STATUSES,
} from '@reroll/kube/sources/secret-provider-class';
import type { WorkloadKindDefinition } from '@reroll/kube/workloads/definition';
import { job } from '@reroll/kube/workloads/job';
import { WORKLOAD_DEFINITIONS } from '@reroll/kube/workloads/registry';
import type { KindStreams, StreamsContext, WatchedNamespace } from './kind-streams.ts';
import { PROVIDER_CLASS } from './provider-class-stores.ts';

export interface OptionalStreamContext {
  /** Whether the API server serves the kind now; rejects if that cannot be determined. */
  readonly isServed: (signal: AbortSignal) => Promise<boolean>;
  /** Makes a namespace's streams, not started. They call `onMissing` when they find their collection gone. */
  readonly open: (namespace: string, onMissing: () => void) => readonly Stream[];
  /** Called when the objects of the kind are gone with its API; called again if it rejects. */
  readonly gone: (namespace: string) => Promise<void>;
  /** Milliseconds between two calls of `isServed`. */
  readonly interval: number;
  readonly log: Logger;
}

/** Milliseconds that stopping the streams of a removed API may take. */
const STOP = 3_000;

/**
 * The streams of a kind whose API may come and go: started when the API server serves it, stopped when it no longer
 * does. While that cannot be determined, nothing changes, and the question is repeated with a back-off.
 */
export class OptionalStream {
  readonly #context: OptionalStreamContext;
  readonly #stopping = new AbortController();
  readonly #backoff: Backoff;
  /** By namespace in scope; null while the API server does not serve the kind. */
  readonly #streams = new Map<string, StreamGroup | null>();
  /** `ending`: the API is gone, and its objects are not forgotten yet. */
  #state: 'unknown' | 'present' | 'ending' | 'absent' = 'unknown';
  #loop: Promise<void> | undefined;
  #lookNow = new AbortController();

  constructor(context: OptionalStreamContext) {
    this.#context = context;
    this.#backoff = new Backoff({ maxMs: context.interval });
  }

  start(): void {
    this.#loop ??= this.#run();
  }

  /** A namespace (`''`: all of them) enters the scope. */
  enter(namespace: string): void {
    this.#streams.set(namespace, this.#state === 'present' ? this.#open(namespace) : null);
  }

  /** The namespace leaves the scope. The caller forgets its objects. */
  async leave(namespace: string): Promise<void> {
    const streams = this.#streams.get(namespace);
    this.#streams.delete(namespace);
    await streams?.stop(STOP);
  }

  /**
   * Whether it is still unknown which objects of the kind exist: the API server has not answered yet, or the first
   * list is not complete.
   */
  isUndecided(namespace: string): boolean {
    if (this.#state === 'unknown') return true;
    const streams = this.#streams.get(namespace);
    return this.#state === 'present' && streams?.isListed !== true;
  }

  /** Whether the lists are complete and without a gap. Also true before the first of them, and without an API. */
  get isSynced(): boolean {
    return [...this.#streams.values()].every((streams) => streams === null || streams.isSynced);
  }

  async stop(timeout: number): Promise<void> {
    this.#stopping.abort();
    this.#lookNow.abort();
    await Promise.all([this.#loop, this.#stopAll(timeout)]);
  }

  async #run(): Promise<void> {
    while (!this.#stopping.signal.aborted) {
      const delay = await this.#attempt();
      // This controller ends the pause early when a stream finds its collection gone.
      await pause(systemClock, delay, this.#lookNow.signal);
      if (!this.#stopping.signal.aborted) this.#lookNow = new AbortController();
    }
  }

  /** Returns the delay before the next attempt, in ms. */
  async #attempt(): Promise<number> {
    const { interval, log } = this.#context;
    try {
      await this.#look();
      this.#backoff.reset();
      return interval;
    } catch (error) {
      const delay = this.#backoff.next();
      if (!this.#stopping.signal.aborted) {
        const { code, status } = error instanceof KubeError ? error : { code: errorClass(error), status: 0 };
        log.warning('cannot determine whether the API server serves this kind, retrying', {
          code,
          status,
          milliseconds: Math.round(delay),
        });
      }
      return delay;
    }
  }

  async #look(): Promise<void> {
    const isPresent = await this.#context.isServed(this.#stopping.signal);
    if (this.#stopping.signal.aborted) return;
    if (isPresent && this.#state !== 'present') this.#begin();
    if (!isPresent && this.#state !== 'absent') await this.#end();
  }

  #begin(): void {
    this.#context.log.info('the API is available, watch started');
    this.#state = 'present';
    for (const namespace of this.#streams.keys()) this.#streams.set(namespace, this.#open(namespace));
  }

  #open(namespace: string): StreamGroup {
    const streams = new StreamGroup(this.#context.open(namespace, () => this.#lookNow.abort()));
    streams.start();
    return streams;
  }

  async #end(): Promise<void> {
    // If the first answer is "no", there is nothing to forget, unless a leader began before it came.
    if (this.#state !== 'unknown' || this.#backoff.attempts > 0) {
      this.#context.log.info('the API was removed, watch stopped');
      this.#state = 'ending';
      await this.#stopAll(STOP);
      for (const namespace of this.#streams.keys()) {
        this.#streams.set(namespace, null);
        await this.#context.gone(namespace);
      }
    }
    this.#state = 'absent';
  }

  async #stopAll(timeout: number): Promise<void> {
    const open = [...this.#streams.values()].filter((streams) => streams !== null);
    await Promise.all(open.map((streams) => streams.stop(timeout)));
  }
}

/** Selects by the presence of the label. */
const labelSelector = PENDING_JOB_LABEL;

interface Kinds {
  readonly kinds: KindStreams;
  /** Throws a `RangeError` if the namespace is not watched. */
  readonly namespaceOf: (name: string) => WatchedNamespace;
}

/** The streams of the kinds that the API server may not serve, by kind. */
export function optionalStreams(context: StreamsContext, of: Kinds): Map<string, OptionalStream> {
  const { options } = context;
  const wanted = WORKLOAD_DEFINITIONS.filter(({ isWanted }) => isWanted?.(options));
  const streams = new Map<string, OptionalStream>(
    wanted.map((definition) => [definition.kind, workloadStream(definition, context, of)]),
  );
  if (options.ignoredWorkloadTypes.some((type) => type === 'jobs'))
    streams.set(job.kind, pendingJobStream(context, of));
  if (options.enableCsiIntegration) streams.set(PROVIDER_CLASS, providerClassStream(context, of));
  return streams;
}

function workloadStream(
  definition: WorkloadKindDefinition,
  { client, options, log }: StreamsContext,
  { kinds, namespaceOf }: Kinds,
): OptionalStream {
  const { kind } = definition;
  return new OptionalStream({
    isServed: (signal) => isServed(client, definition, { signal }),
    open: (name, onMissing) => [kinds.workloads(definition, namespaceOf(name), { onMissing })],
    gone: (name) => kinds.noWorkloads(kind, namespaceOf(name)),
    interval: options.discoveryInterval,
    log: log.child({ kind }),
  });
}

/** Runs while the API server serves both classes and statuses. */
function providerClassStream(
  { client, options, log }: StreamsContext,
  { kinds, namespaceOf }: Kinds,
): OptionalStream {
  return new OptionalStream({
    isServed: async (signal) =>
      (await isServed(client, SECRET_PROVIDER_CLASSES, { signal })) &&
      (await isServed(client, SECRET_PROVIDER_CLASS_POD_STATUSES, { signal })),
    open: (name, onMissing) => kinds.providerClasses(namespaceOf(name), onMissing),
    // The known versions stay: a removed CRD says nothing about the versions that pods run with.
    gone: async () => undefined,
    interval: options.discoveryInterval,
    log: log.child({ kind: PROVIDER_CLASS }),
  });
}

/**
 * Watches pending Jobs where Jobs are ignored, to finish what an earlier run began: the pending Job may be all that
 * remains of a Job. Runs while Reroll may list Jobs (the chart revokes that with `reloader.ignoreJobs`), and nothing
 * waits for it.
 */
function pendingJobStream(context: StreamsContext, { kinds, namespaceOf }: Kinds): OptionalStream {
  const { options, log } = context;
  return new OptionalStream({
    isServed: (signal) => mayBeListed(context, signal),
    open: (name) => [kinds.workloads(job, namespaceOf(name), { labelSelector })],
    gone: (name) => kinds.noWorkloads(job.kind, namespaceOf(name)),
    interval: options.discoveryInterval,
    log: log.child({ kind: job.kind, labels: PENDING_JOB_LABEL }),
  });
}

async function mayBeListed({ client, options }: StreamsContext, signal: AbortSignal): Promise<boolean> {
  const namespaces = options.namespaces.length === 0 ? [undefined] : options.namespaces;
  const query = { labelSelector, limit: 1 };
  try {
    for (const namespace of namespaces) await client.get(collectionPath(job, namespace), { query, signal });
    return true;
  } catch (error) {
    if (error instanceof KubeError && error.status === 403) return false;
    throw error;
  }
}
