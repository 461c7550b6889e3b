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
  SCOPE,
  secondsTime,
  WATCHED_UNTIL,
  watchedByOthersUntil,
  type Lease,
  type LeaseSettings,
  type LeaseSpec,
  type LeaseTimes,
} from './lease-record.ts';
import { apiVersionOf, collectionPath, objectPath } from '../objects.ts';

/** Why leadership ended. A stop by the caller is not reported. */
export type LostReason =
  /** No renewal succeeded within the deadline, because of the API or because this process was frozen. */
  | 'RenewDeadlineExceeded'
  /** The Lease names another holder. */
  | 'TakenOver';

export interface LeaseCallbacks {
  /** This process leads from now on. */
  onAcquired?(leadership: Leadership): void;
  /** This process no longer leads and never will again; called at most once. The process should end. */
  onLost?(reason: LostReason): void;
  /** Another process holds the Lease; called for each new holder. */
  onStandby?(holder: string): void;
  /** An attempt failed; the next one follows after the retry period. */
  onError?(error: KubeError): void;
  /**
   * The Lease is older than before, so etcd was restored to an earlier state. Called at most once. From then on this process
   * neither leads nor stands by, and writes nothing; the restored Lease tells the others too.
   */
  onRestored?(restored: RestoredLease): void;
}

/** Two resourceVersions of the Lease. */
export interface RestoredLease {
  readonly seenBefore: Rv;
  readonly seenNow: Rv;
}

export interface Leadership {
  /** The Lease's resourceVersion when this process acquired it: greater than that of any earlier leader. */
  readonly term: string;
  /** The value of the annotation `adoptedAtAnnotation`; '' without that option. */
  readonly adoptedAt: string;
}

export interface LeaseOptions extends LeaseTimes {
  readonly client: Pick<KubeClient, 'get' | 'post' | 'put'>;
  readonly namespace: string;
  readonly name: string;
  /** E.g. the pod's name. A random suffix makes it unique, so a restarted pod is a new candidate. */
  readonly identity: string;
  /** Written once, by the first leader of the install, with the API server's time; later leaders keep it. */
  readonly adoptedAtAnnotation?: string | undefined;
  /**
   * What this candidate watches, as a text, and until when it has watched all of it, in Unix milliseconds by the API server's clock. The
   * leader writes both, and after a leader with another scope also `adoptedAtAnnotation` anew (`watchedByOthersUntil`). Nothing is
   * written while it returns undefined.
   */
  readonly scope?: { readonly value: string; readonly watchedUntil: () => number | undefined } | undefined;
  /** Where this process serves what only the leader can answer; in the Lease, while it holds it. Default: nowhere. */
  readonly address?: string | undefined;
  /** The term of an earlier leader, if known: this process's own writes are later. Default: none. */
  readonly earlierTerm?: Rv | undefined;
  /** Fires when this candidate could go on where a leader ends. Default: it always could. */
  readonly ready?: AbortSignal | undefined;
  readonly callbacks?: LeaseCallbacks | undefined;
  readonly clock?: Clock | undefined;
  readonly random?: (() => number) | undefined;
}

/** The address of the holder. */
export const ADDRESS = 'reroll.dev/address';

/** In retry periods: others who stand by have tried once by then. */
const TRIED = 1.5;

/**
 * Leader election over one Lease, with the rules of client-go's `leaderelection`:
 *
 * - Clocks of other machines are not trusted. A Lease has expired when its record has not changed for the record's own duration,
 *   measured by our monotonic clock.
 * - A renewal counts from the *start* of its request. We stop leading `renewDeadline` after that; the others start `leaseDuration`
 *   after the write at the earliest. The difference is the margin.
 * - Every write is conditional on the resourceVersion that was read.
 *
 * Three deviations:
 *
 * - Standbys try every 1 to 1.2 retry periods (client-go: 1 to 2.2), so that a released Lease is taken within 3 s with the defaults.
 * - They do not create a deleted Lease before the record that they last saw has expired, so that deleting the Lease does not create
 *   a second leader.
 * - A candidate that was not `ready` while somebody held the Lease leaves a free Lease to others for 1.5 retry periods, in which each
 *   of them tries; if it is not ready by then, for at most a Lease's duration. It takes one that nobody ever held at once.
 */
