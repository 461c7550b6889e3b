import { isInConflict } from '../../state/workloads/conflict.ts';
import { DELETED_HASH } from '../../record/record-hash.ts';
import { recordedHashes } from '../../record/record.ts';
import type { SourceRow } from '../../state/rows.ts';
import {
  FULL_PROTECTION,
  SOURCES,
  SimulatedApi,
  keyNumberOf,
  letterOf,
  sourceKey,
  sourceName,
  workloadKey,
  type Backup,
  type Letter,
  type Protection,
  type SourceId,
  type Violation,
  type WorkloadId,
  type WorkloadState,
} from './api.ts';
import { SimulatedRedis, lastTerm, resetCatalog, type Job } from './redis.ts';
import type { Op } from './schedule.ts';
import { PLAIN, type Settings } from './settings.ts';
import { SimulatedWatcher } from './watcher.ts';
import { SimulatedWorker } from './worker.ts';

type Fault = 'leaderGap' | 'failover' | 'redis' | 'relist' | 'strip' | 'restore';
/** After these a rollout too many is a documented limit; after the others it is a violation. */
const HARD: readonly Fault[] = ['leaderGap', 'redis', 'relist', 'restore'];

type WatcherOp = Extract<Op, { watcher: 0 | 1 }>;

/** A whole Reroll in a small world, driven by a schedule; `violations` says what went wrong. */
export class World {
  readonly violations: Violation[] = [];
  readonly lines: string[] = [];
  readonly faults = new Set<Fault>();
  readonly api: SimulatedApi;
  readonly #redis = new SimulatedRedis();
  readonly #watchers: [SimulatedWatcher, SimulatedWatcher];
  readonly #workers: [SimulatedWorker, SimulatedWorker];
  #clock = 0;
  #token = 0;
  #term = 0;
  #holder: SimulatedWatcher | null = null;
  #leaseHeld = false;
  #adoptedAt: number | null = null;
  #everSynced = false;
  #backup: (Backup & { leaseRv: number }) | null = null;
  /** Of the last write of the Lease. */
  #leaseRv = 0;
  #op = -1;
  /** The key of the day, which a process learns at its start. */
  #key = 0;
  /** By source, the latest data that was told, and when it was read; before any change, what the catalog had first. */
  readonly #told = new Map<SourceId, { at: number; data: Letter | null }>();
  readonly protection: Protection;

