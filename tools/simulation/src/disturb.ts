/** What goes wrong in a run, by the steps of its plan. Times are in virtual milliseconds. */
import type { SimulatedApi } from './api/simulated-api.ts';
import type { Faults, Trouble } from './faults.ts';
import type { Places } from './places.ts';
import type { Step } from './plan.ts';
import type { SimulatedRedis } from './redis/server.ts';
import type { Events } from './scheduler.ts';

export type Disturbance = Exclude<Step, { source: unknown } | { workload: unknown }>;
type Of<Name extends Disturbance['do']> = Disturbance & { readonly do: Name };

export interface DisturberBy {
  readonly events: Events;
  readonly api: SimulatedApi;
  readonly redis: SimulatedRedis;
  readonly places: Places;
  readonly faults: Faults;
  /** What is not recorded on a workload is in doubt from now on. */
  readonly inDoubt: () => void;
}

export class Disturber {
  readonly #by: DisturberBy;
  readonly #handlers: { readonly [Name in Disturbance['do']]: (step: Of<Name>) => void };
  /** As a backup, or a replica that is behind. */
  #snapshot: ReturnType<SimulatedRedis['snapshot']> | undefined;

  constructor(by: DisturberBy) {
    this.#by = by;
    const { api, redis, faults } = by;
    const trouble = (step: { do: Trouble; for: number }): void => faults.begin(step.do, step.for);
    this.#handlers = {
      kill: (step) => this.#process(step),
      stop: (step) => this.#process(step),
      freeze: (step) => this.#process(step),
      cutWatches: () => api.server().cutWatches('reset'),
      cutRedis: () => redis.cutConnections(),
      slowApi: trouble,
      faultyApi: trouble,
      slowRedis: trouble,
      faultyRedis: trouble,
      apiDown: (step) => this.#apiDown(step),
      redisDown: (step) => this.#forAWhile(step, (isOn) => (redis.isDown = isOn)),
      redisFull: (step) => this.#forAWhile(step, (isOn) => (redis.state.isFull = isOn)),
      compact: () => this.#compact(),
      flushRedis: () => this.#setBack(() => redis.flush()),
      setRedisBack: () => this.#setBack(() => this.#snapshot && redis.restore(this.#snapshot)),
      clockJump: (step) => this.#clockJump(step),
    };
  }

  disturb(step: Disturbance): void {
    const { seen } = this.#by.faults;
    seen.set(step.do, (seen.get(step.do) ?? 0) + 1);
    const handler = this.#handlers[step.do] as (given: Disturbance) => void;
    handler(step);
  }

  /** Everything works from now on. */
  heal(): void {
    const { api, redis, places, faults } = this.#by;
    faults.end();
    redis.isDown = false;
    redis.state.isFull = false;
    if (api.server().isDown) api.server().start();
    places.heal();
  }

  #process(step: Of<'kill' | 'stop' | 'freeze'>): void {
    const { events, places } = this.#by;
    const process = step.whom === 'leader' ? places.leader() : places.process(step.whom, step.which);
    if (process?.isAlive !== true) return;
    if (step.do === 'freeze') process.frozenUntil = events.now() + step.for;
    else places[step.do](process, step.for);
  }

  #forAWhile(step: { for: number }, set: (isOn: boolean) => void): void {
    set(true);
    this.#by.events.after(step.for, undefined, () => set(false));
  }

  /** Nobody watches, and after it everybody lists again. */
  #apiDown(step: Of<'apiDown'>): void {
    const { api, inDoubt } = this.#by;
    this.#forAWhile(step, (isOn) => {
      if (isOn) api.server().stop();
      else if (api.server().isDown) api.server().start();
      inDoubt();
    });
  }

  /** Who lists in pages, or watches from earlier, is told 410. */
  #compact(): void {
    const { api, inDoubt } = this.#by;
    inDoubt();
    api.compact(api.etcd.revision);
    api.server().restart();
  }

  #setBack(change: () => void): void {
    this.#by.inDoubt();
    change();
    this.#snapshot = this.#by.redis.snapshot();
  }

  #clockJump({ which, by }: Of<'clockJump'>): void {
    const process = this.#by.places.processes[which];
    if (process) process.clockSkew += by;
  }
}
