import { setTimeout as pause } from 'node:timers/promises';
import { Inject, Injectable } from '@nestjs/common';
import type { Rv } from '@reroll/core/rv';
import { KubeClient } from '@reroll/kube/client/connection';
import { LeaderElector } from '@reroll/kube/lease/lease';
import { Process } from '@reroll/nest/process';
import type { WatcherOptions } from '@reroll/shared/platform/options/parsing/table';
import type { RestoredEtcd } from './publish/restored-etcd.ts';
import { ADOPTED_AT, readAdoptedAt } from './resync/adoption.ts';
import { WatcherState } from './state.ts';
import { BEGIN_ANEW, EARLIER_TERM, WATCHER_OPTIONS } from './tokens.ts';
import type { OlderObject } from './watch/older-objects.ts';

/** Resets what is of the history that was undone, and ends the process. */
export type BeginAnew = (restored: RestoredEtcd) => void;

/** Milliseconds. */
const RETRY = 100;

/** The Lease: whether this watcher leads, and since when the cluster is adopted. */
@Injectable()
export class Leadership {
  readonly #elector: LeaderElector;

  constructor(
    private readonly client: KubeClient,
    @Inject(WATCHER_OPTIONS) private readonly options: WatcherOptions,
    private readonly process: Process,
    readonly state: WatcherState,
    @Inject(EARLIER_TERM) earlierTerm: Rv,
    @Inject(BEGIN_ANEW) private readonly beginAnew: BeginAnew,
  ) {
    this.#elector = this.#candidate(earlierTerm);
  }

  /** Becomes a candidate. */
  begin(): void {
    this.process.lifecycle.onStop('lease', 3_000, () => this.#elector.stop(2_500));
    this.#elector.start();
  }

  /** Whether the Lease is ours at this moment. */
  isLeader(): boolean {
    return this.#elector.isLeader();
  }

  /** Undefined: this watcher does not lead. */
  get term(): string | undefined {
    return this.#elector.leadership?.term;
  }

  /** A newer leader has written. */
  refused(): void {
    const reason = 'no longer leader, shutting down: a newer leader has written';
    void this.process.lifecycle.stop(reason, 1);
  }

  /** etcd was restored to an earlier state, as this object shows. */
  retire(object: OlderObject): void {
    const fence = this.#elector.retire();
    if (fence !== undefined) this.beginAnew({ ...object, fence });
  }

  /** From the Lease, where its first leader ever wrote it. Undefined only if the end has begun. */
  async adoptedAt(): Promise<number | undefined> {
    const { lifecycle, log } = this.process;
    const { podNamespace: namespace, leaseName: name } = this.options;
    for (let attempt = 1; !lifecycle.signal.aborted; attempt += 1) {
      try {
        const adoptedAt = await readAdoptedAt(this.client, { namespace, name });
        if (adoptedAt !== undefined) return adoptedAt;
      } catch (error) {
        if (attempt % 20 === 0) log.failure('the Lease cannot be read yet', error);
      }
      await pause(RETRY, undefined, { signal: lifecycle.signal }).catch(() => undefined);
    }
    return undefined;
  }

  #candidate(earlierTerm: Rv): LeaderElector {
    const { client, options, state } = this;
    const { lifecycle, log } = this.process;
    return new LeaderElector({
      client,
      namespace: options.podNamespace,
      name: options.leaseName,
      identity: options.podName,
      adoptedAtAnnotation: ADOPTED_AT,
      earlierTerm,
      leaseDurationMs: options.leaseDuration,
      renewDeadlineMs: options.leaseRenewDeadline,
      retryPeriodMs: options.leaseRetryPeriod,
      callbacks: {
        onAcquired: ({ term }) => {
          log.info('acquired the Lease', { term });
          // The words of stakater/Reloader for a new holder that is itself.
          log.info('still the leader!');
          state.lead();
        },
        onLost: (reason) => {
          log.info('no longer leader, shutting down');
          void lifecycle.stop(`no longer leader, shutting down: ${reason}`, 1);
        },
        onStandby: (holder) => log.info(`new leader is ${holder}`),
        onError: (error) => log.failure('acquiring or renewing the Lease failed', error),
        onRestored: (restored) => this.beginAnew({ ...restored, fence: restored.seenNow }),
      },
    });
  }
}
