/** Judges what the options of a run add: what is held back, asked for, limited and told. */
import { ALERTS, AT_ONCE, PER_MINUTE, type Option } from './options.ts';
import type { Plan } from './plan.ts';
import { Alerts } from './world/alerts.ts';
import { Holds } from './world/holds.ts';
import { isStuck } from './world/known.ts';
import { Rate } from './world/rate.ts';
import { ReloadHolds } from './world/reload-holds.ts';
import { Requests } from './world/requests.ts';
import { hasRollouts, Rollouts } from './world/rollouts.ts';
import type { Rules } from './world/rules.ts';
import { hasLabel, type Scope } from './world/scope.ts';
import { keyOf, type KubeObject } from './world/shapes.ts';
import type { Commit, Violation } from './world/commit.ts';
import type { Truth } from './world/truth.ts';
import { Waves } from './world/waves.ts';
import { Webhooks } from './world/webhooks.ts';

/** Virtual milliseconds from a slot to its patch where nothing goes wrong, and at most. */
const SLOT_USED = 2_000;
const SLOT_HELD = 60_000;
/** After the faults, until a leader tells of every rollout, in virtual milliseconds. */
const TOLD_WITHIN = 30_000;
/** Until a change is posted, in virtual milliseconds. */
const SETTLED_WITHIN = 12_000;

/** Options by which a change may wait for longer than its waves take. */
const OTHER_HOLDS: readonly Option[] = ['holds', 'pauses', 'slots'];

export interface OptionChecksBy {
  readonly now: () => number;
  readonly truth: Truth;
  readonly rules: Rules;
  readonly scope: Scope;
  /** See `HoldsBy`. */
  readonly knownUntil: (wait: number) => number;
  /** See `HoldsBy`. */
  readonly catalogedFrom: (time: number) => number;
  /** Counts what happened. */
  readonly seen: (what: string) => void;
  readonly violation: (kind: Violation['kind'], text: string) => void;
}

export class OptionChecks {
  readonly #requests: Requests;
  readonly #by: OptionChecksBy;
  readonly #plan: Plan;
  readonly #holds: Holds;
  readonly #reloadHolds: ReloadHolds;
  readonly #waves: Waves;
  readonly #rate: Rate;
  readonly #rollouts: Rollouts;
  readonly #alerts = new Alerts();
  readonly #webhooks: Webhooks;
  #toldSince: number;

