import type { ObservedSource, ObservedWorkload, SourceRow, WorkloadRow } from '../../ledger/rows.ts';
import { recordedHashes } from '../../record/record.ts';
import { planReload, type EdgeFacts, type Plan, type SourceReading } from '../../reload/plan.ts';
import { AUTO, WORKLOADS, sourceName, type SimulatedApi, type SourceId, type WorkloadId } from './api.ts';
import type { Job, Reading, SimulatedRedis } from './redis.ts';

/** At most so many patches are tried in one attempt of a job. */
const TRIES = 5;

interface Running {
  readonly key: string;
  readonly token: number;
  step: 'readSource' | 'fanOut' | 'readWorkload' | 'plan' | 'readSources' | 'decide' | 'patch' | 'done';
  tries: number;
  source?: ObservedSource | null;
  workload?: ObservedWorkload;
  toRead: SourceId[];
  readings: Map<SourceId, ObservedSource | null>;
  plan?: Plan;
}

/** A worker process with one job at a time, every call to the API or to Redis a step of its own. */
export class SimulatedWorker {
  frozen = false;
  job: Running | null = null;
  readonly #api: SimulatedApi;
  readonly #redis: SimulatedRedis;
  readonly #token: () => number;

  constructor(api: SimulatedApi, redis: SimulatedRedis, token: () => number) {
    this.#api = api;
    this.#redis = redis;
    this.#token = token;
  }

  step(pick: number): void {
    if (this.frozen) return;
    if (!this.job) this.#take(pick);
    else if (this.job.key.startsWith('c/')) this.#change(this.job);
    else this.#reload(this.job, pick);
  }

  #take(pick: number): void {
    const waiting = [...this.#redis.keys('c/'), ...this.#redis.keys('r/')].filter(
      (key) => this.#redis.get<Job>(key)?.state === 'waiting',
    );
    const key = waiting[pick % Math.max(1, waiting.length)];
    if (key === undefined) return;
    const token = this.#token();
    this.#redis.set(key, { state: 'active', again: false, token });
    const step = key.startsWith('c/') ? 'readSource' : 'readWorkload';
    this.job = { key, token, step, tries: 0, toRead: [], readings: new Map() };
  }

  #change(job: Running): void {
    const id = job.key.slice(2) as SourceId;
    if (job.step === 'readSource') {
      job.source = this.#api.observeSource(id);
      job.step = 'fanOut';
    } else if (job.step === 'fanOut') {
      if (job.source) this.#redis.set(`F/${id}`, { rv: job.source.rv, hash: job.source.hash });
      for (const workload of WORKLOADS) {
        const row = this.#redis.get<WorkloadRow>(`W/${workload}`);
        if (row?.edges.includes(sourceName(id))) this.#redis.enqueue(`r/${workload}`);
      }
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
        if (next) job.readings.set(next, this.#api.observeSource(next));
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
    const edges = workload.annotations === AUTO ? workload.uses : [];
    const plan = planReload({
      workload,
      row: this.#redis.get<WorkloadRow>(`W/${id}`),
      edges: edges.map((name) => this.#facts(job, workload, name)),
      adoptStale: 'report',
    });
    const unread = [...plan.verdicts]
      .filter(([, verdict]) => verdict === 'Read')
      .map(([name]) => name.split('/')[1] as SourceId);
    if (unread.length > 0 && ifUnread === 'readSources') {
      job.toRead = unread;
      job.step = 'readSources';
    } else {
      job.plan = plan;
      job.step = plan.hashes ? 'patch' : 'done';
    }
  }

  #facts(job: Running, workload: ObservedWorkload, name: string): EdgeFacts {
    const id = name.split('/')[1] as SourceId;
    const recorded = recordedHashes(workload.record)[name];
    const read = job.readings.get(id);
    const handed = this.#redis.get<Reading>(`F/${id}`);
    let reading: SourceReading | null | undefined;
    if (read !== undefined) reading = read && reading_(read, recorded, true);
    else if (handed) reading = reading_(handed, recorded, false);
    return { name, row: this.#redis.get<SourceRow>(`S/${id}`), reading, isMarked: false };
  }

  #patch(job: Running, id: WorkloadId): void {
    const { plan, workload } = job;
    if (!plan?.hashes || !workload) return;
    if (this.#api.patch(id, workload, { hashes: plan.hashes, roll: plan.roll.length > 0 })) {
      job.step = 'done';
      return;
    }
    job.tries += 1;
    job.step = 'readWorkload';
    if (job.tries < TRIES) return;
    this.#redis.acknowledge(job.key, job.token, true);
    this.job = null;
  }

  #finish(job: Running): void {
    this.#redis.acknowledge(job.key, job.token);
    this.job = null;
  }
}

function reading_(seen: Reading, recorded: string | undefined, afterWorkload: boolean): SourceReading {
  return { rv: seen.rv, hash: seen.hash, isRecorded: recorded === seen.hash, afterWorkload };
}
