import { randomUUID } from 'node:crypto';
import { isNewer, isRv, RV_UNKNOWN, type Rv } from '@reroll/core/rv';
import { pause, systemClock, type Clock } from '../client/clock.ts';
import type { KubeClient, KubeResponse } from '../client/connection.ts';
import { networkError, KubeError } from '../client/errors.ts';
import {
  holderOf,
  LEASES,
  leaseSettings,
  microTime,
  secondsTime,
  type Lease,
  type LeaseSettings,
  type LeaseSpec,
  type LeaseTimes,
} from './lease-record.ts';
import { apiVersionOf, collectionPath, objectPath } from '../objects.ts';

/** Why leadership ended. `Released` by our own `stop` is none: the caller asked for it. */
export type LostReason =
  /** No renewal came through within the deadline, be it the API's fault or that we were frozen. */
  | 'RenewDeadlineExceeded'
  /** The Lease names somebody else. */
  | 'TakenOver';

export interface LeaseCallbacks {
  /** We lead from now on. */
  onAcquired?(leadership: Leadership): void;
  /** We no longer lead and never will again: at most once. The process is expected to end. */
  onLost?(reason: LostReason): void;
  /** Somebody else holds the Lease; called when that is somebody new. */
  onStandby?(holder: string): void;
  /** An attempt failed; the next one comes after the retry period. */
  onError?(error: KubeError): void;
  /**
   * The Lease is older than the one seen before, so etcd was restored to an earlier state. At most once; we neither
   * lead nor stand by from then on, and write nothing more: the Lease as it was restored tells the others too.
   */
  onRestored?(restored: RestoredLease): void;
}

/** Two resourceVersions of the Lease. */
export interface RestoredLease {
  readonly seenBefore: Rv;
  readonly seenNow: Rv;
}

export interface Leadership {
  /** The Lease's resourceVersion when we acquired it: greater than that of any leader before us. */
  readonly term: string;
  /** The value of the annotation `adoptedAtAnnotation`; '' without that option. */
  readonly adoptedAt: string;
}

export interface LeaseOptions extends LeaseTimes {
  readonly client: Pick<KubeClient, 'get' | 'post' | 'put'>;
  readonly namespace: string;
  readonly name: string;
  /** e.g. the pod's name; a random suffix makes it unique, so a restarted pod is another candidate. */
  readonly identity: string;
  /** Written once, by the first leader ever, with the API server's time; kept by all that follow. */
  readonly adoptedAtAnnotation?: string | undefined;
  /** The term of a leader before us, if one is known: what we write ourselves is later. Default: none is. */
  readonly earlierTerm?: Rv | undefined;
  readonly callbacks?: LeaseCallbacks | undefined;
  readonly clock?: Clock | undefined;
  readonly random?: (() => number) | undefined;
}

/**
 * Leader election over one Lease, with the rules of client-go's `leaderelection`:
 *
 * - Times of other machines are not believed. A Lease is expired when its record has not changed for its
 *   own duration, by our monotonic clock since we saw it change.
 * - A renewal counts from when its request was *begun*. We stop leading `renewDeadline` after that, the
 *   others start `leaseDuration` after the write at the earliest: the difference is the margin.
 * - Every write is conditional on the resourceVersion read.
 *
 * Two deviations: standbys try every 1 to 1.2 retry periods (client-go: 1 to 2.2), so that a released
 * Lease is taken within 3 s with the defaults; and they do not create a deleted Lease before what they
 * last saw of it has expired, so that deleting it makes no second leader.
 */
export class LeaderElector {
  readonly identity: string;
  readonly #options: LeaseOptions;
  readonly #settings: LeaseSettings;
  readonly #clock: Clock;
  readonly #path: string;
  readonly #stopping = new AbortController();
  #loop: Promise<void> | undefined;
  /** The Lease as last read or written; undefined if it is not there. */
  #lease: Lease | undefined;
  /** The greatest resourceVersion of the Lease that we have seen. */
  #newest: Rv = RV_UNKNOWN;
  #isRestored = false;
  /** The record as last seen, and when we saw it change. */
  #record = '';
  #recordSince = 0;
  #reportedHolder: string | undefined;
  /** The last renewTime written. */
  #stampedAt = 0;
  /** Set while we lead, and only then. */
  #leadership: Leadership | undefined;
  /** When the last successful renewal was begun. */
  #renewedAt = 0;
  #cancelDeadline: () => void = () => undefined;
  /** A write has begun and its outcome is not known: it may have made us the holder. */
  #writing = false;

  /** Throws a `RangeError` for times that cannot work together. */
  constructor(options: LeaseOptions) {
    this.#options = options;
    this.#settings = leaseSettings(options);
    this.#clock = options.clock ?? systemClock;
    this.#path = objectPath(LEASES, options);
    this.identity = `${options.identity}_${randomUUID()}`;
  }

  /** Present only while we lead. */
  get leadership(): Leadership | undefined {
    return this.isLeader() ? this.#leadership : undefined;
  }

