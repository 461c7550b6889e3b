import { isInConflict } from '../../state/workloads/conflict.ts';
import type { ObservedSource, ObservedWorkload, SourceRow, WorkloadRow } from '../../state/rows.ts';
import { AwaitedKeys } from '../../record/awaited-keys.ts';
import { recordedHashes } from '../../record/record.ts';
import { pauseWish } from '../../reload/pause.ts';
import { planReload, type DependencyFacts, type Plan, type SourceReading } from '../../reload/plan.ts';
import { envVarName } from '../../marker/env-var-name.ts';
import {
  KEYS,
  WORKLOADS,
  hashOf,
  keyNumberOf,
  letterOf,
  sourceName,
  type Protection,
  type Letter,
  type SimulatedApi,
  type SourceId,
  type WorkloadId,
} from './api.ts';
import { tellChange, type Job, type Reading, type SimulatedRedis } from './redis.ts';
import type { Settings } from './settings.ts';

/** At most so many patches are tried in one attempt of a job. */
const TRIES = 5;
/** Milliseconds that a job waits for a worker with another key. */
const KEY_WAIT = 30_000;

interface Running {
  readonly key: string;
  readonly token: number;
  step:
    | 'readSource'
    | 'fanOut'
    | 'tell'
    | 'readWorkload'
    | 'plan'
    | 'readSources'
    | 'decide'
    | 'patch'
    | 'done';
  tries: number;
  source?: ObservedSource | null;
  /** Revision at which the source was read. */
  readAt: number;
  workload?: ObservedWorkload;
  toRead: SourceId[];
  readings: Map<SourceId, ObservedSource | null>;
  plan?: Plan;
  /** For a resume job: what was read. */
  pause?: { uid: string; paused: boolean; pausedAt: string } | undefined;
}

/** What a worker shares with the world. */
export interface WorkerContext {
  readonly api: SimulatedApi;
  readonly redis: SimulatedRedis;
  readonly settings: Settings;
  readonly protection: Protection;
  token(): number;
  /** The history, or the receiver of a webhook, is told of what was read at a revision. */
  told(source: SourceId, read: { at: number; data: Letter | null }): void;
  /** Unix milliseconds. */
  now(): number;
}

/** A worker process with one job at a time, every call to the API or to Redis a step of its own. */
export class SimulatedWorker {
  frozen = false;
  job: Running | null = null;
  /** The key under which it hashes; it knows the earlier ones too. */
  #key = 0;
  #awaited = new AwaitedKeys([]);
  readonly #api: SimulatedApi;
  readonly #redis: SimulatedRedis;
  readonly #context: WorkerContext;

  constructor(context: WorkerContext) {
    this.#api = context.api;
    this.#redis = context.redis;
    this.#context = context;
  }

  /** Ends, and another one takes its place, with today's key. */
  restart(key: number): void {
    this.job = null;
    this.frozen = false;
    this.learn(key);
  }

  learn(key: number): void {
    if (key === this.#key) return;
    this.#key = key;
    this.#awaited = new AwaitedKeys(Array.from({ length: key }, (_, index) => ({ id: String(index + 1) })));
  }

  step(pick: number): void {
    if (this.frozen) return;
    if (!this.job) this.#take(pick);
    else if (this.job.key.startsWith('c/')) this.#change(this.job);
    else if (this.job.key.startsWith('p/')) this.#resume(this.job);
    else this.#reload(this.job, pick);
  }

  #take(pick: number): void {
    const waiting = ['c/', 'r/', 'p/']
      .flatMap((prefix) => this.#redis.keys(prefix))
      .filter((key) => {
        const job = this.#redis.get<Job>(key);
        return job?.state === 'waiting' && (job.at ?? 0) <= this.#context.now();
      });
    const key = waiting[pick % Math.max(1, waiting.length)];
    if (key === undefined) return;
    const token = this.#context.token();
    this.#redis.set(key, { state: 'active', again: false, token });
    const step = key.startsWith('c/') ? 'readSource' : 'readWorkload';
    this.job = { key, token, step, tries: 0, readAt: 0, toRead: [], readings: new Map() };
  }

  #change(job: Running): void {
    const id = job.key.slice(2) as SourceId;
    if (job.step === 'readSource') {
      job.source = this.#api.observeSource(id, this.#key);
      job.readAt = this.#api.rv;
      job.step = 'fanOut';
    } else if (job.step === 'fanOut') {
      if (job.source) this.#redis.set(`F/${id}`, { rv: job.source.rv, hash: job.source.hash });
      for (const workload of WORKLOADS) {
        const row = this.#redis.get<WorkloadRow>(`W/${workload}`);
        if (row?.dependencies.includes(sourceName(id))) this.#redis.enqueue(`r/${workload}`);
      }
      job.step = 'tell';
    } else if (job.step === 'tell') {
      this.#context.told(id, { at: job.readAt, data: letterOf(job.source?.hash) });
      tellChange(this.#redis, id, job.source?.hash ?? '');
      job.step = 'done';
    } else this.#finish(job);
  }

  #reload(job: Running, pick: number): void {
    const id = job.key.slice(2) as WorkloadId;
    switch (job.step) {
      case 'readWorkload':
        return this.#readWorkload(job, id);
      case 'plan':
        return this.#decide(job, id, 'readSources');
      case 'readSources': {
        const [next] = job.toRead.splice(pick % Math.max(1, job.toRead.length), 1);
        if (next) job.readings.set(next, this.#api.observeSource(next, this.#key));
        if (job.toRead.length === 0) job.step = 'decide';
        return;
      }
      case 'decide':
        return this.#decide(job, id, 'done');
      case 'patch':
        return this.#patch(job, id);
      default:
        return this.#finish(job);
    }
  }

  #readWorkload(job: Running, id: WorkloadId): void {
    const workload = this.#api.observeWorkload(id);
    job.readings.clear();
    if (workload) job.workload = workload;
    job.step = workload ? 'plan' : 'done';
  }

