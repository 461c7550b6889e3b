import { setTimeout as pause } from 'node:timers/promises';
import { Inject, Injectable } from '@nestjs/common';
import type { Rv } from '@reroll/core/rv';
import { KubeClient } from '@reroll/kube/client/connection';
import { LeaderElector } from '@reroll/kube/lease/lease';
import { Process } from '@reroll/nest/process';
import { SettingsError } from '@reroll/nest/settings-error';
import { repeatedFailure } from '@reroll/shared/platform/logging/repeated-failure';
import type { WatcherOptions } from '@reroll/shared/platform/options/parsing/table';
import type { RestoredEtcd } from './publish/restored-etcd.ts';
import { ADOPTED_AT, readAdoptedAt, type Adoption } from './resync/adoption.ts';
import { scopeDigest } from './resync/scope-digest.ts';
import { WatcherState } from './state.ts';
import { BEGIN_ANEW, EARLIER_TERM, WATCHER_OPTIONS } from './tokens.ts';
import type { OlderObject } from './watch/older-objects.ts';

/** Resets the catalog after a restore of etcd, then ends the process. */
export type BeginAnew = (restored: RestoredEtcd) => void;

/** Milliseconds between two attempts to read the Lease. */
const RETRY = 100;
/** Attempts before a failure is logged: at first there is no Lease. */
const PATIENCE = 20;

/** Milliseconds by which a watch may be late. */
const LAG = 10_000;

/** Whether this watcher holds the Lease, and when the install adopted the cluster. */
@Injectable()
export class Leadership {
  readonly #elector: LeaderElector;
  readonly #scope: string;
  #isPublished: () => boolean = () => false;

  constructor(
    private readonly client: KubeClient,
    @Inject(WATCHER_OPTIONS) private readonly options: WatcherOptions,
    private readonly process: Process,
    readonly state: WatcherState,
    @Inject(EARLIER_TERM) earlierTerm: Rv,
    @Inject(BEGIN_ANEW) private readonly beginAnew: BeginAnew,
  ) {
    this.#scope = scopeDigest(options);
    this.#elector = this.#candidate(earlierTerm);
  }

  begin(): void {
    this.process.lifecycle.onStop('lease', 3_000, () => this.#elector.stop(2_500));
    this.#elector.start();
  }

  isLeader(): boolean {
    return this.#elector.isLeader();
  }

  /** Where the leader's API is reached, if it has told. */
  get address(): string | undefined {
    return this.#elector.holderAddress;
  }

  /** This watcher has taken over. `isPublished`: whether it has seen and published all that it watches. */
  watches(isPublished: () => boolean): void {
    this.#isPublished = isPublished;
  }

  /** The term of this watcher's leadership; undefined if it does not lead. */
  get term(): string | undefined {
    return this.#elector.leadership?.term;
  }

  /** See `KubeClient.apiTime`. The Lease is read or written every two seconds, so there always is a recent answer. */
  apiTime(): number {
    return this.client.apiTime();
  }

  /** Ends the process: Redis refused a write because a newer leader has written. */
  refused(): void {
    const reason = 'no longer leader, shutting down: a newer leader has written';
    void this.process.lifecycle.stop(reason, 1);
  }

  /** Gives up the Lease and begins anew: the object shows that etcd was restored to an earlier state. */
  retire(object: OlderObject): void {
    const fence = this.#elector.retire();
    if (fence !== undefined) this.beginAnew({ ...object, fence });
  }

  /**
   * Reads the time from the Lease, where the first leader of the install wrote it; undefined only during shutdown. Rejects with a
   * `SettingsError` if the value there is not a time.
   */
  async adoption(): Promise<Adoption | undefined> {
    const { lifecycle, log } = this.process;
    const { podNamespace: namespace, leaseName: name } = this.options;
    const report = repeatedFailure(log, 'cannot read the Lease, retrying');
    for (let attempt = 1; !lifecycle.signal.aborted; attempt += 1) {
      try {
        const adoption = await readAdoptedAt(this.client, { namespace, name, scope: this.#scope });
        if (adoption) return adoption;
      } catch (error) {
        if (error instanceof SettingsError) throw error;
        if (attempt >= PATIENCE) report(error);
      }
      await pause(RETRY, undefined, { signal: lifecycle.signal }).catch(() => undefined);
    }
    return undefined;
  }

  #candidate(earlierTerm: Rv): LeaderElector {
    const { client, options, state } = this;
    const {
      lifecycle,
      log,
      options: { leaderAddress: address },
    } = this.process;
    return new LeaderElector({
      client,
      namespace: options.podNamespace,
      name: options.leaseName,
      identity: options.podName,
      adoptedAtAnnotation: ADOPTED_AT,
      scope: {
        value: this.#scope,
        watchedUntil: () => (this.#isPublished() ? client.apiTime() - LAG : undefined),
      },
      address,
      earlierTerm,
      ready: state.firstSync,
      leaseDurationMs: options.leaseDuration,
      renewDeadlineMs: options.leaseRenewDeadline,
      retryPeriodMs: options.leaseRetryPeriod,
      callbacks: {
        onAcquired: ({ term }) => {
          log.info('acquired the Lease', { term });
          // stakater/Reloader logs this when it acquires the Lease.
          log.info('still the leader!');
          state.lead();
        },
        onLost: (reason) => {
          log.info('no longer leader, shutting down');
          void lifecycle.stop(`no longer leader, shutting down: ${reason}`, 1);
        },
        onStandby: (holder) => log.info(`new leader is ${holder}`),
        onError: repeatedFailure(log, 'acquiring or renewing the Lease failed'),
        onRestored: (restored) => this.beginAnew({ ...restored, fence: restored.seenNow }),
      },
    });
  }
}