export class LeaderElector {
  readonly identity: string;
  readonly #options: LeaseOptions;
  readonly #settings: LeaseSettings;
  readonly #clock: Clock;
  readonly #path: string;
  readonly #stopping = new AbortController();
  #loop: Promise<void> | undefined;
  /** The Lease as last read or written; undefined if it does not exist. */
  #lease: Lease | undefined;
  /** The greatest resourceVersion of the Lease seen so far. */
  #newest: Rv = RV_UNKNOWN;
  #isRestored = false;
  /** The record as last seen, and when it was seen to change. */
  #record = '';
  #recordSince = 0;
  /** When this candidate was ready. */
  #readySince = Infinity;
  #reportedHolder: string | undefined;
  /** The last renewTime written. */
  #stampedAt = 0;
  /** Set only while this process leads. */
  #leadership: Leadership | undefined;
  /** When the last successful renewal started. */
  #renewedAt = 0;
  #cancelDeadline: () => void = () => undefined;
  /** A write has started and its result is not known; it may have made us the holder. */
  #writing = false;

  /** Throws a `RangeError` for times that do not fit together. */
  constructor(options: LeaseOptions) {
    this.#options = options;
    this.#settings = leaseSettings(options);
    this.#clock = options.clock ?? systemClock;
    this.#path = objectPath(LEASES, options);
    this.identity = `${options.identity}_${randomUUID()}`;
    const { ready } = options;
    if (ready === undefined || ready.aborted) this.#readySince = -Infinity;
    else ready.addEventListener('abort', () => (this.#readySince = this.#clock.now()), { once: true });
  }

  /** Set only while this process leads. */
  get leadership(): Leadership | undefined {
    return this.isLeader() ? this.#leadership : undefined;
  }

  /** The known holder of the Lease; '' if there is none. */
  get holder(): string {
    return holderOf(this.#lease);
  }

  /**
   * The address of another process that holds the Lease; undefined if there is none, or it has told none. Never our own, which an earlier
   * life of this pod may have left in the Lease.
   */
  get holderAddress(): string | undefined {
    const isAnother =
      this.holder !== '' && this.holder !== this.identity && this.#clock.now() < this.#freeAt();
    const address = isAnother ? this.#lease?.metadata.annotations?.[ADDRESS] : undefined;
    return address === this.#options.address ? undefined : address;
  }

  /**
   * Whether this process leads at this moment; check it before each write. After a freeze it returns false even before any timer
   * has run.
   */
  isLeader(): boolean {
    if (this.#leadership === undefined) return false;
    if (this.#clock.now() - this.#renewedAt < this.#settings.renewDeadlineMs) return true;
    this.#lose('RenewDeadlineExceeded');
    return false;
  }

  /** Starts to compete for the Lease. Further calls do nothing. */
  start(): void {
    this.#loop ??= this.#run();
  }

  /**
   * Stops competing at once without releasing the Lease, because another component found that etcd was restored. Returns the last
   * resourceVersion of the Lease; undefined if the Lease itself showed the restore before.
   */
  retire(): Rv | undefined {
    if (this.#isRestored) return undefined;
    this.#isRestored = true;
    this.#leadership = undefined;
    this.#cancelDeadline();
    this.#stopping.abort();
    return this.#newest;
  }

  /** Stops competing, and releases the Lease if this process holds it. Resolves within `timeoutMs`. */
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
      const wait = this.#settings.retryPeriodMs * spread;
      const turn = this.#turnAt() - this.#clock.now();
      await pause(this.#clock, turn > 0 ? Math.min(turn, wait) : wait, signal);
    }
  }

  /** Tries once to acquire or renew. Never throws. */
  async #attempt(): Promise<void> {
    const begunAt = this.#clock.now();
    try {
      await this.#acquireOrRenew(begunAt);
    } catch (error) {
      if (!this.#stopping.signal.aborted) this.#options.callbacks?.onError?.(networkError('lease', error));
    }
  }

  /**
   * 1. The holder overwrites what it wrote last. If another process has written since, continue with 2.
   * 2. Read the Lease. If it was deleted, the record that we last saw still counts.
   * 3. If another process holds it and it has not expired, stand by. If it is free and others go first, wait.
   * 4. Create the Lease if there is none, and become its holder.
   */
  async #acquireOrRenew(begunAt: number): Promise<void> {
    if (this.#leadership !== undefined && (await this.#renewUnread(begunAt))) return;
    const found = await this.#find();
    if (found !== undefined) this.#observe(found.body);
    if (this.#isRestored || this.#heldByAnother() || this.#clock.now() < this.#turnAt()) return;
    const { body, date } = found ?? (await this.#create());
    await this.#write(this.#claimed(body, date), begunAt);
  }

  /** Whether another process holds the Lease for now; reports it to the caller. */
  #heldByAnother(): boolean {
    const { holder } = this;
    if (holder === this.identity) return false;
    if (this.#leadership !== undefined) {
      this.#lose('TakenOver');
      return true;
    }
    if (this.#clock.now() >= this.#freeAt()) return false;
    this.#standby(holder);
    return true;
  }

  /** When nobody holds the Lease that was last seen, unless it is renewed. */
  #freeAt(): number {
    const seconds = this.holder === '' ? 0 : (this.#lease?.spec?.leaseDurationSeconds ?? 0);
    return this.#recordSince + seconds * 1000;
  }

  /** When this candidate may take a Lease that is free by then. Who was ready when the record last changed goes first. */
  #turnAt(): number {
    if (this.#leadership !== undefined || !this.#wasHeld()) return 0;
    if (this.#readySince <= this.#recordSince) return this.#freeAt();
    const { retryPeriodMs, leaseDurationMs } = this.#settings;
    const isReady = this.#readySince !== Infinity;
    return this.#freeAt() + (isReady ? TRIED * retryPeriodMs : leaseDurationMs);
  }

  /** Whether others may have held the Lease. Without the annotation there has been no leader, and nobody can be ready. */
  #wasHeld(): boolean {
    const { adoptedAtAnnotation: annotation } = this.#options;
    if (this.#lease === undefined || this.holder === this.identity) return false;
    return annotation === undefined || this.#lease.metadata.annotations?.[annotation] !== undefined;
  }

  /** Returns false if the Lease was changed by others. */
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

  /** Returns undefined if there is no Lease. */
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
    // The write succeeded, but so late (a frozen process, a slow server) that the others may not wait any longer.
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
   * Responses about the Lease are writes or quorum reads, one after the other, and a Lease that is deleted and created again has a
   * later resourceVersion. So in one history of etcd it only grows.
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

  #standby(holder: string): void {
    if (holder === this.#reportedHolder) return;
    this.#reportedHolder = holder;
    this.#options.callbacks?.onStandby?.(holder);
  }

  /** Returns the Lease with us as its holder; other fields are kept. */
  #claimed(lease: Lease, date: number | undefined): Lease {
    const { [ADDRESS]: _ofAnother, ...others } = lease.metadata.annotations ?? {};
    const { adoptedAtAnnotation: annotation, address } = this.#options;
    const annotations: Record<string, string> =
      address === undefined ? others : { ...others, [ADDRESS]: address };
    if (annotation !== undefined && annotations[annotation] === undefined) {
      annotations[annotation] =
        date === undefined ? (lease.metadata.creationTimestamp ?? '') : secondsTime(date);
    }
    Object.assign(annotations, this.#scopeIn(lease));
    const spec = { ...lease.spec, ...this.#claim(lease) };
    return { ...lease, metadata: { ...lease.metadata, annotations }, spec };
  }

  /** Returns the annotations that say what this leader has watched. */
  #scopeIn(lease: Lease): Record<string, string> {
    const { scope, adoptedAtAnnotation: annotation } = this.#options;
    const until = scope?.watchedUntil();
    if (!scope || until === undefined) return {};
    const own = { [SCOPE]: scope.value, [WATCHED_UNTIL]: secondsTime(until) };
    const adoptedAt = watchedByOthersUntil(lease, scope.value);
    return annotation === undefined || adoptedAt === undefined
      ? own
      : { ...own, [annotation]: secondsTime(adoptedAt) };
  }

  /**
   * Returns the record to write. Its times are only informative, but the record must differ each time, or the others would not see
   * the renewal.
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

  /** Best effort: if it fails, the others wait for the Lease's duration. */
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

  /** Half the renew deadline, as in Kubernetes' components, so that one stuck request leaves time for another. */
  #limits(): { timeoutMs: number; signal: AbortSignal } {
    return { timeoutMs: this.#settings.renewDeadlineMs / 2, signal: this.#stopping.signal };
  }
}
