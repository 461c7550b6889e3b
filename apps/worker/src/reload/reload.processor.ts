import type { Catalog } from '@reroll/redis/catalog/catalog';
import type { ReloadRequest, ReloadRequests } from '@reroll/redis/catalog/requests';
import type { RateBudget } from '@reroll/redis/processes/rate';
import type { NamespaceHolds } from '@reroll/core/holds/hold';
import { NO_RELOADS } from '@reroll/core/holds/reload-limit';
import type { SourceName } from '@reroll/core/state/rows';
import { awaitedSharers, decidedBy } from '@reroll/core/state/workloads/template-owner';
import { NO_TRIGGERS, type Triggers } from '@reroll/core/state/settings';
import { recordedReloads, recordWithReloads, writeRecord } from '@reroll/core/record/record';
import { namespaceOf, type WorkloadKey } from '@reroll/core/model';
import type { Reason } from '@reroll/core/reasons';
import type { RolledSource } from '@reroll/core/reload/patch';
import { requestState } from '@reroll/core/reload/request';
import type { DependencyVerdict, Plan } from '@reroll/core/reload/plan';
import type { DecisionSettings } from '@reroll/core/rules/decision';
import { reloadJob, type ReloadJob } from '@reroll/redis/queue/jobs';
import { RELOADS } from '@reroll/redis/queue/queues';
import { JobError, jobErrorOf, NotYetError } from '../job-error.ts';
import type { Attempt, FailedAttempt, QueueHandler } from '../queue-runner.ts';
import {
  leastHashes,
  markerHashOf,
  planOf,
  sourceIdOf,
  type PlanContext,
  type Readings,
} from './reload-plan.ts';
import {
  contestedOutcome,
  heldOutcome,
  leftOutcome,
  noRoomOutcome,
  outcomeOf,
  type Gathered,
  type ReloadOutcome,
} from './reload-outcome.ts';
import type { ReloadHolds } from './reload-holds.ts';
import type { ReloadReports } from './reload-reports.ts';
import { expectedReload } from './expected-reload.ts';
import { readSources } from './read-sources.ts';
import { ReloadSlot } from './reload-slot.ts';
import type { ReloadWay, Sent } from './send/reload-way.ts';
import type { ReloadWays } from './send/reload-ways.ts';
import { recordWithRoom, requireRoomForRecord } from '../require-room.ts';
import type { SourceReader } from '../change/source-reader.ts';
import type { WorkloadNow, WorkloadReader } from './workload-reader.ts';

export interface ReloadSettings {
  readonly dryRun: boolean;
  readonly adoptStale: 'report' | 'reload';
  readonly onDelete: Triggers['onDelete'];
  readonly decision: DecisionSettings;
  /** With `--webhook-url`, changes are posted instead. */
  readonly notifyOnly: boolean;
  /** Whether a workload is patched without being read if the catalog knows enough. */
  readonly patchesUnread: boolean;
}

export interface ReloadPorts {
  readonly catalog: Pick<Catalog, 'workloads' | 'sources' | 'pretended' | 'pretend' | 'setBackingOff'>;
  readonly requests: Pick<ReloadRequests, 'of' | 'done'>;
  readonly workloads: Pick<WorkloadReader, 'read' | 'known' | 'refresh' | 'decide'>;
  readonly sources: Pick<SourceReader, 'read'>;
  readonly holds: Pick<ReloadHolds, 'read' | 'holdOf' | 'reloadsAfter' | 'lookAgain' | 'leave' | 'keepSlot'>;
  readonly ways: ReloadWays;
  readonly budget: Pick<RateBudget, 'isLimited' | 'ask' | 'claim' | 'end'>;
  readonly reports: Pick<ReloadReports, 'overtaken' | 'leftToOthers' | 'ended' | 'held' | 'failed'>;
}

/** Patches sent in one attempt of a job while others keep writing to the workload. */
const TRIES = 5;

/** The verdicts for which nothing has to be read. */
const SETTLED_UNREAD: ReadonlySet<DependencyVerdict> = new Set(['InStep', 'Absent', 'Roll']);

/** Milliseconds for which a manual reload stays requested of a workload that the catalog does not know. */
const KEPT = 86_400_000;

