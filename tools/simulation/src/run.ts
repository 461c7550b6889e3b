/** One run: a plan is carried out in a small world, and judged. */
import { createHash } from 'node:crypto';
import type { ApiObject } from './api/api-object.ts';
import { isWorkloadKey, type WorkloadKey } from '@reroll/core/model';
import type { Change } from './api/etcd.ts';
import { Controllers } from './api/controllers.ts';
import { SimulatedApi } from './api/simulated-api.ts';
import { CsiDriver } from './csi-driver.ts';
import { Disturber } from './disturb.ts';
import { Doer } from './doer.ts';
import { Faults, RECONNECTED } from './faults.ts';
import { OptionChecks } from './option-checks.ts';
import { MOST_TURNS } from './hash-key-file.ts';
import { flagsFor, rulesOf, scopeOf } from './options.ts';
import { Person } from './person.ts';
import { use } from './globals.ts';
import { Places } from './places.ts';
import type { Plan, Step } from './plan.ts';
import { LAST_WAIT, Waits } from './pods/waits.ts';
import type { SimulatedProcess } from './process.ts';
import { SimulatedRedis } from './redis/server.ts';
import { Events } from './scheduler.ts';
import { SERVERS } from './stale-servers.ts';
import { Succession } from './succession.ts';
import { BadData } from './world/bad-data.ts';
import { Requests } from './world/requests.ts';
import { WATCHED, type Scope } from './world/scope.ts';
import { CONFIDENTIAL, INSTALL, keyOf, NAMESPACES } from './world/shapes.ts';
import { catalogKeys, leftOver } from './world/left-over.ts';
import { RedisBounds } from './world/redis-bounds.ts';
import { keysOf, pendingIn, tooManyRows, type WatcherRows } from './world/watcher-rows.ts';
import type { Violation } from './world/commit.ts';
import { Truth } from './world/truth.ts';
import { ON_ITS_WAY } from './world/unseen-changes.ts';

/** 2026-01-01, so that the times in a trace can be read. */
const START = Date.UTC(2026, 0, 1);
/**
 * After the last step, until everything has to be in order; virtual milliseconds, as all times here. A job of a worker that did not
 * end in time is taken over when its lock has run out, after a minute at most.
 */
const CALM = 90_000;
/** In which a change comes to its last wave: three waves, each rolled out, observed and looked at. */
const WAVES = 240_000;
/** In which a bad change is halted. */
const HALTED = 40_000;
/** In which a change that was resumed comes to its last wave, though nothing but ten minutes tells that one has failed. */
const RESUMED = 900_000;
/** In which every slot is free again: a rollout that waits for somebody keeps its slot for ten minutes. */
const SLOTS = 660_000;
/** After that, nothing may be written any more. */
const STILL = LAST_WAIT + 5_000;
/** From one look at what waits for an approval to the next. */
const APPROVING = 3_000;
/** The cluster is older than the install. */
const OLD = 5_000;
/** Between two looks at what Redis and the watchers hold. */
const LOOK = 5_000;
/** After a loss, until what was not recorded has been found, and is. */
const IN_DOUBT = 12_000;
/** How long Jobs run. Some are still there at the end. */
const JOB_RUNS = [2_000, 30_000, 300_000] as const;

export interface Result {
  readonly plan: Plan;
  readonly violations: readonly Violation[];
  readonly trace: readonly string[];
  readonly reloads: number;
  /** What happened, by what it is: faults, reasons, ends of processes. */
  readonly seen: ReadonlyMap<string, number>;
}

export async function runPlan(plan: Plan): Promise<Result> {
  return await new Run(plan).result();
}

/** Of everything that can be seen of a run. */
export function digestOf({ trace }: Result): string {
  const digest = createHash('sha256');
  for (const line of trace) digest.update(`${line}\n`);
  return digest.digest('hex');
}

