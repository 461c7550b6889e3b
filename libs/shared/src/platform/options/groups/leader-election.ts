/** Which watcher leads, and what only the leader does. */
import { ALL, BOTH, options, WATCHER } from '../parsing/option.ts';
import { bool, duration, integer, matching } from '../parsing/values.ts';

const HOUR = 3_600_000;

export const leaderElectionOptions = options('Leader election and resync', {
  enableHa: {
    flag: '--enable-ha',
    default: 'false',
    apps: BOTH,
    description:
      'Accepted for compatibility; no effect. Reroll always elects a leader, with any number of replicas.',
    incumbent: true,
    ...bool(),
  },
  leaseName: {
    flag: '--lease-name',
    default: 'reroll-watcher',
    apps: ALL,
    description:
      'Name of the Lease. All processes of an installation need the same, because the keys in Redis contain it unless it is the default.',
    ...matching(
      'the name of a Lease (lower case letters, digits, dashes, dots)',
      /^[a-z0-9](?:[-a-z0-9.]{0,251}[a-z0-9])?$/u,
    ),
  },
  leaseDuration: {
    flag: '--lease-duration',
    default: '15s',
    apps: WATCHER,
    description:
      "How long standbys wait after the leader's last renewal before they take over. Whole seconds.",
    ...duration({ min: 1_000, max: HOUR }),
  },
  leaseRenewDeadline: {
    flag: '--lease-renew-deadline',
    default: '10s',
    apps: WATCHER,
    description:
      'How long the leader tries to renew the Lease before it steps down. Must be less than --lease-duration.',
    ...duration({ min: 100, max: HOUR }),
  },
  leaseRetryPeriod: {
    flag: '--lease-retry-period',
    default: '2s',
    apps: WATCHER,
    description:
      'Pause between attempts to acquire or renew the Lease. 1.2 times this must be less than --lease-renew-deadline.',
    ...duration({ min: 10, max: HOUR }),
  },
  sweepInterval: {
    flag: '--sweep-interval',
    default: '60s',
    apps: WATCHER,
    description: 'Interval of the resync, which compares everything and enqueues what is still pending.',
    ...duration({ min: 10, max: 24 * HOUR }),
  },
  adoptionsPerSecond: {
    flag: '--adoptions-per-second',
    default: '20',
    apps: WATCHER,
    description:
      'Maximum adoptions per second. An adoption records an existing workload without reloading it.',
    ...integer({ min: 1, max: 10_000 }),
  },
});
