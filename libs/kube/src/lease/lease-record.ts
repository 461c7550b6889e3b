import type { KubeResource } from '../objects.ts';

/** `coordination.k8s.io/v1` Leases. */
export const LEASES: KubeResource = { group: 'coordination.k8s.io', version: 'v1', plural: 'leases' };

export interface LeaseSpec {
  readonly holderIdentity?: string | null;
  readonly leaseDurationSeconds?: number;
  readonly acquireTime?: string | null;
  readonly renewTime?: string | null;
  readonly leaseTransitions?: number;
}

export interface Lease {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace: string;
    readonly resourceVersion?: string;
    readonly creationTimestamp?: string;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly spec?: LeaseSpec;
}

/** The annotation of the Lease that says what the last leader watched. */
export const SCOPE = 'reroll.dev/scope';
/** The annotation that says until when it had seen and published all of that, RFC 3339, by the API server's clock. */
export const WATCHED_UNTIL = 'reroll.dev/watched-until';

/**
 * Returns until when everything was watched by leaders with another scope, in Unix milliseconds. A leader with this scope adopts what was
 * there by then. Undefined if the last leader had the same scope, or did not write one.
 */
export function watchedByOthersUntil({ metadata }: Lease, scope: string): number | undefined {
  const { [SCOPE]: former = scope, [WATCHED_UNTIL]: text = '' } = metadata.annotations ?? {};
  const until = Date.parse(text);
  return former === scope || Number.isNaN(until) ? undefined : until;
}

/** Milliseconds; the defaults are client-go's. */
export interface LeaseTimes {
  /** How long the others wait after the last renewal that they saw. Default 15 s; whole seconds. */
  readonly leaseDurationMs?: number | undefined;
  /** How long the holder continues without a renewal. Default 10 s. */
  readonly renewDeadlineMs?: number | undefined;
  /** The pause between attempts. Default 2 s. */
  readonly retryPeriodMs?: number | undefined;
}

export interface LeaseSettings {
  readonly leaseDurationMs: number;
  readonly renewDeadlineMs: number;
  readonly retryPeriodMs: number;
}

/** client-go's factor: there must be time for more than one renewal before the deadline. */
const JITTER_FACTOR = 1.2;

/** Fills in the defaults. Throws a `RangeError` that names every problem. */
export function leaseSettings(times: LeaseTimes): LeaseSettings {
  const { leaseDurationMs = 15_000, renewDeadlineMs = 10_000, retryPeriodMs = 2000 } = times;
  const least = retryPeriodMs * JITTER_FACTOR;
  const demands: [ok: boolean, sentence: string][] = [
    [retryPeriodMs > 0, `retryPeriodMs: expected more than 0, given ${retryPeriodMs}`],
    [
      renewDeadlineMs > least,
      `renewDeadlineMs: expected more than ${JITTER_FACTOR} * retryPeriodMs (${least}), given ${renewDeadlineMs}`,
    ],
    [
      leaseDurationMs > renewDeadlineMs,
      `leaseDurationMs: expected more than renewDeadlineMs (${renewDeadlineMs}), given ${leaseDurationMs}`,
    ],
    [
      leaseDurationMs >= 1000 && leaseDurationMs % 1000 === 0,
      `leaseDurationMs: expected whole seconds, given ${leaseDurationMs}`,
    ],
  ];
  const wrong = demands.filter(([ok]) => !ok).map(([, sentence]) => sentence);
  if (wrong.length > 0) throw new RangeError(wrong.join('; '));
  return { leaseDurationMs, renewDeadlineMs, retryPeriodMs };
}

/** `metav1.MicroTime`. */
export function microTime(milliseconds: number): string {
  return new Date(milliseconds).toISOString().replace('Z', '000Z');
}

/** RFC 3339 in whole seconds, like the API's creation times. */
export function secondsTime(milliseconds: number): string {
  return new Date(milliseconds).toISOString().replace(/\.\d+Z$/, 'Z');
}

export function holderOf(lease: Lease | undefined): string {
  return lease?.spec?.holderIdentity ?? '';
}