/** Milliseconds that a job waits for a worker with the key of the record, while other jobs go first. */
const KEY_WAIT = 30_000;

/**
 * Handles a reload job: reads the workload, decides by the rules, and sends one patch for everything that is pending. The
 * patch tests what was read, so a job may run twice, late or out of order.
 */
export class ReloadProcessor implements QueueHandler<ReloadJob> {
  readonly queue = RELOADS;
  readonly schema = reloadJob;
  readonly #ports: ReloadPorts;
  readonly #settings: ReloadSettings;

  constructor(ports: ReloadPorts, settings: ReloadSettings) {
    this.#ports = ports;
    this.#settings = settings;
  }

  async handle(job: ReloadJob, { number, most }: Attempt): Promise<void> {
    const { reports, catalog, requests, holds } = this.#ports;
    const run = { attempt: number, attempts: most };
    const outcome = await this.process(job, number === 1).catch((error: unknown) => {
      if (error instanceof NotYetError && error.left) reports.leftToOthers(job, error.left, run);
      throw error;
    });
    if (outcome.hold) {
      await holds.lookAgain(job, outcome.hold, recordIn(outcome));
      await reports.held(job, { ...outcome, hold: outcome.hold }, run);
    } else {
      reports.ended(job, outcome, run);
      if (outcome.request && outcome.keepsRequest !== true)
        await requests.done(job.workload, outcome.request.id);
      if (outcome.state !== 'reloaded') await holds.leave(job.workload, recordIn(outcome));
    }
    if (number > 1) await catalog.setBackingOff(job.workload, null);
  }

  async failed(job: ReloadJob, error: JobError, attempt: FailedAttempt): Promise<void> {
    const { reports, catalog, requests, holds } = this.#ports;
    const { number, most, isLast, jobId, next } = attempt;
    reports.failed(job, error, { attempt: number, attempts: most, isLast, next });
    await catalog.setBackingOff(job.workload, isLast ? null : jobId);
    // A reload that was not answered may have been done. The leader then sees it, or takes the slot back.
    if (isLast && error.reason !== 'ApiUnavailable')
      await holds.leave(job.workload, error.subject?.observed.record);
    // A manual reload that failed because the API server was unavailable stays requested: the resync enqueues it again.
    if (isLast && error.request && error.reason !== 'ApiUnavailable')
      await requests.done(job.workload, error.request.id);
  }

  /**
   * Handles a job in these steps:
   *
   * 1. If reloads are limited per minute and the workload waits for its turn: go on only when that has come.
   * 2. If the catalog knows all that a patch needs, and a reload is all that is pending: patch as in 6, and read nothing. The patch
   *    applies only if the workload is as the catalog says; if it is not, go on.
   * 3. If the catalog shows a reload that is pending and not held: claim a slot, so that what waits for one reads nothing.
   * 4. Read the workload, then the catalog's rows of it and its sources.
   * 5. Plan, read the sources that the plan needs (always after the workload), and plan again.
   * 6. If the reload is held, write nothing. Claim a slot if there is none yet. Patch. If a test of the patch fails, start again at 4,
   *    at most five times.
   *
   * Step 2 is left out unless this is the first attempt. A held workload never waits for a slot, so that no other has to wait for
   * it. Rejects with a `JobError`, a `KubeError`, ioredis' error, or `NotYetError`.
   */
  async process(job: ReloadJob, isFirst = true): Promise<ReloadOutcome> {
    const { budget, holds } = this.#ports;
    const slot = new ReloadSlot(budget, job.workload);
    try {
      const outcome = await this.#inTurn(job, slot, isFirst);
      await slot.end();
      return outcome;
    } catch (error) {
      // What cannot be returned or kept expires in a minute. The job's own error is the one to report.
      await slot.end().catch(() => undefined);
      if (error instanceof NotYetError) await holds.keepSlot(job.workload, error.wait).catch(() => undefined);
      throw error;
    }
  }

