import { LEASES, watchedByOthersUntil, type Lease } from '@reroll/kube/lease/lease-record';
import type { KubeClient } from '@reroll/kube/client/connection';
import { objectPath } from '@reroll/kube/objects';
import { SettingsError } from '@reroll/nest/settings-error';
import type { WorkloadKey } from '@reroll/core/model';
import { NamespaceTurns } from '@reroll/core/state/namespace-turns';

/** The annotation of the Lease that holds when this install adopted the cluster, RFC 3339, by the API server's clock. */
export const ADOPTED_AT = 'reroll.dev/adopted-at';
/** Characters of an invalid value in an error. */
const MOST_SHOWN = 60;

export interface Adoption {
  /** Unix seconds by the API server's clock. */
  readonly adoptedAt: number;
  /** The last leader had another scope: what it did not watch is adopted as of when it last watched. */
  readonly isScopeNew: boolean;
}

/**
 * Returns when an install with this scope adopted the cluster; undefined until the first leader has written it. Rejects with a
 * `KubeError` if the Lease cannot be read, and with a `SettingsError` if the time is invalid. A later time in its place would adopt
 * what is pending.
 */
export async function readAdoptedAt(
  client: Pick<KubeClient, 'get'>,
  lease: { namespace: string; name: string; scope: string },
): Promise<Adoption | undefined> {
  const { body } = await client.get<Lease>(objectPath(LEASES, lease));
  const text = body.metadata.annotations?.[ADOPTED_AT];
  if (text === undefined) return undefined;
  const written = Date.parse(text);
  if (Number.isNaN(written))
    throw new SettingsError(
      `expected ${ADOPTED_AT} of the Lease ${lease.namespace}/${lease.name} to be the time since when Reroll has managed the cluster, ` +
        `such as 2026-01-02T03:04:05Z, given ${JSON.stringify(text.slice(0, MOST_SHOWN))}`,
    );
  const until = watchedByOthersUntil(body, lease.scope);
  const adoptedAt = Math.floor(Math.max(written, until ?? written) / 1000);
  return { adoptedAt, isScopeNew: until !== undefined };
}

/** Milliseconds between two checks for tokens. */
export const ADOPTION_PAUSE = 50;

/**
 * Workloads whose record is to be corrected, which is never urgent. Namespaces take turns, so that one with many workloads does not
 * delay the others.
 */
export class Corrections {
  readonly #waiting = new NamespaceTurns<WorkloadKey, true>();
  readonly #rate: AdoptionRate;

  constructor(rate: AdoptionRate) {
    this.#rate = rate;
  }

  get isEmpty(): boolean {
    return this.#waiting.isEmpty;
  }

  /** Whether there is a workload to take, and a token. */
  get isReady(): boolean {
    return !this.isEmpty && this.#rate.hasToken;
  }

  /** A workload that waits keeps its place. */
  put(workload: WorkloadKey): void {
    this.#waiting.put(workload, true);
  }

  drop(workload: WorkloadKey): void {
    this.#waiting.drop(workload);
  }

  /** Takes as many workloads as there are tokens. */
  take(): readonly WorkloadKey[] {
    const taken: WorkloadKey[] = [];
    for (let next = this.#next(); next; next = this.#next()) taken.push(next);
    return taken;
  }

  #next(): WorkloadKey | undefined {
    return !this.isEmpty && this.#rate.take() ? this.#waiting.take()?.[0] : undefined;
  }
}

/**
 * Limits the rate of record corrections: a token bucket in memory that holds one token plus what one pause adds. At most that many
 * adoption jobs are under way when a change arrives: two at 20 a second.
 */
export class AdoptionRate {
  readonly #perSecond: number;
  readonly #size: number;
  readonly #now: () => number;
  #tokens: number;
  #filledAt: number;

  /** `perSecond` may be a fraction. */
  constructor(perSecond: number, now: () => number = () => performance.now()) {
    this.#perSecond = perSecond;
    this.#now = now;
    this.#size = 1 + (perSecond * ADOPTION_PAUSE) / 1000;
    this.#tokens = this.#size;
    this.#filledAt = now();
  }

  get hasToken(): boolean {
    this.#fill();
    return this.#tokens >= 1;
  }

  /** Takes a token, if there is one. */
  take(): boolean {
    if (!this.hasToken) return false;
    this.#tokens -= 1;
    return true;
  }

  #fill(): void {
    const now = this.#now();
    const filled = this.#tokens + ((now - this.#filledAt) / 1000) * this.#perSecond;
    this.#tokens = Math.min(this.#size, filled);
    this.#filledAt = now;
  }
}
