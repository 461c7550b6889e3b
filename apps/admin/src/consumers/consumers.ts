import { convergenceConclusion } from '@reroll/core/convergence/conclusion';
import { KUBELET_DELAY } from '@reroll/core/convergence/verdict';
import type { SourceId } from '@reroll/core/model';
import type { KubeClient } from '@reroll/kube/client/connection';
import { KubeError } from '@reroll/kube/client/errors';
import {
  ConvergenceReading,
  type Consumer,
  type ReadingLimits,
} from '@reroll/kube/convergence/convergence-reading';
import type { Consumers as Answer } from '@reroll/shared/api/consumers';
import type { AdminOptions } from '@reroll/shared/platform/options/parsing/table';
import type { Request } from 'express';
import { ProblemError } from '../http/problem-error.ts';
import type { CallersCluster } from '../steering/callers-cluster.ts';
import { FewAtATime } from '../http/limits/few-at-a-time.ts';

/** Requests at a time. Each holds one page of pods in memory. */
const MOST_AT_A_TIME = 4;
/** Small pages, so that parsing one holds up other requests for some milliseconds only. */
const LIMITS = { pageSize: 100, bytes: 8 * 1024 * 1024, pods: 5_000, uses: 5_000 };
/** The part of the request's time in which pods are read. The rest is for the source. */
const READING_SHARE = 0.7;
const MOST_ITEMS = 500;
const ORDER = ['stale', 'unknown', 'current'] as const;

/** Who asks. */
export interface Asker {
  readonly name: string;
  readonly request: Pick<Request, 'headers'>;
  /** Fires when the client has disconnected. */
  readonly gone: AbortSignal;
}

/**
 * Tells which containers have older data of a source. It asks the API server with the caller's own token, by the caller's own rights,
 * and keeps nothing. A request reads at most 5,000 pods of the namespace, in pages of 100 and of 8 MiB, and 70 % of
 * `--api-request-timeout` is the most time for them; how many run at a time: `FewAtATime`.
 */
export class Consumers {
  readonly #cluster: Pick<CallersCluster, 'run'>;
  readonly #options: Pick<AdminOptions, 'apiRequestTimeout'>;
  readonly #few = new FewAtATime(MOST_AT_A_TIME);

  constructor(cluster: Pick<CallersCluster, 'run'>, options: Pick<AdminOptions, 'apiRequestTimeout'>) {
    this.#cluster = cluster;
    this.#options = options;
  }

  /** Rejects with a `ProblemError`, or a `KubeError` if the API server does not answer. */
  async of(source: SourceId, { name, request, gone }: Asker): Promise<Answer> {
    const command = `kubectl reroll stale --source ${source.kind.toLowerCase()}/${source.name} -n ${source.namespace}`;
    const read = async (client: KubeClient): Promise<Answer> => await this.#read(source, client, gone);
    try {
      return await this.#few.run(name, async () => await this.#cluster.run(request, command, read));
    } catch (error) {
      if (!(error instanceof KubeError) || error.status !== 403) throw error;
      const detail = `expected the right to list pods in the namespace ${source.namespace}`;
      throw new ProblemError('Forbidden', { detail });
    }
  }

  async #read(source: SourceId, client: KubeClient, gone: AbortSignal): Promise<Answer> {
    const { apiRequestTimeout } = this.#options;
    const signal = AbortSignal.any([gone, AbortSignal.timeout(apiRequestTimeout)]);
    const limits: ReadingLimits = { ...LIMITS, time: apiRequestTimeout * READING_SHARE };
    const reading = new ConvergenceReading({ client, now: Date.now, signal, delay: KUBELET_DELAY, limits });
    const { using, isComplete } = await reading.pods(
      source.namespace,
      ({ kind, name }) => kind === source.kind && name === source.name,
    );
    const found = await reading.consumers(using, await reading.sourcesOf(using));
    return answerOf(source, found, isComplete);
  }
}

function answerOf(source: SourceId, found: readonly Consumer[], isComplete: boolean): Answer {
  const byState = ORDER.map((state) => found.filter((each) => each.state === state));
  const [stale = [], unknown = [], current = []] = byState;
  return {
    source,
    conclusion: convergenceConclusion(found, isComplete),
    complete: isComplete,
    counts: { stale: stale.length, unknown: unknown.length, current: current.length },
    items: byState
      .flat()
      .slice(0, MOST_ITEMS)
      .map(({ pod, container, use, state, since, why }) => ({ pod, container, use, state, since, why })),
  };
}