  async #inTurn(job: ReloadJob, slot: ReloadSlot, isFirst: boolean): Promise<ReloadOutcome> {
    const isCounted = this.#ports.budget.isLimited && this.#writes();
    if (isCounted) await slot.awaitTurn();
    const known = isFirst && this.#settings.patchesUnread && (await this.#attemptUnread(job, slot));
    if (known) return known;
    if (isCounted) await slot.claimIf(() => this.#isExpected(job.workload));
    return await this.#handle(job, slot);
  }

  async #handle(job: ReloadJob, slot: ReloadSlot): Promise<ReloadOutcome> {
    let request: ReloadRequest | undefined;
    try {
      for (let tried = 0; tried < TRIES; tried += 1) {
        request = await this.#ports.requests.of(job.workload);
        const workload = await this.#read(job.workload);
        if (!workload) return { ...unchanged('WorkloadGone'), request };
        const outcome = await this.#attempt(workload, request, slot);
        if (outcome) return { ...outcome, request };
      }
      throw new JobError('Conflicting', `${TRIES} patches in a row conflicted with another writer`);
    } catch (error) {
      if (error instanceof NotYetError) throw error;
      throw Object.assign(jobErrorOf(error), { request });
    }
  }

  /**
   * Reloads the workload without reading it. False if more than a reload is pending, if the catalog does not know enough, or if a test
   * of the patch failed: then it must be read.
   */
  async #attemptUnread(job: ReloadJob, slot: ReloadSlot): Promise<ReloadOutcome | false> {
    const { requests, workloads } = this.#ports;
    const { workload: key, source } = job;
    const reading = this.#ports.holds.read(namespaceOf(key));
    // Only a reload needs it.
    reading.catch(() => undefined);
    const [request, workload] = await Promise.all([
      requests.of(key),
      workloads.known(key, source ? [source] : []),
    ]);
    if (request || !workload) return false;
    const plan = planOf(workload, new Map(), this.#context);
    if (!isPlainReload(plan)) return false;
    const gathered: Gathered = { workload, readings: new Map(), plan, requested: 'none' };
    try {
      return await this.#writeUnlessHeld(gathered, slot, await reading);
    } catch (error) {
      return noRoomOrThrow(error, { subject: workload, pending: plan.roll });
    }
  }

  #writes(): boolean {
    const { dryRun, notifyOnly } = this.#settings;
    return !dryRun && !notifyOnly;
  }

  /** Whether the catalog shows a reload that is pending and not held. Does not read the workload. */
  async #isExpected(key: WorkloadKey): Promise<boolean> {
    const { catalog, requests, holds } = this.#ports;
    const triggers = { ...NO_TRIGGERS, onDelete: this.#settings.onDelete };
    const expected = await expectedReload(key, { catalog, request: await requests.of(key), triggers });
    // If the Namespace cannot be read, the job fails when it has read the workload, which the failure then tells of.
    const read = expected && (await holds.read(namespaceOf(key)).catch(() => undefined));
    return expected !== undefined && read !== undefined && !(await holds.holdOf(expected, read));
  }

  /** False if the workload must be read and decided again. */
  async #attempt(
    workload: WorkloadNow,
    asked: ReloadRequest | undefined,
    slot: ReloadSlot,
  ): Promise<ReloadOutcome | false> {
    let pending: readonly SourceName[] = [];
    try {
      const ended = await this.#endedEarly(workload);
      if (ended) return ended;
      if (asked && !workload.facts.workload) return unknown(asked);
      const request = requestFor(workload, asked);
      const gathered = this.#holdBack({ ...(await this.#gather(workload, request)), ...request });
      const contested = contestedOutcome(gathered.workload);
      if (contested) return contested;
      this.#leaveToOthers(gathered);
      pending = gathered.plan.roll;
      if (await this.#catchesUp(gathered)) return false;
      const holds = isReload(gathered)
        ? await this.#ports.holds.read(workload.observed.namespace)
        : undefined;
      return await this.#writeUnlessHeld(gathered, slot, holds);
    } catch (error) {
      return noRoomOrThrow(error, { subject: workload, pending });
    }
  }

  /** False if the workload must be read and decided again. `holds` is undefined if no pods are to be replaced. */
  async #writeUnlessHeld(
    gathered: Gathered,
    slot: ReloadSlot,
    holds: NamespaceHolds | undefined,
  ): Promise<ReloadOutcome | false> {
    const hold = holds && (await this.#ports.holds.holdOf(gathered, holds));
    if (hold) return heldOutcome(gathered, hold);
    const sent = isWritten(gathered) ? await this.#write(gathered, slot, holds) : {};
    return sent ? { ...this.#outcome(gathered), ...sent } : false;
  }

  /** Leaves the job to other workers if all that remains needs a key that only they have. */
  #leaveToOthers(gathered: Gathered): void {
    const { hashes, verdicts } = gathered.plan;
    if (hashes !== null || ![...verdicts.values()].includes('KeyUnknown')) return;
    throw new NotYetError('KeyUnknown', KEY_WAIT, leftOutcome(gathered));
  }

  async #gather(
    workload: WorkloadNow,
    { request }: Pick<Gathered, 'request'>,
  ): Promise<Pick<Gathered, 'workload' | 'readings' | 'plan'>> {
    const context = this.#context;
    const plan = planOf(workload, new Map(), context);
    const unread = [...plan.verdicts].filter(([, verdict]) => verdict === 'Read').map(([name]) => name);
    if (unread.length === 0) return { workload, readings: new Map(), plan };
    requireRoomForRecord(workload, writeRecord(leastHashes(workload)));
    const { sources } = this.#ports;
    const { readings, proven } = await readSources(workload, unread, { sources, context });
    const fresh = await this.#ports.workloads.refresh(workload);
    const read = { workload: fresh, readings, plan: planOf(fresh, readings, { ...context, proven }) };
    if (read.plan.hashes === null) return read;
    const sharers = await this.#sharersOf(fresh, isReload({ ...read, request }));
    if (sharers.length === 0) return read;
    return { ...read, plan: planOf(fresh, readings, { ...context, proven, sharers }) };
  }

  /** The catalog's rows of the workloads for which a correction of the record waits. */
  async #sharersOf(
    { facts }: WorkloadNow,
    isReloaded: boolean,
  ): Promise<NonNullable<PlanContext['sharers']>> {
    const { dryRun } = this.#settings;
    const keys = awaitedSharers(facts.workload, { dryRun, isReloaded });
    if (keys.length === 0) return [];
    const rows = await this.#ports.catalog.workloads(keys);
    return keys.map((key) => rows.get(key));
  }

  get #context(): PlanContext {
    const { adoptStale, onDelete, decision } = this.#settings;
    return { adoptStale, onDelete, decision, proven: new Set() };
  }

  /** In a dry run, with the record that it pretends to have written. */
  async #read(key: WorkloadKey): Promise<WorkloadNow | null> {
    const { workloads, catalog } = this.#ports;
    const workload = await workloads.read(key);
    const pretended = workload && this.#settings.dryRun && (await catalog.pretended(key));
    return pretended ? { ...workload, observed: { ...workload.observed, record: pretended } } : workload;
  }

  /**
   * Finishes what another worker left half done, even for ignored workloads. A dry run does not, because it writes
   * nothing, and a run that does may exist beside it.
   */
  async #endedEarly(workload: WorkloadNow): Promise<ReloadOutcome | undefined> {
    const { dryRun, notifyOnly } = this.#settings;
    const reason = dryRun ? undefined : await this.#way(workload).carryOn?.(workload);
    if (reason) return unchanged(reason);
    return notifyOnly ? unchanged('NotifiedInstead') : undefined;
  }

  /** Whether an earlier attempt has left something to record, which is recorded now. */
  async #catchesUp({ workload, plan, request }: Gathered): Promise<boolean> {
    return (
      !isReload({ plan, request }) &&
      this.#writes() &&
      (await this.#way(workload).catchUp?.(workload)) === true
    );
  }

  #holdBack(gathered: Gathered): Gathered {
    const { workload, plan } = gathered;
    const heldBack = isReload(gathered) ? this.#way(workload).heldBack?.(workload) : undefined;
    if (heldBack === undefined) return gathered;
    return { ...gathered, heldBack, request: undefined, plan: { ...plan, roll: [] } };
  }

  #way({ definition }: WorkloadNow): ReloadWay {
    return this.#ports.ways[definition.reloadedBy];
  }

  /** Like `ReloadWay.send`. */
  async #write(
    gathered: Gathered,
    slot: ReloadSlot,
    holds: NamespaceHolds | undefined,
  ): Promise<Sent | false | undefined> {
    const { catalog, reports } = this.#ports;
    const { workload, readings, plan, request } = gathered;
    const reloads = holds && this.#ports.holds.reloadsAfter(gathered, holds);
    const record = recordWithRoom(workload, recordAfter(plan, workload, reloads), () =>
      recordAfter(plan, workload, NO_RELOADS),
    );
    const rolled = plan.roll.map((name) => this.#rolled(name, workload, readings));
    const reload = { workload, rolled, record, request };
    const way = this.#way(workload);
    if (this.#settings.dryRun) {
      way.requireRoom?.(reload);
      await catalog.pretend(workload.key, record);
      return {};
    }
    const send = () => way.send(reload);
    const sent = await (isReload(gathered) ? slot.use(send) : send());
    if (sent === false) reports.overtaken();
    return sent;
  }

  #rolled(name: SourceName, workload: WorkloadNow, readings: Readings): RolledSource {
    const { observed, facts } = workload;
    return {
      ...sourceIdOf(name, observed.namespace),
      auto: this.#ports.workloads.decide(observed, name, facts).auto,
      markerHash: markerHashOf(name, workload, readings),
    };
  }

  #outcome(gathered: Gathered): ReloadOutcome {
    const { dryRun, decision } = this.#settings;
    const reloaded = this.#way(gathered.workload).reason;
    return outcomeOf(gathered, { dryRun, keys: decision.keys, reloaded });
  }
}

