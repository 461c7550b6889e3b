/** Who among the watchers leads, and what only the leader does. */
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
      'Accepted for compatibility, without effect: Reroll always elects a leader, run as many replicas as you like.',
    incumbent: true,
    ...bool(),
  }),
  leaseName: option({
    flag: '--lease-name',
    env: 'REROLL_LEASE_NAME',
    default: 'reroll-watcher',
    apps: WATCHER,
    group: 'Leader election and sweep',
    description: 'Name of the Lease, in the namespace of the pod.',
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
    description: 'How long the others wait after the last sign of a leader.',
    ...duration({ min: 1_000, max: HOUR }),
  }),
  leaseRenewDeadline: option({
    flag: '--lease-renew-deadline',
    env: 'REROLL_LEASE_RENEW_DEADLINE',
    default: '10s',
    apps: WATCHER,
    group: 'Leader election and sweep',
    description: 'How long the leader tries to renew before it steps down. Less than the duration.',
    ...duration({ min: 100, max: HOUR }),
  }),
  leaseRetryPeriod: option({
    flag: '--lease-retry-period',
    env: 'REROLL_LEASE_RETRY_PERIOD',
    default: '2s',
    apps: WATCHER,
    group: 'Leader election and sweep',
    description: 'Pause between two attempts. 1.2 times it is less than the renew deadline.',
    ...duration({ min: 10, max: HOUR }),
  }),
  sweepInterval: option({
    flag: '--sweep-interval',
    env: 'REROLL_SWEEP_INTERVAL',
    default: '60s',
    apps: WATCHER,
    group: 'Leader election and sweep',
    description: 'How often the leader looks at everything for what is owed and was lost on the way.',
    ...duration({ min: 10, max: 24 * HOUR }),
  }),
  adoptionsPerSecond: option({
    flag: '--adoptions-per-second',
    env: 'REROLL_ADOPTIONS_PER_SECOND',
    default: '20',
    apps: WATCHER,
    group: 'Leader election and sweep',
    description:
      'At most so many workloads a second are recorded for the first time. Recording restarts nothing.',
    ...integer({ min: 1, max: 10_000 }),
  }),
} as const;
