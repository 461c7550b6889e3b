/** A fifth of the defaults, for tests that wait in real time. */
export const SHORT_TIMES = { leaseDurationMs: 3000, renewDeadlineMs: 2000, retryPeriodMs: 400 };