  constructor(plan: Plan, requests: Requests, by: OptionChecksBy) {
    this.#by = by;
    this.#plan = plan;
    this.#requests = requests;
    const { now, seen, scope, knownUntil, catalogedFrom } = by;
    this.#holds = new Holds({
      now,
      seen,
      scope,
      knownUntil,
      catalogedFrom,
      isAllHeld: this.#isAllHeld,
      clockError: clockErrorOf(plan),
    });
    this.#reloadHolds = new ReloadHolds({
      now,
      seen,
      knownUntil,
      clockError: clockErrorOf(plan),
      isCounted: !plan.steps.some((step) => step.do === 'strip'),
    });
    this.#toldSince = isUndisturbed(plan) ? -Infinity : Infinity;
    this.#rollouts = new Rollouts(now);
    this.#waves = new Waves({
      rollouts: this.#rollouts,
      now,
      seen,
      knownUntil,
      truth: by.truth,
      rules: by.rules,
      toldSince: () => this.#toldSince,
      clockError: clockErrorOf(plan),
    });
    this.#rate = new Rate({ perMinute: PER_MINUTE, late: isUndisturbed(plan) ? SLOT_USED : SLOT_HELD });
    this.#webhooks = new Webhooks({
      now,
      settledWithin: isUndisturbed(plan) ? SETTLED_WITHIN : Infinity,
      isWatched: (source) =>
        scope.isIn(source.metadata.namespace) && (!this.#has('sourceLabels') || hasLabel(source)),
      isSeenAsItComes: isUndisturbed(plan),
      creations: this.#has('reloadOnCreate') || this.#has('syncAfterRestart'),
      deletions: this.#has('reloadOnDelete'),
    });
  }

  /** `isReload`: it is one of Reroll's. */
  commit(commit: Commit, isReload: boolean): void {
    const { violation, now } = this.#by;
    for (const text of this.#heldBack(commit, isReload)) violation('held', text);
    this.#webhooks.commit(commit);
    this.#dropRequests();
    const namespace = this.#by.scope.commit(commit);
    if (namespace !== undefined) this.#scopeChanged(namespace);
    if (!isReload || !commit.before || !commit.after) return;
    this.#alerts.reloaded(commit.before, commit.after);
    const excess = this.#has('limit') ? this.#rate.reloaded(now()) : undefined;
    if (excess !== undefined) violation('unbounded', excess);
  }

  /** What the write violates of all that holds reloads back. */
  #heldBack(commit: Commit, isReload: boolean): string[] {
    const problems = [...this.#holds.commit(commit), ...(isReload ? this.#reloadHolds.reloaded(commit) : [])];
    if (isReload && this.#has('slots')) problems.push(...this.#tooMany(commit));
    this.#rollouts.noted(commit);
    this.#reloadHolds.noted(commit);
    this.#waves.noted(commit);
    return isReload ? [...problems, ...this.#waves.reloaded(commit)] : problems;
  }

  /**
   * What else is being rolled out, if that is as much as is allowed and the workload is not. Each of the two namespaces counts for at most
   * all slots but one, if both are watched. A Deployment that has only lent its template to the Rollout that is reloaded has no slot of
   * its own.
   */
  #tooMany({ after, by }: Commit): string[] {
    if (!after || !hasRollouts(after.kind)) return [];
    const others = this.#rollouts.atOnce().filter((other) => this.#by.truth.hasDependency(other));
    const key = keyOf(after);
    const each = this.#has('oneNamespace') ? AT_ONCE : AT_ONCE - 1;
    const own = others.filter((other) => other.split('/')[1] === after.metadata.namespace).length;
    const foreign = others.length - own;
    const hasSlot = own < each && own + Math.min(foreign, each) < AT_ONCE;
    if (others.includes(key) || hasSlot) return [];
    return [`${by} reloaded ${key} while these were being rolled out: ${others.join(', ')}`];
  }

  #scopeChanged(namespace: string): void {
    const { truth, scope, seen } = this.#by;
    truth.scopeChanged(namespace);
    this.#webhooks.doubt();
    seen(scope.isIn(namespace) ? 'a namespace came in' : 'a namespace went out');
  }

  /** Whether the write ends a pause that could not end before this moment. */
  endsPause(commit: Commit, from: number): boolean {
    return this.#holds.endsPauseOf(commit, from);
  }

  /** A process has written a line of its log. */
  said(who: string, line: string): void {
    if (!line.includes('msg="dry run: would reload"')) return;
    this.#by.seen('would reload');
    const [, workload] = / workload=(\S+)/.exec(line) ?? [];
    // One for a request alone names no source.
    const isForSources = !/ sources="?\[\]/.test(line);
    if (workload !== undefined && isForSources && this.#isTold) this.#by.truth.reported(workload, who);
  }

  posted(path: string, body: string, isAnswered: boolean): void {
    const { seen, violation } = this.#by;
    seen(`posted to ${path}`);
    if (path === ALERTS) return this.#alerts.received(body);
    const problem = this.#webhooks.posted(body, isAnswered);
    if (problem !== undefined && isUndisturbed(this.#plan)) violation('doubled', problem);
  }

  /** Somebody's request is stored. */
  stored(workload: string, id: string): void {
    this.#requests.stored(workload, id);
    // What the catalog does not know is left alone (`CatalogBehind`).
    if (!this.#by.truth.isKnown(workload)) this.#requests.dropped(workload);
    this.#dropRequests();
  }

  /** What is not recorded is in doubt. */
  doubt(): void {
    this.#webhooks.doubt();
  }

  /** The truth is as it was, and so are the namespaces. */
  etcdRestored(namespaces: readonly KubeObject[]): void {
    for (const each of namespaces) {
      const namespace = this.#by.scope.is(each);
      if (namespace !== undefined) this.#scopeChanged(namespace);
    }
    this.#reloadHolds.restored(namespaces);
    this.#waves.restored();
    this.#rollouts.restored();
    const { sources, workloads } = this.#by.truth;
    this.#holds.restored([...sources.values(), ...[...workloads.values()].map(({ shown }) => shown.object)]);
  }

  redisLost(): void {
    this.#requests.lost();
    this.#rate.lost();
  }

  /** Nothing goes wrong any more. */
  healed(): void {
    this.#toldSince = Math.min(this.#toldSince, this.#by.now() + TOLD_WITHIN);
  }

  /** Every change has come to its last wave, unless something else holds it, or the rollouts before an etcd that was set back. */
  judgeWaves(): void {
    const isHeld = this.#isAllHeld || OTHER_HOLDS.some((option) => this.#has(option));
    if (isHeld || this.#plan.steps.some((step) => step.do === 'restoreEtcd')) return;
    for (const text of this.#by.truth.notRecorded()) this.#by.violation('lost', `in waves, ${text}`);
  }

  /** Those of the pending workloads that nothing keeps pending: nobody reverts markers, and nothing is held or has no room. */
  needless(pending: readonly string[]): string[] {
    if (this.#isAllHeld) return [];
    return pending.filter((key) => {
      const workload = this.#by.truth.workloads.get(key);
      return workload === undefined || !isStuck(workload);
    });
  }

  judge(): void {
    const { truth, violation } = this.#by;
    if (!this.#isAllHeld || this.#isTold) truth.judge();
    const workloads = [...truth.workloads.values()].map(({ shown }) => shown.object);
    const lost = [
      ...this.#holds.overdue(workloads),
      ...(this.#isAllHeld ? [] : [...truth.notRecorded(), ...this.#requests.undone()]),
      ...(this.#has('webhook') ? this.#webhooks.missing() : []),
    ];
    for (const text of lost) violation('lost', text);
    if (this.#has('alerts')) this.#judgeAlerts();
  }

  /** What would be reloaded is told, once. */
  get #isTold(): boolean {
    return this.#has('dryRun') && isUndisturbed(this.#plan) && !this.#has('webhook');
  }

  #judgeAlerts(): void {
    // Of several sources, the annotation names the last one.
    if (this.#has('markerAnnotation')) return;
    const { violation } = this.#by;
    for (const text of this.#alerts.untrue()) violation('doubled', `an alert without a reload: ${text}`);
    if (!isUndisturbed(this.#plan)) return;
    for (const text of this.#alerts.missing()) violation('lost', `an alert: ${text}`);
  }

  /** Those that are dropped, because nothing is to reload the workload. */
  #dropRequests(): void {
    const { truth } = this.#by;
    for (const key of this.#requests.open()) if (!truth.hasDependency(key)) this.#requests.dropped(key);
  }

  get #isAllHeld(): boolean {
    return this.#has('dryRun') || this.#has('webhook');
  }

  #has(option: Option): boolean {
    return this.#plan.options.includes(option);
  }
}

/**
 * Whether nothing goes wrong but with receivers of posts. Otherwise what is told can be lost, or told twice: if a worker dies in the
 * middle, or Redis is away.
 */
function isUndisturbed({ steps }: Plan): boolean {
  return steps.every((step) => 'source' in step || 'workload' in step || step.do === 'faultyReceiver');
}

/** How far the clocks of two processes may get apart, in milliseconds. */
function clockErrorOf({ steps }: Plan): number {
  return steps.reduce((sum, step) => sum + (step.do === 'clockJump' ? Math.abs(step.by) : 0), 0);
}