  constructor(protection: Protection = FULL_PROTECTION, settings: Settings = PLAIN) {
    this.protection = protection;
    this.api = new SimulatedApi(
      {
        seconds: () => this.#seconds(),
        // Of what is created in that very second, and found by a list, no time tells that it was not there before.
        adopted: () => this.#adoptedAt !== null && (this.#everSynced || this.#seconds() > this.#adoptedAt),
        synced: () => this.#everSynced,
        watched: () => this.#isWatched(),
        isInCatalog: (id, since) => Number(this.#redis.get<SourceRow>(`S/${id}`)?.rv ?? 0) >= since,
        hasSeen: (workload) => this.#hasSeen(workload),
        hardFault: () => HARD.some((fault) => this.faults.has(fault)),
        isRestoreUnnoticed: () =>
          this.#watchers.some(({ stage, timeline }) => stage !== 'down' && timeline !== this.api.timeline),
        cannotCompare: (hash) =>
          this.#watchers.some(({ stage, key }) => stage !== 'down' && key !== keyNumberOf(hash)),
        op: () => this.#op,
        violation: (violation) => void this.violations.push(violation),
        log: (line) => this.#log(line),
      },
      protection,
      settings,
    );
    const watcher = (): SimulatedWatcher =>
      new SimulatedWatcher(this.api, this.#redis, { protection, settings });
    this.#watchers = [watcher(), watcher()];
    const worker = (): SimulatedWorker =>
      new SimulatedWorker({
        api: this.api,
        redis: this.#redis,
        settings,
        protection,
        token: () => (this.#token += 1),
        told: (source, read) => {
          // Who was frozen tells late of what it read early: a word too many, and nothing that was not told.
          if (read.at >= (this.#told.get(source)?.at ?? 0)) this.#told.set(source, read);
        },
        now: () => this.#seconds() * 1000,
      });
    this.#workers = [worker(), worker()];
  }

  run(schedule: readonly Op[]): void {
    for (const [index, op] of schedule.entries()) {
      this.#op = index;
      this.#clock += 1;
      this.#apply(op);
      this.#checkKnowledge();
    }
    this.#heal();
    this.#judge();
  }

  #apply(op: Op): void {
    const { api } = this;
    switch (op.do) {
      case 'writeSource':
        return api.writeSource(op.source, op.data);
      case 'touchSource':
        return api.touchSource(op.source);
      case 'deleteSource':
        return api.deleteSource(op.source);
      case 'createWorkload':
        return api.createWorkload(op.workload, op);
      case 'recreateWorkload': {
        const record = api.graves.findLast(([id]) => id === op.workload)?.[1];
        return api.createWorkload(op.workload, { refs: op.refs, auto: true, record });
      }
      case 'deleteWorkload':
        return api.deleteWorkload(op.workload);
      case 'editTemplate':
        return api.editTemplate(op.workload, op.refs);
      case 'toggleAuto':
        return api.toggleAuto(op.workload);
      case 'touchWorkload':
        return api.touchWorkload(op.workload, op.generations);
      case 'upgrade':
        api.writeSource(op.source, op.data);
        if (api.workloads.has(op.workload)) api.editTemplate(op.workload);
        else api.createWorkload(op.workload, { refs: op.refs, auto: true });
        return;
      case 'stripRecord':
        if (!this.faults.has('strip') && api.stripRecord(op.workload)) this.faults.add('strip');
        return;
      case 'stripMarker':
        if (op.record && this.faults.has('strip')) return;
        if (op.record) this.faults.add('strip');
        return api.stripMarker(op.workload, op.record);
      case 'release':
        return api.release(op.workload);
      case 'setPaused':
        return api.setPaused(op.workload, op.paused);
      case 'setPeriod':
        return api.setPeriod(op.workload, op.period);
      case 'recreateSource': {
        const old = api.sources.get(op.source);
        if (!old || old.exists) return;
        return api.writeSource(op.source, op.data === 'same' ? old.data : op.data);
      }
      case 'tick':
        this.#clock += op.units;
        return;
      default:
        return this.#applyToProcess(op);
    }
  }

  #applyToProcess(op: Op): void {
    switch (op.do) {
      case 'step':
        return this.#workers[op.worker].step(op.pick);
      case 'workerCrash':
        this.#workers[op.worker].restart(this.#key);
        return;
      case 'workerFreeze':
        this.#workers[op.worker].frozen = true;
        return;
      case 'workerThaw':
        this.#workers[op.worker].frozen = false;
        return;
      case 'progress':
        return this.#progress(op.steps);
      case 'fight':
        this.api.writeSource(op.source, op.data);
        this.#progress(20);
        return this.api.stripMarker(op.workload, false);
      case 'setScope':
        if (!this.#everSynced) return;
        this.api.inScope = op.inScope;
        return this.#log(`the namespace is ${op.inScope ? 'in' : 'out of'} scope`);
      case 'rotateKey':
        this.#key += 1;
        return this.#log(`the key is turned over: ${this.#key}`);
      case 'handOver':
        return this.#handOver(op.answered);
      case 'stalledCheck':
        return this.#returnStalled();
      case 'backUp':
        if (this.#everSynced) this.#backup = { ...this.api.backup(), leaseRv: this.#leaseRv };
        return;
      case 'restore':
        return this.#restore(op.bump);
      case 'redisLoses':
        this.#fault('redis');
        this.#redis.lose(op.writes);
        return this.#log(`redis loses ${op.writes} writes`);
      case 'redisFlush':
        this.#fault('redis');
        this.#redis.flush();
        return this.#log('redis is emptied');
      default:
        return this.#applyToWatcher(op);
    }
  }

  #applyToWatcher(op: Op): void {
    if (!('watcher' in op)) return;
    const watcher = this.#watchers[op.watcher];
    if (op.do === 'thaw') watcher.frozen = false;
    if (op.do === 'crash') this.#crash(watcher);
    if (op.do === 'arrive') watcher.arrive();
    if (op.do === 'notice' && !watcher.frozen) this.#notice(watcher);
    if (op.do === 'freeze' && watcher.stage !== 'down') watcher.frozen = true;
    if (op.do === 'leaseExpires') this.#expire();
    if (!watcher.frozen) this.#applyToAwake(watcher, op);
    this.#endIfRestored(watcher);
  }

  #applyToAwake(watcher: SimulatedWatcher, op: WatcherOp): void {
    if (op.do === 'start') this.#start(watcher);
    if (op.do === 'lead') this.#lead(watcher);
    if (op.do === 'list') this.#list(watcher);
    if (op.do === 'learnScope') this.#learnScope(watcher);
    if (op.do === 'slice') watcher.slice();
    if (op.do === 'evaluate') watcher.evaluate(op);
    if (op.do === 'beginList') {
      if (watcher.stage === 'synced') this.#fault('relist');
      watcher.beginList(op.stream, op);
    }
    if (watcher.stage !== 'synced') return;
    if (op.do === 'deliver') void watcher.deliver(op.stream);
    if (op.do === 'publish') watcher.publish(op.what);
    if (op.do === 'loseReply') watcher.loseReply(op.what);
    if (op.do === 'resync') watcher.resync();
    if (op.do === 'relist') {
      this.#fault('relist');
      watcher.relist();
    }
  }

  #progress(steps: number): void {
    for (const watcher of this.#watchers) {
      if (watcher.frozen || watcher.stage !== 'synced') continue;
      this.#learnScope(watcher);
      while (watcher.deliver('S') || watcher.deliver('W'));
      watcher.evaluateAll();
      watcher.publish('all');
    }
    for (let step = 0; step < steps; step += 1) for (const worker of this.#workers) worker.step(step);
  }

  /** A watcher begins its streams once the Lease tells since when the cluster is adopted. */
  #start(watcher: SimulatedWatcher): void {
    if (watcher.stage === 'down' && this.#adoptedAt !== null) watcher.start(this.#adoptedAt, this.#key);
  }

  #lead(watcher: SimulatedWatcher): void {
    if (this.#leaseHeld || watcher.term > 0 || this.#seesInLease(watcher)) return;
    if (this.#term > 0)
      this.#fault(watcher.stage === 'synced' && !watcher.listedInGap ? 'failover' : 'leaderGap');
    this.api.rv += 1;
    this.#term = this.api.rv;
    this.#leaseRv = this.api.rv;
    this.#holder = watcher;
    this.#leaseHeld = true;
    if (this.#adoptedAt === null) {
      this.#adoptedAt = this.#seconds();
      for (const workload of this.api.workloads.values()) workload.transitions = 0;
    }
    this.#start(watcher);
    if (this.protection.noticesRestores && lastTerm(this.#redis) > this.#term) watcher.sawRestore = true;
    else watcher.lead(this.#term);
    this.#log(`watcher${this.#watchers.indexOf(watcher)} leads, term ${this.#term}, ${watcher.stage}`);
  }

  #list(watcher: SimulatedWatcher): void {
    const leader = this.#leaseHeld && this.#holder?.stage === 'synced' ? this.#holder : null;
    if (watcher.stage !== 'synced') watcher.listedInGap = this.#everSynced && !leader?.hasPublished();
    watcher.list();
    if (watcher.stage !== 'synced' || watcher.term === 0) return;
    if (this.#everSynced) return;
    this.#everSynced = true;
    for (const workload of this.api.workloads.values()) {
      if (!workload.preexisting) continue;
      workload.beforeSync = false;
      workload.runs = new Map(workload.refs.map((ref) => [ref, this.api.data(ref)]));
    }
  }

  #crash(watcher: SimulatedWatcher): void {
    if (watcher.stage === 'down') return;
    this.#log(`watcher${this.#watchers.indexOf(watcher)} crashes`);
    watcher.end();
    if (this.#holder === watcher) this.#leaseHeld = false;
  }

  #restore(bump: boolean): void {
    if (!this.#backup) return;
    const { rv, timeline } = this.api;
    // The Lease was renewed right before, so the one that every watcher saw last is later than that of the backup.
    for (const watcher of this.#watchers) if (watcher.timeline === timeline) watcher.leaseSeen = rv + 1;
    this.api.restore(this.#backup, bump);
    this.#fault('restore');
    this.#leaseRv = this.#backup.leaseRv;
    for (const watcher of this.#watchers) if (watcher.stage !== 'down') watcher.cutOff(bump);
  }

  /** Its Lease is older than the one that it saw last. */
  #seesInLease(watcher: SimulatedWatcher): boolean {
    const isOld = watcher.stage !== 'down' && watcher.timeline !== this.api.timeline;
    if (isOld && this.#leaseRv < watcher.leaseSeen && this.protection.noticesRestores)
      watcher.sawRestore = true;
    return watcher.sawRestore;
  }

  #endIfRestored(watcher: SimulatedWatcher): void {
    if (!watcher.sawRestore || !this.protection.noticesRestores) return;
    watcher.sawRestore = false;
    if (watcher.stage === 'down') return;
    this.#log(`watcher${this.#watchers.indexOf(watcher)} sees that etcd was restored`);
    this.#fault('restore');
    resetCatalog(this.#redis, this.#leaseRv);
    watcher.end();
    if (this.#holder === watcher) this.#leaseHeld = false;
  }

  /** The leader ends after it wrote rows and before it enqueued jobs for them; a standby in sync goes on. */
  #handOver(answered: boolean): void {
    const leader = this.#leaseHeld ? this.#holder : null;
    const standby = this.#watchers.find((each) => each !== leader);
    const pair = [leader, standby].filter((each) => each?.stage === 'synced' && !each.frozen);
    if (!leader || !standby || pair.length < 2) return;
    for (const watcher of [leader, standby]) {
      this.#learnScope(watcher);
      while (watcher.deliver('S') || watcher.deliver('W'));
      watcher.evaluateAll();
    }
    if (answered) leader.publish('rows');
    else leader.loseReply('done');
    this.#crash(leader);
    this.#lead(standby);
  }

  /** A leader that is none any more sees it and ends. */
  #notice(watcher: SimulatedWatcher): void {
    if (this.#seesInLease(watcher)) return;
    if (watcher.term > 0 && (this.#holder !== watcher || watcher.term !== this.#term)) watcher.end();
  }

  #expire(): void {
    if (this.#holder?.frozen) this.#leaseHeld = false;
  }

  #returnStalled(): void {
    const alive = new Set(this.#workers.filter(({ frozen }) => !frozen).map(({ job }) => job?.token));
    for (const key of ['c/', 'r/', 'p/'].flatMap((prefix) => this.#redis.keys(prefix))) {
      const job = this.#redis.get<Job>(key);
      if (job?.state === 'active' && !alive.has(job.token)) {
        this.#redis.set(key, { state: 'waiting', again: false, token: 0, at: job.at });
      }
    }
  }

  /** Everything works again: the world must come to rest, with nothing pending. */
  #heal(): void {
    this.#log('HEAL');
    for (const watcher of this.#watchers) {
      watcher.frozen = false;
      this.#notice(watcher);
      this.#endIfRestored(watcher);
    }
    for (const worker of this.#workers) {
      worker.frozen = false;
      worker.learn(this.#key);
    }
    for (let round = 0, quiet = 0; round < 400; round += 1) {
      this.#clock += 50;
      const before = this.api.rv;
      const leader = this.#healedLeader();
      leader.list();
      leader.list();
      this.#learnScope(leader);
      leader.finishSlices();
      while (!leader.isCurrent()) {
        leader.deliver('S');
        leader.deliver('W');
      }
      leader.evaluateAll();
      leader.publish('all');
      leader.resync();
      leader.publish('all');
      this.#returnStalled();
      if (!this.#drain()) return void this.violations.push({ kind: 'T', text: 'the queues never drain' });
      this.#endIfRestored(leader);
      quiet = this.api.rv === before && leader.stage !== 'down' ? quiet + 1 : 0;
      if (quiet >= 70) {
        this.#judgeDeleted(leader);
        return this.#judgeScope(leader);
      }
    }
    this.violations.push({ kind: 'T', text: 'endless' });
  }

  #healedLeader(): SimulatedWatcher {
    if (this.#leaseHeld && this.#holder && this.#holder.stage !== 'down') return this.#holder;
    this.#leaseHeld = false;
    this.#holder?.end();
    const [first] = this.#watchers;
    this.#lead(first);
    return first;
  }

  #drain(): boolean {
    const isDue = (key: string): boolean => (this.#redis.get<Job>(key)?.at ?? 0) <= this.#seconds() * 1000;
    const busy = (): boolean =>
      ['c/', 'r/', 'p/'].some((prefix) => this.#redis.keys(prefix).some(isDue)) ||
      this.#workers.some(({ job }) => job);
    for (let step = 0; busy(); step += 1) {
      if (step > 600) return false;
      this.#workers[0].step(0);
      this.#workers[1].step(1);
      if (step % 50 === 49) this.#returnStalled();
    }
    return true;
  }

  #judge(): void {
    if (!this.api.inScope) return;
    this.#judgeTold();
    for (const [id, workload] of this.api.workloads) {
      this.api.checkRollouts(id, workload);
      if (workload.pausedAt !== undefined)
        this.violations.push({ kind: 'P', text: `${id} is paused at the end, since ${workload.pausedAt}` });
      if (!workload.auto || this.api.isInConflict(workload)) continue;
      for (const ref of workload.refs) this.#judgeDependency(id, workload, ref);
    }
  }

  #judgeDependency(id: WorkloadId, workload: WorkloadState, ref: SourceId): void {
    const data = this.api.data(ref);
    const violation = (kind: string, text: string): void =>
      void this.violations.push({ kind, text: `${id}/${ref} ${text}` });
    if (data === null) {
      const known = recordedHashes(workload.record)[sourceName(ref)];
      const isKnown = known !== undefined || this.api.sources.get(ref)?.goneUnseen === false;
      if (isKnown && known !== DELETED_HASH && this.api.losesBy(workload, ref))
        violation(`Ld${this.#hard()}`, 'runs what was deleted');
      return;
    }
    if (workload.preexisting && !workload.adopted.has(ref) && !workload.exact)
      return violation(`U${this.#isMistaken(ref) ? 'restoref' : ''}`, 'never recorded');
    const recorded = recordedHashes(workload.record)[sourceName(ref)];
    if (recorded === undefined)
      violation(`U${this.#isMistaken(ref) ? 'restoref' : ''}`, 'is not recorded at the end');
    const runs = workload.runs.get(ref);
    if (runs === data) return;
    const flip = letterOf(recorded) === data && this.#isFlipped(workload, ref) ? 'flip' : '';
    const hard = this.#hard();
    const unrecorded = workload.unrecordedAtGap.has(ref) ? 'unrecorded' : '';
    const created = runs === null && recorded !== undefined && letterOf(recorded) === data ? 'create' : '';
    const once = this.#seemsWrittenOnce(ref) ? 'once' : '';
    const unnoticed = workload.changedUnnoticed.has(ref) ? 'restore' : '';
    violation(
      `L${once || created || unrecorded || flip || unnoticed}${once ? '' : hard}`,
      `runs ${runs}, present ${data}, record ${workload.record}`,
    );
  }

  /** It went and came back, with the data of before: while the template was known, or was written unseen. */
  #isFlipped(workload: WorkloadState, ref: SourceId): boolean {
    if (workload.flipped.has(ref)) return true;
    return this.#hard() !== '' && workload.everBlind && this.api.sources.get(ref)?.isBack === true;
  }

  /** After a restore it has the very revision that another state of it had before: nothing tells them apart. */
  #isMistaken(ref: SourceId): boolean {
    const source = this.api.sources.get(ref);
    const row = this.#redis.get<SourceRow>(`S/${ref}`);
    if (!this.faults.has('restore') || !source || !row || Number(row.rv) !== source.rv) return false;
    return row.exists !== source.exists || letterOf(row.hash) !== source.data;
  }

  /** No time tells of a write in the second of the creation, or that there was another one before. */
  #seemsWrittenOnce(ref: SourceId): boolean {
    const source = this.api.sources.get(ref);
    if (source === undefined || source.createdAt !== source.dataAt) return false;
    return source.rv > source.createdRv || source.goneUnseen === true;
  }

  /** Entering is a gap; what has no record then is taken as it is. */
  #learnScope(watcher: SimulatedWatcher): void {
    if (!watcher.learnScope() || !watcher.follows) return;
    this.#fault('relist');
    for (const workload of this.api.workloads.values()) {
      const record = recordedHashes(workload.record);
      for (const ref of workload.refs)
        if (!(sourceName(ref) in record)) workload.runs.set(ref, this.api.data(ref));
    }
  }

  /** Nothing is left of a deleted source that nobody uses or has recorded. */
  #judgeDeleted(leader: SimulatedWatcher): void {
    const isNamed = (id: SourceId): boolean =>
      [...this.api.workloads.values()].some(
        ({ refs, record }) => refs.includes(id) || sourceName(id) in recordedHashes(record),
      );
    for (const [id, { exists }] of this.api.sources) {
      if (exists || isNamed(id)) continue;
      const isInCatalog = this.#redis.get(`S/${id}`) !== undefined;
      if (leader.clusterState.sources.has(sourceKey(id)) || isInCatalog)
        this.violations.push({ kind: 'Z', text: `a row is left of ${id}, which is deleted` });
    }
  }

  /** Out of scope, nothing is done whatever changes; nothing of it is left in the catalog. */
  #judgeScope(leader: SimulatedWatcher): void {
    if (this.api.inScope) return;
    const before = this.api.rollouts;
    for (const id of this.api.sources.keys()) this.api.writeSource(id, this.api.data(id) === 'A' ? 'B' : 'A');
    for (let round = 0; round < 3; round += 1) {
      leader.resync();
      leader.publish('all');
      this.#drain();
    }
    const rows = [...this.#redis.keys('S/'), ...this.#redis.keys('W/')];
    if (this.api.rollouts > before || rows.length > 0)
      this.violations.push({
        kind: 'N',
        text: `out of scope: ${this.api.rollouts - before} rolled, rows ${rows.join()}`,
      });
  }

  #hasSeen({ uid, rv }: WorkloadState): boolean {
    const synced = this.#watchers.filter(({ stage }) => stage === 'synced');
    return synced.every(({ clusterState }) =>
      [...clusterState.workloads.values()].some((row) => row.uid === uid && row.rv === String(rv)),
    );
  }

  #hard(): string {
    return HARD.some((fault) => this.faults.has(fault)) ? 'f' : '';
  }

  /** Whether or not a workload uses it, the last data of each source is told, or nothing has changed since the catalog had it first. */
  #judgeTold(): void {
    for (const [id, { exists, data }] of this.api.sources) {
      const told = this.#told.get(id);
      if (!exists || told === undefined || told.data === data) continue;
      this.violations.push({
        kind: `W${this.#key > 0 ? 'k' : ''}${this.#hard()}`,
        text: `of ${id} ${told.data} was told, not ${data}`,
      });
    }
  }

  /** What must hold at any time. */
  #checkKnowledge(): void {
    this.#checkCatalog();
    for (const watcher of this.#watchers) {
      const [ghost] = watcher.ghosts();
      if (ghost !== undefined && !this.violations.some(({ kind }) => kind === 'G'))
        this.violations.push({ kind: 'G', text: `${ghost} is there and taken for gone at op ${this.#op}` });
      for (const [id, workload] of this.api.workloads) {
        const conflict = watcher.clusterState.workloads.get(workloadKey(id));
        if (conflict?.uid !== workload.uid || !isInConflict(conflict.conflict) || workload.strips.length >= 3)
          continue;
        if (conflict.rv !== String(workload.rv)) continue;
        this.violations.push({ kind: 'X', text: `${id} is taken for contested at op ${this.#op}` });
      }
    }
  }

  #checkCatalog(): void {
    for (const id of SOURCES) {
      const row = this.#redis.get<SourceRow>(`S/${id}`);
      if (!row) this.#told.delete(id);
      else if (!this.#told.has(id)) this.#told.set(id, { at: 0, data: letterOf(row.hash) });
    }
    const [gap] = this.#watchers.filter(({ gaps }) => gaps > 0);
    const isEmptied = this.faults.has('redis') || this.faults.has('restore');
    if (gap && !isEmptied && !this.violations.some(({ kind }) => kind === 'R'))
      this.violations.push({ kind: 'R', text: `Redis lost nothing and a gap was seen at op ${this.#op}` });
  }

  /** Somebody sees what is written now, and will lead knowing it: not so while a leader is still listing. */
  #isWatched(): boolean {
    if (this.#leaseHeld && this.#holder?.stage !== 'synced') return false;
    const { timeline } = this.api;
    return this.#watchers.some(
      (each) => each.stage === 'synced' && !each.frozen && each.timeline === timeline,
    );
  }

  #fault(fault: Fault): void {
    this.faults.add(fault);
    if (!HARD.includes(fault)) return;
    for (const workload of this.api.workloads.values()) {
      const record = recordedHashes(workload.record);
      for (const ref of workload.refs) if (!(sourceName(ref) in record)) workload.unrecordedAtGap.add(ref);
    }
  }

  #seconds(): number {
    return Math.floor(this.#clock / 5);
  }

  #log(line: string): void {
    this.lines.push(`${this.#op}: ${line} [rv ${this.api.rv}]`);
  }
}