/** The outcome for a workload without room. Any other error is thrown, and says what the attempt was about. */
function noRoomOrThrow(
  error: unknown,
  about: { subject: WorkloadNow; pending: readonly SourceName[] },
): ReloadOutcome {
  if (error instanceof NotYetError) throw error;
  const jobError = jobErrorOf(error);
  const noRoom = noRoomOutcome(about.subject, jobError);
  if (noRoom) return noRoom;
  throw Object.assign(jobError, about);
}

function requestFor(
  { template, object, dependencies }: WorkloadNow,
  asked: ReloadRequest | undefined,
): Pick<Gathered, 'requested' | 'request' | 'passes'> {
  const requested = requestState({
    request: asked?.id,
    template: template.metadata?.annotations,
    workload: object.metadata.annotations,
    dependencies: dependencies.length,
    now: Date.now(),
  });
  return requested === 'reload' ? { requested, request: asked?.id, passes: asked?.passes } : { requested };
}

/** Whether the pods are replaced, and nothing has to be read to know what else is pending. */
function isPlainReload({ roll, verdicts }: Plan): boolean {
  return roll.length > 0 && [...verdicts.values()].every((verdict) => SETTLED_UNREAD.has(verdict));
}

/** Whether pods are replaced. */
function isReload({ plan, request }: Pick<Gathered, 'plan' | 'request'>): boolean {
  return plan.roll.length > 0 || request !== undefined;
}

function isWritten({ plan, request }: Gathered): boolean {
  return plan.hashes !== null || request !== undefined;
}

/** The record to write. A request alone changes no hash in it. Without a limit of reloads, those that it has stay. */
function recordAfter(
  { hashes }: Plan,
  { observed }: WorkloadNow,
  reloads = recordedReloads(observed.record),
): string {
  if (hashes === null && observed.record !== undefined) return recordWithReloads(observed.record, reloads);
  return writeRecord(hashes ?? {}, decidedBy(observed), reloads);
}

/** The catalog is being rewritten, or the namespace has left the scope while the request was held. A resync enqueues it again. */
function unknown({ at }: ReloadRequest): ReloadOutcome {
  return { ...unchanged('CatalogBehind'), keepsRequest: Date.now() - at < KEPT };
}

function recordIn({ subject }: ReloadOutcome): string | undefined {
  return subject?.observed.record;
}

function unchanged(reason: Reason): ReloadOutcome {
  return { state: 'unchanged', reason, sources: {}, rolled: [] };
}