  /** Who holds the Lease, as far as we know; '' if nobody does. */
  get holder(): string {
    return holderOf(this.#lease);
  }

  /**
   * Whether we lead at this very moment; to be asked before each write. After the process was frozen it
   * says no before any timer has had the chance to.
   */
  isLeader(): boolean {
    if (this.#leadership === undefined) return false;
    if (this.#clock.now() - this.#renewedAt < this.#settings.renewDeadlineMs) return true;
    this.#lose('RenewDeadlineExceeded');
    return false;
  }

  /** Becomes a candidate. A second call does nothing. */
  start(): void {
    this.#loop ??= this.#run();
  }

  /**
   * No longer a candidate, at once and without a word in the Lease: somebody else has found out that etcd was restored.
   * Gives the resourceVersion of the Lease as it was seen last; undefined if the Lease has told it before.
   */
  retire(): Rv | undefined {
    if (this.#isRestored) return undefined;
    this.#isRestored = true;
    this.#leadership = undefined;
    this.#cancelDeadline();
    this.#stopping.abort();
    return this.#newest;
  }

  /** No longer a candidate; gives the Lease back if we hold it. Resolves within `timeoutMs`. */
  async stop(timeoutMs = 5000): Promise<void> {
    const leading = this.isLeader();
    this.#leadership = undefined;
    this.#cancelDeadline();
    this.#stopping.abort();
    await this.#loop;
    if (!this.#isRestored && (leading || this.#writing)) await this.#release(timeoutMs);
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping;
    const random = this.#options.random ?? Math.random;
    while (!signal.aborted) {
      await this.#attempt();
      const spread = this.#leadership === undefined ? 1 + 0.2 * random() : 1;
      await pause(this.#clock, this.#settings.retryPeriodMs * spread, signal);
    }
  }

  /** One attempt to acquire or renew. Never throws. */
  async #attempt(): Promise<void> {
    const begunAt = this.#clock.now();
    try {
      await this.#acquireOrRenew(begunAt);
    } catch (error) {
      if (!this.#stopping.signal.aborted) this.#options.callbacks?.onError?.(networkError('lease', error));
    }
  }

  /**
   * 1. The holder writes over what it wrote last. If somebody else has written since, go on with 2.
   * 2. Read the Lease. If somebody deleted it, the record that we last saw still stands.
   * 3. Held by somebody else and not expired: stand by.
   * 4. Create it if there is none, and write ourselves in.
   */
  async #acquireOrRenew(begunAt: number): Promise<void> {
    if (this.#leadership !== undefined && (await this.#renewUnread(begunAt))) return;
    const found = await this.#find();
    if (found !== undefined) this.#observe(found.body);
    if (this.#isRestored || this.#heldByAnother()) return;
    const { body, date } = found ?? (await this.#create());
    await this.#write(this.#claimed(body, date), begunAt);
  }

  /** Whether the Lease is for now somebody else's; told to the caller. */
  #heldByAnother(): boolean {
    const { holder } = this;
    if (holder === this.identity) return false;
    if (this.#leadership !== undefined) {
      this.#lose('TakenOver');
      return true;
    }
    if (holder === '' || this.#expired()) return false;
    this.#standby(holder);
    return true;
  }

  /** False if the Lease is not as we left it. */
  async #renewUnread(begunAt: number): Promise<boolean> {
    if (this.#lease === undefined) return false;
    try {
      await this.#write(this.#claimed(this.#lease, undefined), begunAt);
      return true;
    } catch (error) {
      if (error instanceof KubeError && (error.status === 409 || error.status === 404)) return false;
      throw error;
    }
  }

  /** Undefined if there is no Lease. */
  async #find(): Promise<KubeResponse<Lease> | undefined> {
    try {
      return await this.#options.client.get<Lease>(this.#path, this.#limits());
    } catch (error) {
      if (error instanceof KubeError && error.status === 404) return undefined;
      throw error;
    }
  }

  #create(): Promise<KubeResponse<Lease>> {
    const { client, namespace, name } = this.#options;
    const metadata = { name, namespace, annotations: this.#lease?.metadata.annotations ?? {} };
    const spec = this.#claim(undefined);
    const lease: Lease = { apiVersion: apiVersionOf(LEASES), kind: 'Lease', metadata, spec };
    this.#writing = true;
    return client.post<Lease>(collectionPath(LEASES, namespace), lease, this.#limits());
  }

  async #write(lease: Lease, begunAt: number): Promise<void> {
    this.#writing = true;
    const { body } = await this.#put(lease, this.#limits());
    this.#writing = false;
    this.#tellIfOlder(body, this.#options.earlierTerm ?? RV_UNKNOWN);
    this.#observe(body);
    if (!this.#isRestored) this.#renewed(body, begunAt);
  }

  #put(lease: Lease, limits: { timeoutMs: number; signal?: AbortSignal }): Promise<KubeResponse<Lease>> {
    return this.#options.client.put<Lease>(this.#path, lease, limits);
  }

  #renewed(lease: Lease, begunAt: number): void {
    // Written, but so late (a frozen process, a slow server) that the others may not wait for us.
    if (this.#stopping.signal.aborted || this.#clock.now() - begunAt >= this.#settings.renewDeadlineMs)
      return;
    this.#renewedAt = begunAt;
    this.#cancelDeadline();
    const remaining = begunAt + this.#settings.renewDeadlineMs - this.#clock.now();
    this.#cancelDeadline = this.#clock.after(remaining, () => this.#lose('RenewDeadlineExceeded'));
    if (this.#leadership !== undefined) return;
    const { adoptedAtAnnotation: annotation = '' } = this.#options;
    this.#leadership = {
      term: lease.metadata.resourceVersion ?? '',
      adoptedAt: lease.metadata.annotations?.[annotation] ?? '',
    };
    this.#reportedHolder = this.identity;
    this.#options.callbacks?.onAcquired?.(this.#leadership);
  }

  /**
   * Every response about the Lease is a write or a quorum read, one after the other, and a Lease that is deleted and
   * created again has a later resourceVersion: in one history of etcd it only grows.
   */
  #tellIfOlder(lease: Lease, seenBefore: Rv): void {
    const seenNow = lease.metadata.resourceVersion;
    if (this.#isRestored || !isRv(seenNow) || !isNewer(seenBefore, seenNow)) return;
    this.retire();
    this.#options.callbacks?.onRestored?.({ seenBefore, seenNow });
  }

  #observe(lease: Lease): void {
    this.#tellIfOlder(lease, this.#newest);
    const { resourceVersion } = lease.metadata;
    if (isRv(resourceVersion)) this.#newest = resourceVersion;
    this.#lease = lease;
    const record = JSON.stringify(lease.spec ?? {});
    if (record === this.#record) return;
    this.#record = record;
    this.#recordSince = this.#clock.now();
  }

  #expired(): boolean {
    const duration = (this.#lease?.spec?.leaseDurationSeconds ?? 0) * 1000;
    return this.#clock.now() - this.#recordSince >= duration;
  }

  #standby(holder: string): void {
    if (holder === this.#reportedHolder) return;
    this.#reportedHolder = holder;
    this.#options.callbacks?.onStandby?.(holder);
  }

  /** The Lease with us as its holder; everything in it that is not ours stays. */
  #claimed(lease: Lease, date: number | undefined): Lease {
    const annotations = { ...lease.metadata.annotations };
    const { adoptedAtAnnotation: annotation } = this.#options;
    if (annotation !== undefined && annotations[annotation] === undefined) {
      annotations[annotation] =
        date === undefined ? (lease.metadata.creationTimestamp ?? '') : secondsTime(date);
    }
    const spec = { ...lease.spec, ...this.#claim(lease) };
    return { ...lease, metadata: { ...lease.metadata, annotations }, spec };
  }

  /**
   * The record that we write. Its times are for people to read, except that the record must be another
   * one each time, or the others would not see that it was renewed.
   */
  #claim(lease: Lease | undefined): LeaseSpec {
    this.#stampedAt = Math.max(Date.now(), this.#stampedAt + 1);
    const now = microTime(this.#stampedAt);
    const mine = holderOf(lease) === this.identity;
    const transitions = lease?.spec?.leaseTransitions ?? 0;
    return {
      holderIdentity: this.identity,
      leaseDurationSeconds: this.#settings.leaseDurationMs / 1000,
      acquireTime: (mine ? lease?.spec?.acquireTime : undefined) ?? now,
      renewTime: now,
      leaseTransitions: lease === undefined || mine ? transitions : transitions + 1,
    };
  }

  /** Best effort: who does not get through leaves the others to wait for the Lease's duration. */
  async #release(timeoutMs: number): Promise<void> {
    const now = microTime(Date.now());
    const limits = { timeoutMs: timeoutMs / 2 };
    try {
      const lease = (await this.#options.client.get<Lease>(this.#path, limits)).body;
      this.#observe(lease);
      if (this.#isRestored) return;
      if (holderOf(lease) !== this.identity) return;
      const spec = {
        ...lease.spec,
        holderIdentity: '',
        leaseDurationSeconds: 1,
        acquireTime: now,
        renewTime: now,
      };
      this.#observe((await this.#put({ ...lease, spec }, limits)).body);
    } catch (error) {
      this.#options.callbacks?.onError?.(networkError('lease release', error));
    }
  }

  #lose(reason: LostReason): void {
    if (this.#leadership === undefined) return;
    this.#leadership = undefined;
    this.#cancelDeadline();
    this.#stopping.abort();
    this.#options.callbacks?.onLost?.(reason);
  }

  /** Half the renew deadline, as Kubernetes' own components: one stuck request leaves time for another. */
  #limits(): { timeoutMs: number; signal: AbortSignal } {
    return { timeoutMs: this.#settings.renewDeadlineMs / 2, signal: this.#stopping.signal };
  }
}
