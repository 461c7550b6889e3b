/** Times that suit a test; what is tested does not depend on them. */

/** For watchers: the Lease of one that vanished is free after eight seconds. On a busy machine one may wait seconds for the CPU. */
export const QUICK_LEASE = ['--lease-duration=8s', '--lease-renew-deadline=6s', '--lease-retry-period=1s'];

/** For workers: a job of one that vanished comes back after two to four seconds. */
export const QUICK_LOCK = ['--stalled-lock=2s'];

/** What was lost on the way is found within half a second. */
export const QUICK_RESYNC = '500ms';
