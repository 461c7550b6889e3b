/** Named health checks, each with a deadline. A check that misses it has failed. */
import { errorPhrase } from '../logging/error-fields.ts';

/**
 * Returns undefined if healthy, else the reason in our own words, because the response is public. A check that throws has
 * failed; only class and code of an unknown error are shown. The signal fires at the deadline.
 */
export type HealthCheck = (signal: AbortSignal) => Promise<string | undefined> | string | undefined;
export type HealthChecks = Readonly<Record<string, HealthCheck>>;

export interface HealthReport {
  readonly ok: boolean;
  /** By name: `ok`, or the reason of the failure. */
  readonly checks: Readonly<Record<string, string>>;
}

/** The deadline of a check, in milliseconds. */
export const CHECK_DEADLINE_MS = 2_000;

async function outcomeOf(check: HealthCheck, signal: AbortSignal): Promise<string> {
  try {
    return (await check(signal)) ?? 'ok';
  } catch (error) {
    return `failed: ${errorPhrase(error)}`;
  }
}

async function runCheck(check: HealthCheck): Promise<string> {
  const controller = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const deadline = new Promise<string>((resolve) => {
    timer = setTimeout(() => {
      resolve(`no answer within ${CHECK_DEADLINE_MS / 1_000} s`);
      controller.abort();
    }, CHECK_DEADLINE_MS);
  });
  try {
    return await Promise.race([outcomeOf(check, controller.signal), deadline]);
  } finally {
    clearTimeout(timer);
  }
}

/** Runs all checks concurrently. Never rejects. */
export async function runHealthChecks(checks: HealthChecks): Promise<HealthReport> {
  const results = await Promise.all(
    Object.entries(checks).map(async ([name, check]) => [name, await runCheck(check)] as const),
  );
  return { ok: results.every(([, result]) => result === 'ok'), checks: Object.fromEntries(results) };
}
