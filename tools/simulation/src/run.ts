/** One run: a plan is carried out in a small world, and judged. */
import { createHash } from 'node:crypto';
import type { Change } from './api/etcd.ts';
import { Controllers } from './api/controllers.ts';
import { SimulatedApi } from './api/simulated-api.ts';
import { Disturber } from './disturb.ts';
import { Doer } from './doer.ts';
import { Faults } from './faults.ts';
import { use } from './globals.ts';
import { Places } from './places.ts';
import type { Plan, Step } from './plan.ts';
import type { SimulatedProcess } from './process.ts';
import { SimulatedRedis } from './redis/server.ts';
import { Events } from './scheduler.ts';
import { CONFIDENTIAL, INSTALL, keyOf, NAMESPACES } from './world/shapes.ts';
import { Truth, type Violation } from './world/truth.ts';

/** 2026-01-01, so that the times in a trace can be read. */
const START = Date.UTC(2026, 0, 1);
/**
 * After the last step, until everything has to be in order; virtual milliseconds, as all times here. A job of a worker that did not
 * end in time is taken over when its lock has run out, after a minute at most.
 */
const CALM = 90_000;
/** After that, nothing may be written any more. */
const STILL = 25_000;
/** The cluster is older than the install. */
const OLD = 5_000;
/** After a loss, until what was not recorded has been found, and is. */
const IN_DOUBT = 12_000;

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
  readonly #doer: Doer;
  readonly #disturber: Disturber;
  readonly #trace: string[] = [];
  /** Nothing of Reroll may write after this. */
  #stillFrom = Infinity;
  #leaderEnded = START;
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
      treat: () => faults.treatRequest(),
      eventLatency: () => faults.eventLatency(),
    });
    this.#redis = new SimulatedRedis({ scheduler: events, onRequest: () => faults.deliver() });
    this.#truth = new Truth({ now: () => events.now(), log: (line) => this.#log('truth', line) });
    this.#api.onChange((change) => this.#changed(change));
    startControllers(events, this.#api);
    this.#doer = new Doer(this.#api.as('kubectl'));
    this.#places = new Places({
      events,
      api: this.#api,
      redis: this.#redis,
      flags: plan.flags,
      log: (who, line) => this.#said(who, line),
      ended: (process) => this.#ended(process),
    });
    this.#disturber = new Disturber({
      events,
      faults,
      api: this.#api,
      redis: this.#redis,
      places: this.#places,
      inDoubt: () => this.#inDoubt(),
    });
  }

  async result(): Promise<Result> {
    const { before, steps, length } = this.#plan;
    const world = this.#api.as('kubectl');
    for (const name of [INSTALL, ...NAMESPACES])
      world.create({ kind: 'Namespace', namespace: '' }, { metadata: { name } });
    for (const step of before) this.#do(step);
    await this.#events.run(OLD);
    this.#inDoubt();
    this.#places.startAll();
    for (const step of steps) this.#events.after(step.at, undefined, () => this.#do(step));
    await this.#events.run(length);
    this.#log('world', 'everything works from now on');
    this.#disturber.heal();
    await this.#events.run(CALM);
    this.#stillFrom = this.#events.now();
    await this.#events.run(STILL);
    this.#judge();
    this.#places.endAll();
    const { violations, reloads } = this.#truth;
    return { plan: this.#plan, violations, trace: this.#trace, reloads, seen: this.#faults.seen };
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
    this.#log(by ?? author.manager, `${verbOf(before, after)} ${key} @${shown.revision}`);
    this.#truth.commit({ before: before?.object, after: after?.object, by });
    if (by !== undefined) this.#checkWrite(by, key, shown);
  }

  #checkWrite(by: string, key: string, { object }: Change['shown']): void {
    if (JSON.stringify(object).includes(CONFIDENTIAL))
      this.#violation('leaked', `${by} wrote data of a source into ${key}`);
    if (this.#events.now() >= this.#stillFrom)
      this.#violation('unstable', `${by} wrote ${key} when everything was done`);
  }

  /** Reads the log as an operator would. */
  #said(who: string, line: string): void {
    this.#log(who, line);
    if (line.includes(CONFIDENTIAL)) this.#violation('leaked', `the log of ${who} has data of a source`);
    const process = this.#places.processes.find(({ name }) => name === who);
    if (!process) return;
    if (line.includes('msg="in sync"')) process.syncedAt = this.#events.now();
    if (!line.includes('msg="became leader')) return;
    process.leads = true;
    // A standby that was in sync when the leader ended has missed nothing.
    if (process.syncedAt > this.#leaderEnded) this.#inDoubt(this.#leaderEnded);
  }

  #ended(process: SimulatedProcess): void {
    if (process.leads) this.#leaderEnded = this.#events.now();
    if (!this.#places.processes.some(({ kind, isAlive }) => kind === 'watcher' && isAlive)) this.#inDoubt();
  }

  /** What is not recorded yet is in doubt, until a leader has led for a while. */
  #inDoubt(from = Infinity): void {
    this.#truth.missed(from);
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
    if ('source' in step) this.#doer.source(step);
    else if ('workload' in step) this.#doer.workload(step);
    else this.#disturber.disturb(step);
  }

  #judge(): void {
    this.#truth.judge();
    for (const text of this.#redis.texts())
      if (text.includes(CONFIDENTIAL)) this.#violation('leaked', 'Redis has data of a source');
    for (const request of new Set([...this.#api.unknown, ...this.#redis.state.unsupported]))
      this.#violation('failed', `the simulation does not know ${request}`);
  }
}

/** They write the status of workloads, and go on by themselves. */
function startControllers(scheduler: Events, api: SimulatedApi): Controllers {
  return new Controllers({ scheduler, api });
}

function verbOf(before: unknown, after: unknown): string {
  if (after === undefined) return 'deletes';
  return before === undefined ? 'creates' : 'writes';
}