  #decide(job: Running, id: WorkloadId, ifUnread: 'readSources' | 'done'): void {
    const { workload } = job;
    if (!workload) return;
    const dependencies = KEYS.auto in workload.annotations ? workload.uses : [];
    const row = this.#redis.get<WorkloadRow>(`W/${id}`);
    const { settings, protection } = this.#context;
    const plan = planReload({
      workload,
      row,
      dependencies: dependencies.map((name) => this.#facts(job, workload, name)),
      adoptStale: settings.adoptStale,
      onDelete: settings.triggers.onDelete !== 'never',
      mentionOf: (name) => (workload.uses.includes(name) ? 'name' : 'none'),
    });
    const unread = [...plan.verdicts]
      .filter(([, verdict]) => verdict === 'Read')
      .map(([name]) => name.split('/')[1] as SourceId);
    if (unread.length > 0 && ifUnread === 'readSources') {
      job.toRead = unread;
      job.step = 'readSources';
    } else if (isInConflict(row?.conflict) && protection.yieldsContests) {
      job.step = 'done';
    } else if (!plan.hashes && [...plan.verdicts.values()].includes('KeyUnknown')) {
      this.#redis.acknowledge(job.key, job.token, { at: this.#context.now() + KEY_WAIT });
      this.job = null;
    } else {
      job.plan = plan;
      job.step = plan.hashes ? 'patch' : 'done';
    }
  }

  #facts(job: Running, workload: ObservedWorkload, name: string): DependencyFacts {
    const id = name.split('/')[1] as SourceId;
    const recorded = recordedHashes(workload.record)[name];
    const read = job.readings.get(id);
    const handed = this.#redis.get<Reading>(`F/${id}`);
    let reading: SourceReading | null | undefined;
    if (read) reading = { ...read, ...this.#compare(recorded, read.hash), afterWorkload: true };
    else if (read === null) reading = null;
    else if (handed) reading = { ...handed, isRecorded: recorded === handed.hash, afterWorkload: false };
    const showsDeletion = read === null && this.#showsDeletion(id, workload);
    const marked = this.#api.workloads.get(workloadId(workload))?.marks.get(id);
    return {
      name,
      row: this.#redis.get<SourceRow>(`S/${id}`),
      reading,
      isMarked: read ? marked === letterOf(read.hash) : false,
      showsDeletion,
    };
  }

  /** Whether a recorded hash is of the data that was read, if this worker knows its key. */
  #compare(recorded: string | undefined, read: string): Pick<SourceReading, 'isRecorded' | 'isKeyAwaited'> {
    const letter = letterOf(recorded);
    if (recorded === undefined || letter === null) return { isRecorded: false };
    if (keyNumberOf(recorded) > this.#key)
      return { isRecorded: false, isKeyAwaited: this.#awaited.isAwaited(recorded, this.#context.now()) };
    return { isRecorded: hashOf(letter, this.#key) === read };
  }

  #showsDeletion(id: SourceId, { marks }: ObservedWorkload): boolean {
    const { onDelete } = this.#context.settings.triggers;
    return onDelete === 'always' || marks.includes(envVarName('ConfigMap', id));
  }

  #patch(job: Running, id: WorkloadId): void {
    const { plan, workload } = job;
    if (!plan?.hashes || !workload) return;
    const write = { hashes: plan.hashes, roll: plan.roll, pausedAt: this.#pausedAt(workload, plan) };
    if (this.#api.patch(id, workload, write)) {
      job.step = 'done';
      return;
    }
    job.tries += 1;
    job.step = 'readWorkload';
    if (job.tries < TRIES) return;
    this.#redis.acknowledge(job.key, job.token, true);
    this.job = null;
  }

  #pausedAt(workload: ObservedWorkload, plan: Plan): string | undefined {
    const id = workloadId(workload);
    // Between the read and now its generation has not moved, or the patch fails.
    const isPaused = (this.#api.workloads.get(id)?.pausedBy ?? null) !== null;
    if (plan.roll.length === 0 || isPaused || pauseWish(workload, KEYS).state !== 'pause') return undefined;
    return new Date(this.#context.now()).toISOString();
  }

  #resume(job: Running): void {
    const id = job.key.slice(2) as WorkloadId;
    if (job.step === 'readWorkload') return this.#readPause(job, id);
    if (job.pause) this.#api.resume(id, job.pause);
    return this.#finish(job);
  }

  #readPause(job: Running, id: WorkloadId): void {
    const workload = this.#api.workloads.get(id);
    const due = workload && this.#api.dueOf(workload);
    if (!workload || due === undefined || workload.pausedAt === undefined) return this.#finish(job);
    if (due > this.#context.now()) {
      this.#redis.acknowledge(job.key, job.token, { at: due });
      this.job = null;
      return;
    }
    job.pause = { uid: workload.uid, paused: workload.pausedBy !== null, pausedAt: workload.pausedAt };
    job.step = 'patch';
  }

  #finish(job: Running): void {
    this.#redis.acknowledge(job.key, job.token);
    this.job = null;
  }
}

function workloadId({ key }: ObservedWorkload): WorkloadId {
  return key.slice(key.lastIndexOf('/') + 1) as WorkloadId;
}
