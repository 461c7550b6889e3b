/** Which watcher leads, and what only the leader does. */
import { BOTH, option, WATCHER } from '../parsing/option.ts';
import { bool, duration, integer, matching } from '../parsing/values.ts';

const HOUR = 3_600_000;

export const leaderElectionOptions = {
  enableHa: option({
    flag: '--enable-ha',
    env: 'REROLL_ENABLE_HA',
    default: 'false',
    apps: BOTH,
    group: 'Leader election and sweep',
    description:
      'Accepted for compatibility. It has no effect: Reroll always elects a leader, and any number of replicas may run.',
    incumbent: true,
    ...bool(),
  }),
  leaseName: option({
    flag: '--lease-name',
    env: 'REROLL_LEASE_NAME',
    default: 'reroll-watcher',
    apps: WATCHER,
    group: 'Leader election and sweep',
    description: "Name of the Lease in the pod's namespace.",
    ...matching(
      'the name of a Lease (lower case letters, digits, dashes, dots)',
      /^[a-z0-9](?:[-a-z0-9.]{0,251}[a-z0-9])?$/u,
    ),
  }),
  leaseDuration: option({
    flag: '--lease-duration',
    env: 'REROLL_LEASE_DURATION',
    default: '15s',
    apps: WATCHER,
    group: 'Leader election and sweep',
    description: "How long standbys wait after the leader's last renewal before they take over.",
    ...duration({ min: 1_000, max: HOUR }),
  }),
  leaseRenewDeadline: option({
    flag: '--lease-renew-deadline',
    env: 'REROLL_LEASE_RENEW_DEADLINE',
    default: '10s',
    apps: WATCHER,
    group: 'Leader election and sweep',
    description:
      'How long the leader tries to renew the Lease before it gives up leadership. Must be less than --lease-duration.',
    ...duration({ min: 100, max: HOUR }),
  }),
  leaseRetryPeriod: option({
    flag: '--lease-retry-period',
    env: 'REROLL_LEASE_RETRY_PERIOD',
    default: '2s',
    apps: WATCHER,
    group: 'Leader election and sweep',
    description:
      'Pause between attempts to acquire or renew the Lease. 1.2 times this must be less than --lease-renew-deadline.',
    ...duration({ min: 10, max: HOUR }),
  }),
  sweepInterval: option({
    flag: '--sweep-interval',
    env: 'REROLL_SWEEP_INTERVAL',
    default: '60s',
    apps: WATCHER,
    group: 'Leader election and sweep',
    description:
      'Interval of the resync, in which the leader compares everything and enqueues what is still pending.',
    ...duration({ min: 10, max: 24 * HOUR }),
  }),
  adoptionsPerSecond: option({
    flag: '--adoptions-per-second',
    env: 'REROLL_ADOPTIONS_PER_SECOND',
    default: '20',
    apps: WATCHER,
    group: 'Leader election and sweep',
    description:
      'Maximum number of workloads that are recorded for the first time, per second. Recording restarts nothing.',
    ...integer({ min: 1, max: 10_000 }),
  }),
} as const;