class Run {
  readonly #plan: Plan;
  readonly #events: Events;
  readonly #api: SimulatedApi;
  readonly #redis: SimulatedRedis;
  readonly #faults: Faults;
  readonly #places: Places;
  readonly #truth: Truth;
  readonly #checks: OptionChecks;
  readonly #person: Person;
  readonly #scope: Scope;
  readonly #doer: Doer;
  readonly #badData: BadData;
  readonly #succession: Succession;
  readonly #bounds: RedisBounds;
  readonly #disturber: Disturber;
  /** Undefined: pods are not simulated in this run. */
  readonly #waits: Waits | undefined;
  readonly #trace: string[] = [];
  /** Nothing of Reroll may write after this. */
  #stillFrom = Infinity;
  /** How many times the hash keys were turned over. */
  #turns = 0;
  /** Counts the losses, so that the doubt ends that many milliseconds after the last. */
  #losses = 0;

  constructor(plan: Plan) {
    this.#plan = plan;
    const events = new Events(plan.seed, START);
    use(events);
    this.#events = events;
    const faults = new Faults(events);
    this.#faults = faults;
    this.#api = new SimulatedApi({
      scheduler: events,
      servers: SERVERS,
      treat: (owner, { path }) => faults.treatRequest(owner && path),
      eventLatency: () => faults.eventLatency(),
    });
    this.#redis = new SimulatedRedis({ scheduler: events, onRequest: () => faults.deliver() });
    const requests = new Requests();
    const scope = scopeOf(plan.options, () => events.now());
    this.#scope = scope;
    this.#truth = this.#newTruth(requests, scope);
    this.#checks = this.#newChecks(requests, scope);
    this.#person = this.#newPerson(requests);
    this.#api.onChange((change) => this.#changed(change));
    const driver = new CsiDriver(this.#api.as('secrets-store-csi-driver'), events);
    this.#badData = new BadData(this.#api.as('kubectl'), (what) => faults.count(what));
    this.#waits = this.#newWaits();
    const others = [driver, this.#waits];
    const controllers = startControllers(events, this.#api, { badData: this.#badData, others });
    this.#doer = new Doer(this.#api.as('kubectl'), driver, () => events.now());
    const world = { events, faults, api: this.#api, redis: this.#redis };
    this.#places = this.#newPlaces();
    this.#disturber = new Disturber({
      ...world,
      places: this.#places,
      controllers,
      truth: this.#truth,
      log: (line) => this.#log('world', line),
      turnKeysOver: () => void (this.#turns = Math.min(this.#turns + 1, MOST_TURNS)),
      inDoubt: () => this.#inDoubt(),
      redisLost: () => this.#checks.redisLost(),
      etcdRestored: () => this.#checks.etcdRestored(this.#api.as('etcdctl').list('Namespace')),
    });
    this.#bounds = new RedisBounds(this.#redis);
    this.#succession = new Succession({ ...world, places: this.#places, disturber: this.#disturber });
  }

  #newTruth(requests: Requests, scope: Scope): Truth {
    return new Truth({
      now: () => this.#events.now(),
      log: (line) => this.#log('truth', line),
      knownUntil: (wait) => this.#disturber.stale.knownUntil(wait),
      watchedUntil: (wait) => this.#watchedUntil(wait),
      isListedAgain: (kind) => this.#faults.isListedAgain(kind),
      rules: rulesOf(this.#plan.options, scope),
      isAsked: (before, after) => requests.isDoneBy(before, after),
    });
  }

  #newWaits(): Waits | undefined {
    const { seed, steps } = this.#plan;
    if (!steps.some((step) => step.do === 'wait')) return undefined;
    return new Waits({
      seed,
      events: this.#events,
      api: this.#api,
      seen: (what) => this.#faults.count(what),
      log: (line) => this.#log('kubectl', line),
      violation: (kind, text) => this.#violation(kind, text),
    });
  }

  #newPlaces(): Places {
    const { flags, options } = this.#plan;
    return new Places({
      events: this.#events,
      api: this.#api,
      redis: this.#redis,
      receiver: {
        scheduler: this.#events,
        treat: () => this.#faults.treatPost(),
        received: (...post) => this.#posted(...post),
      },
      flags: (kind) => [...flags, ...flagsFor(options, kind, this.#turns)],
      log: (who, line) => this.#said(who, line),
      ended: (process) => this.#ended(process),
    });
  }

  #newPerson(requests: Requests): Person {
    return new Person({
      events: this.#events,
      api: this.#api,
      redis: this.#redis,
      asked: (workload) => requests.asked(workload),
      stored: (workload, id) => this.#checks.stored(workload, id),
    });
  }

  #newChecks(requests: Requests, scope: Scope): OptionChecks {
    return new OptionChecks(this.#plan, requests, {
      scope,
      now: () => this.#events.now(),
      knownUntil: (wait) => this.#watchedUntil(wait),
      catalogedFrom: (time) => this.#succession.catalogedFrom(time),
      truth: this.#truth,
      rules: rulesOf(this.#plan.options, scope),
      seen: (what) => this.#faults.count(what),
      violation: (kind, text) => this.#violation(kind, text),
    });
  }

  /** Up to when every watch has shown what was written for so many milliseconds. */
  #watchedUntil(wait: number): number {
    const { stale } = this.#disturber;
    const longest = wait + RECONNECTED;
    const isQuiet = this.#disturber.isApiQuietSince(this.#events.now() - longest);
    return Math.min(stale.knownUntil(isQuiet ? wait : longest), this.#faults.watchedUntil() - wait);
  }

  async result(): Promise<Result> {
    const { before, steps, length, options } = this.#plan;
    const world = this.#api.as('kubectl');
    for (const name of [INSTALL, ...NAMESPACES])
      world.create({ kind: 'Namespace', namespace: '' }, { metadata: { name, labels: WATCHED } });
    for (const option of options.length > 0 ? options : ['none']) this.#faults.count(`option ${option}`);
    for (const step of before) this.#do(step);
    await this.#events.run(OLD);
    this.#inDoubt();
    this.#places.startAll();
    this.#lookAtBounds();
    for (const step of steps) this.#events.after(step.at, undefined, () => this.#do(step));
    await this.#events.run(length);
    this.#heal();
    if (options.includes('waves')) await this.#endWaves();
    if (options.includes('slots')) await this.#events.run(SLOTS);
    if (options.includes('holds')) await this.#endHolds();
    else await this.#events.run(CALM);
    this.#waits?.beginLast();
    this.#stillFrom = this.#events.now();
    await this.#events.run(STILL);
    this.#judge();
    this.#places.endAll();
    this.#person.end();
    const { violations, reloads: byKind } = this.#truth;
    const kinds = [...byKind].map(([kind, count]) => [`reloaded ${kind}`, count] as const);
    const seen = new Map([...this.#faults.seen, ...kinds]);
    return { plan: this.#plan, violations, trace: this.#trace, reloads: sumOf(byKind), seen };
  }

  #heal(): void {
    this.#log('world', 'everything works from now on');
    this.#disturber.heal();
    this.#checks.healed();
    this.#waits?.healed();
  }

  /** What waits for an approval gets one. An Event that was lost tells nobody of it, so in the end none is needed. */
  async #endHolds(): Promise<void> {
    this.#doer.endHolds({ approvals: false });
    for (let at = 0; at < CALM / 2; at += APPROVING) {
      await this.#events.run(APPROVING);
      this.#doer.approveAll();
    }
    this.#doer.endHolds({ approvals: true });
    await this.#events.run(CALM);
  }

  /** All waves come to an end by themselves once bad changes have ended, unless a rollout waits for somebody. */
  async #endWaves(): Promise<void> {
    if (this.#plan.steps.some((step) => step.do === 'breakSource')) await this.#events.run(HALTED);
    await this.#events.run(this.#badData.endAll() ? RESUMED : WAVES);
    this.#checks.judgeWaves();
    this.#doer.endWaves();
  }

  #log(who: string, line: string): void {
    const at = ((this.#events.now() - START) / 1000).toFixed(3).padStart(9);
    this.#trace.push(`${at} ${who.padEnd(12)} ${line}`);
  }

  #violation(kind: Violation['kind'], text: string): void {
    this.#truth.violations.push({ kind, text });
    this.#log('VIOLATION', `${kind}: ${text}`);
  }

  #changed({ type, author, before, after, shown }: Change): void {
    if (type.kind === 'Lease') return;
    const by = author.owner?.name;
    const key = keyOf(shown.object);
    this.#bounds.exists(key);
    this.#log(by ?? author.manager, `${verbOf(before, after)} ${key} @${shown.revision}`);
    const commit = { before: before?.object, after: after?.object, by };
    const reloads = sumOf(this.#truth.reloads);
    this.#truth.commit(commit);
    this.#checks.commit(commit, sumOf(this.#truth.reloads) > reloads);
    if (by === undefined) return;
    if (JSON.stringify(shown.object).includes(CONFIDENTIAL))
      this.#violation('leaked', `${by} wrote data of a source into ${key}`);
    const isLate = this.#events.now() >= this.#stillFrom;
    if (isLate && !this.#checks.endsPause(commit, this.#stillFrom))
      this.#violation('unstable', `${by} wrote ${key} when everything was done`);
  }

  /** Reads the log as an operator would. */
  #said(who: string, line: string): void {
    this.#log(who, line);
    if (line.includes(CONFIDENTIAL)) this.#violation('leaked', `the log of ${who} has data of a source`);
    this.#checks.said(who, line);
    const process = this.#places.processes.find(({ name }) => name === who);
    if (!process) return;
    this.#bounds.runs(who);
    if (line.includes('msg=Stopping')) process.stoppingSince = this.#events.now();
    if (line.includes('msg="in sync"')) this.#synced(process);
    if (line.includes('msg="acquired the Lease"')) this.#acquired(process);
    if (line.includes('msg="became leader')) this.#leads(process);
  }

  #synced(process: SimulatedProcess): void {
    process.syncedAt = this.#events.now();
    // It takes sources that are not recorded for new ones.
    if (this.#plan.options.includes('syncAfterRestart')) this.#inDoubt();
  }

  #acquired(process: SimulatedProcess): void {
    const standby = this.#succession.overtaken(process);
    if (standby)
      this.#violation('failed', `${process.name} took the Lease before ${standby.name}, which was in sync`);
  }

  #leads(process: SimulatedProcess): void {
    process.leads = true;
    const missed = this.#succession.begins(process);
    if (missed !== undefined) this.#inDoubt(missed);
    const listed = this.#succession.listed(process);
    if (listed) this.#truth.listed(listed);
  }

  #ended(process: SimulatedProcess): void {
    this.#succession.ended(process);
    if (!this.#places.processes.some(({ kind, isAlive }) => kind === 'watcher' && isAlive)) this.#inDoubt();
  }

  /** What is not recorded yet is in doubt, until a leader has led for a while. */
  #inDoubt(from = this.#events.now() - ON_ITS_WAY): void {
    this.#truth.missed(from);
    this.#checks.doubt();
    this.#losses += 1;
    this.#endDoubtSoon(this.#losses, IN_DOUBT);
  }

  #endDoubtSoon(loss: number, wait: number): void {
    this.#events.after(wait, undefined, () => {
      if (loss !== this.#losses) return;
      const leads = this.#places.processes.some((process) => process.isAlive && process.leads);
      if (leads) this.#truth.isGap = false;
      else this.#endDoubtSoon(loss, 1_000);
    });
  }

  #do(step: Step): void {
    const { at: _at, ...what } = step;
    this.#log('step', JSON.stringify(what));
    if (step.do === 'breakSource' || step.do === 'mendSource') this.#badData.do(step);
    else if (step.do === 'request') this.#request(step);
    else if (step.do === 'wait')
      this.#waits?.begin(step.source.replace('/', `/${step.namespace}/`), step.for);
    else if ('source' in step) this.#doer.source(step);
    else if ('workload' in step) this.#doer.workload(step);
    else if (step.do === 'labelNamespace') this.#doer.namespace(step);
    else if (step.do === 'holdNamespace') this.#doer.holdNamespace(step);
    else this.#disturber.disturb(step);
  }

  #lookAtBounds(): void {
    const bounds = this.#bounds;
    const exceeded = [
      ...bounds.exceeded(),
      ...this.#watchers().flatMap(({ name, rows }) => tooManyRows(name, rows, bounds.counts)),
    ];
    for (const text of exceeded) this.#violation('unbounded', text);
    if (exceeded.length === 0) this.#events.after(LOOK, undefined, () => this.#lookAtBounds());
  }

  /** The live watchers that have begun to stream. */
  #watchers(): { name: string; rows: WatcherRows }[] {
    return this.#places.processes.flatMap(({ isAlive, name, rows }) =>
      isAlive && rows ? { name, rows } : [],
    );
  }

  /** The admin takes no request for a workload that the catalog does not know. */
  #request(step: Parameters<typeof workloadKey>[0] & Step): void {
    if (!this.#scope.isIn(step.namespace)) return;
    const key = workloadKey(step);
    // Somebody may ask for one that is not there. Its request stays until a worker looks.
    this.#bounds.exists(key);
    this.#person.ask(key);
  }

  #posted(path: string, body: string, isAnswered: boolean): void {
    this.#log('receiver', `${path} ${body}`);
    if (body.includes(CONFIDENTIAL)) this.#violation('leaked', `a post to ${path} has data of a source`);
    this.#checks.posted(path, body, isAnswered);
  }

  #judge(): void {
    this.#checks.judge();
    this.#waits?.judge();
    const watchers = this.#watchers().map(({ name, rows }) => [name, keysOf(rows)] as const);
    for (const [holder, keys] of [['the catalog', catalogKeys(this.#redis)] as const, ...watchers])
      for (const key of leftOver(keys, this.#truth))
        this.#violation('unbounded', `${holder} has ${key}, which was deleted and which nobody needs`);
    this.#judgePending();
    const unaware = this.#disturber.backups.unaware();
    if (unaware !== undefined) this.#violation('failed', `${unaware} has not noticed that etcd was restored`);
    for (const text of this.#redis.texts()) {
      if (text.includes(CONFIDENTIAL)) this.#violation('leaked', 'Redis has data of a source');
      // What the history has at the end, of what it ever had.
      for (const [, reason] of text.matchAll(/"(?:reason|r)":"([A-Z]\w+)"/gu))
        this.#faults.count(`reason ${reason}`);
    }
    for (const request of new Set([...this.#api.unknown, ...this.#redis.state.unsupported]))
      this.#violation('failed', `the simulation does not know ${request}`);
  }

  #judgePending(): void {
    for (const { name, rows } of this.#watchers())
      for (const key of this.#checks.needless(pendingIn(rows)))
        this.#violation('unbounded', `${name} has ${key} pending, for which nothing is due`);
  }
}

/** They write the status of workloads, and go on by themselves. */
function startControllers(
  scheduler: Events,
  api: SimulatedApi,
  { badData, others }: { badData: BadData; others: readonly (CsiDriver | Waits | undefined)[] },
): Controllers {
  const complete = (): number => JOB_RUNS[Math.floor(scheduler.random() * JOB_RUNS.length)] ?? 0;
  const onPodsStarted = (workload: ApiObject): void => {
    for (const each of [...others, badData]) each?.podsStarted(workload);
  };
  const areBroken = (workload: ApiObject): boolean => badData.areBroken(workload);
  return new Controllers({ scheduler, api, delays: { complete }, onPodsStarted, areBroken });
}

function workloadKey({ workload, namespace }: { workload: string; namespace: string }): WorkloadKey {
  const key = workload.replace('/', `/${namespace}/`);
  if (!isWorkloadKey(key)) throw new Error(`expected the key of a workload, given ${key}`);
  return key;
}

function sumOf(counts: ReadonlyMap<string, number>): number {
  return [...counts.values()].reduce((sum, count) => sum + count, 0);
}

function verbOf(before: unknown, after: unknown): string {
  if (after === undefined) return 'deletes';
  return before === undefined ? 'creates' : 'writes';
}
