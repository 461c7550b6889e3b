/**
 * Names of all Redis keys. One hash tag holds an install's keys together, so that its scripts work on Redis Cluster too. The
 * version changes with the form of the rows; rows of another version are ignored.
 */
export interface CatalogKeys {
  /** `{reroll:<cluster>:<namespace>}`, or `{reroll:<cluster>:<namespace>:<lease>}`: the prefix of every key, including BullMQ's. */
  readonly prefix: string;
  /** String: uid of the cluster's kube-system namespace. */
  readonly cluster: string;
  /** String `<term>:<sequence>`: the term of the leader that wrote last, and the sequence number of that write. */
  readonly writer: string;
  /** Hash: source key to row. */
  readonly sources: string;
  /** Hash: workload key to row. */
  readonly workloads: string;
  /** Prefix of the sets `…<source key>`: workloads that use, name or mention the source. */
  readonly users: string;
  /** Prefix of the strings `…<source key>`: the hashes of the source's last change, for the jobs of that change. */
  readonly readings: string;
  /** Hash: workload key to id of the reload job that is waiting for its next attempt. */
  readonly backingOff: string;
  /** String, and prefix of four more keys `…:<part>`: the limit of reloads, and the workloads that wait for it (see `rate.ts`). */
  readonly budget: string;
  /** Hash: workload key to the record that a dry run pretends to have written. */
  readonly pretended: string;
  /** Prefix of the strings that mark a warning as given. */
  readonly warned: string;
  /** Prefix of the sets `…<source key>`: workloads of an alert that is still to be sent. */
  readonly alerts: string;
  /** Prefix of the strings `…<source key>`: the state for which a webhook was last sent. */
  readonly announced: string;
  /** Hash: source key to the state from which its next change is reported, as `event:1.A` or `list:` (it did not exist). */
  readonly before: string;
  /**
   * Prefix of the hashes `…<source key>`: the number of outcomes by reason that the history does not list, if the latest change
   * enqueued more workloads than its entry lists (see `tell-outcome.lua.ts`).
   */
  readonly tallies: string;
  /** Hash: workload key to its rollout (see `rollouts.ts`) while that is not complete. */
  readonly rollouts: string;
  /** Hash: workload key to the slot that the leader has granted it (see `rollout-slots.ts`), and to a request for one. */
  readonly slots: string;
  readonly slotRequests: string;
  /** Hash: process id to the process's heartbeat (see `processes.ts`). */
  readonly processes: string;
  /** Hash: workload key to its manual reload (see `requests.ts`). */
  readonly requests: string;
  /** Hash: limits set at run time (see `limits.ts`). */
  readonly limits: string;
  /** Prefix of the strings `…<sha256 of actor and key>`: the result of a write through the API. */
  readonly idempotency: string;
  /** Prefix of the sorted sets `…<share>` and `…all`: names of these results by age (see `keep-answer.lua.ts` of the admin). */
  readonly idempotencyOf: string;
  /** String: the key under which admin shows hashes of Secrets. */
  readonly shownHashKey: string;
  /** Streams. */
  readonly changes: string;
  readonly outcomes: string;
  readonly rolloutHistory: string;
  readonly audit: string;
  /** Prefix of the sorted sets `…<stream>` and the lists `…<stream>:<share>`: whose entries a stream has (see `append.lua.ts`). */
  readonly shares: string;
}

const FORM = 'v1';

/** The default of `--lease-name`. */
const DEFAULT_LEASE = 'reroll-watcher';

export interface InstallNames {
  readonly cluster: string;
  readonly namespace: string;
  /** `--lease-name`: two installs in a namespace have a Lease each, so two leaders, whose writes must not meet. */
  readonly lease?: string;
}

export function catalogKeys({ cluster, namespace, lease = DEFAULT_LEASE }: InstallNames): CatalogKeys {
  const prefix = `{reroll:${cluster}:${namespace}${lease === DEFAULT_LEASE ? '' : `:${lease}`}}`;
  const key = (name: string): string => `${prefix}:${FORM}:${name}`;
  return {
    prefix,
    cluster: `${prefix}:cluster`,
    writer: key('writer'),
    sources: key('sources'),
    workloads: key('workloads'),
    users: key('users:'),
    readings: key('readings:'),
    backingOff: key('backing-off'),
    budget: key('budget'),
    pretended: key('pretended'),
    warned: key('warned:'),
    alerts: key('alerts:'),
    announced: key('announced:'),
    before: key('before'),
    tallies: key('tallies:'),
    rollouts: key('rollouts'),
    slots: key('slots'),
    slotRequests: key('slot-requests'),
    processes: key('processes'),
    requests: key('requests'),
    limits: key('limits'),
    idempotency: key('idempotency:'),
    idempotencyOf: key('idempotency-of:'),
    shownHashKey: key('shown-hash-key'),
    changes: key('history:changes'),
    outcomes: key('history:outcomes'),
    rolloutHistory: key('history:rollouts'),
    audit: key('history:audit'),
    shares: key('history-shares:'),
  };
}
