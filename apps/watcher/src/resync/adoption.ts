import { LEASES } from '@reroll/kube/lease/lease-record';
import type { KubeClient } from '@reroll/kube/client/connection';
import { objectPath } from '@reroll/kube/objects';

/** The annotation of the Lease that holds when this install adopted the cluster, RFC 3339, by the API server's clock. */
export const ADOPTED_AT = 'reroll.dev/adopted-at';

/**
 * Returns when this install adopted the cluster, in Unix seconds; undefined until the first leader has written it.
 * Rejects with a `KubeError` if the Lease cannot be read.
 */
export async function readAdoptedAt(
  client: Pick<KubeClient, 'get'>,
  lease: { namespace: string; name: string },
): Promise<number | undefined> {
  const { body } = await client.get<{ metadata: { annotations?: Record<string, string> } }>(
    objectPath(LEASES, lease),
  );
  const text = body.metadata.annotations?.[ADOPTED_AT];
  const time = text === undefined ? Number.NaN : Date.parse(text);
  return Number.isNaN(time) ? undefined : Math.floor(time / 1000);
}

/** Milliseconds between two checks for tokens. */
export const ADOPTION_PAUSE = 50;

/**
 * Limits the rate of record corrections, which are never urgent: a token bucket in memory that holds one token plus
 * what one pause adds. At most that many adoption jobs are under way when a change arrives: two at 20 a second.
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

  /** Whether any of `wanted` could be taken now. */
  hasToken(wanted: number): boolean {
    this.#fill();
    return wanted > 0 && this.#tokens >= 1;
  }

  /** Takes up to `most` tokens and returns how many. */
  take(most: number): number {
    this.#fill();
    const taken = Math.min(most, Math.floor(this.#tokens));
    this.#tokens -= taken;
    return taken;
  }

  #fill(): void {
    const now = this.#now();
    const filled = this.#tokens + ((now - this.#filledAt) / 1000) * this.#perSecond;
    this.#tokens = Math.min(this.#size, filled);
    this.#filledAt = now;
  }
}
