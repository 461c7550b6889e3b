/**
 * Names of everything that Reroll keeps in Redis. One hash tag holds an install's keys together, so that its
 * scripts work on Redis Cluster too; the version changes when a row's form does, and rows of another version
 * are then simply not there.
 */
export interface CatalogKeys {
  /** `{reroll:<cluster>:<namespace>}`: the prefix of every key, BullMQ's included. */
  readonly prefix: string;
  /** String: uid of the cluster's kube-system namespace. */
  readonly cluster: string;
  /** String `<term>:<sequence>`: which leader wrote last, and its how manyth write that was. */
  readonly writer: string;
  /** Hash: source key to row. */
  readonly sources: string;
  /** Hash: workload key to row. */
  readonly workloads: string;
  /** Prefix of the sets `…<source key>`: workloads that use, name or mention the source. */
  readonly users: string;
  /** Prefix of the strings `…<source key>`: what a change job read of the source. */
  readonly readings: string;
  /** Hash: workload key to id of the reload job that is waiting for its next attempt. */
  readonly backingOff: string;
  /** String, and prefix of four more keys `…:<part>`: the limit of reloads, and who waits for it (see `rate.ts`). */
  readonly budget: string;
  /** Hash: workload key to the record that a dry run pretends to have written. */
  readonly pretended: string;
  /** Prefix of the strings that mark a warning as given. */
  readonly warned: string;
  /** Prefix of the sets `…<source key>`: workloads of an alert that is to be sent. */
  readonly alerts: string;
  /** Prefix of the strings `…<source key>`: the state that a webhook was last sent for. */
  readonly announced: string;
  /** Hash: source key to what its next change is told from, as `event:1.A` or `list:` (it did not exist). */
  readonly before: string;
  /**
   * Prefix of the hashes `…<source key>`: how many outcomes of each reason its latest change had beyond those that the
   * history lists, if that change enqueued more workloads than its entry lists (see `tell-outcome.lua.ts`).
   */
  readonly tallies: string;
  /** Hash: workload key to its rollout (see `rollouts.ts`), as long as that is not complete. */
  readonly rollouts: string;
  /** Hash: process id to what the process says of itself (see `processes.ts`). */
  readonly processes: string;
  /** Hash: workload key to the reload that a person asked for (see `requests.ts`). */
  readonly requests: string;
  /** Hash: what is limited, at run time (see `limits.ts`). */
  readonly limits: string;
  /** Prefix of the strings `…<sha256 of actor and key>`: what a write through the API gave. */
  readonly idempotency: string;
  /** String: the key under which admin shows hashes of Secrets. */
  readonly shownHashKey: string;
  /** Streams. */
  readonly changes: string;
  readonly outcomes: string;
  readonly rolloutHistory: string;
  readonly audit: string;
  /** Prefix of the lists `…<share>`: ids of a caller's entries of the audit log (see `add-audit.lua.ts`). */
  readonly auditOf: string;
}

const FORM = 'v1';

export function catalogKeys(install: { cluster: string; namespace: string }): CatalogKeys {
  const prefix = `{reroll:${install.cluster}:${install.namespace}}`;
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
    processes: key('processes'),
    requests: key('requests'),
    limits: key('limits'),
    idempotency: key('idempotency:'),
    shownHashKey: key('shown-hash-key'),
    changes: key('history:changes'),
    outcomes: key('history:outcomes'),
    rolloutHistory: key('history:rollouts'),
    audit: key('history:audit'),
    auditOf: key('audit-of:'),
  };
}
