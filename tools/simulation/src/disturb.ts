/** What goes wrong in a run, by the steps of its plan. Times are in virtual milliseconds. */
import type { SimulatedApi } from './api/simulated-api.ts';
import { typeOfKind } from './api/resource-types.ts';
import type { Faults, Trouble } from './faults.ts';
import type { Places } from './places.ts';
import type { Step } from './plan.ts';
import type { SimulatedRedis } from './redis/server.ts';
import { Backups } from './backups.ts';
import type { Controllers } from './api/controllers.ts';
import type { Events } from './scheduler.ts';
import { SERVERS, StaleServers } from './stale-servers.ts';
import { Strippers } from './strippers.ts';
import { rescope } from './world/rescoped.ts';
import type { Truth } from './world/truth.ts';

export type Disturbance = Exclude<
  Step,
  { source: unknown } | { workload: unknown } | { do: 'labelNamespace' | 'holdNamespace' }
>;
type Of<Name extends Disturbance['do']> = Disturbance & { readonly do: Name };

export interface DisturberBy {
  readonly events: Events;
  readonly api: SimulatedApi;
  readonly redis: SimulatedRedis;
  readonly places: Places;
  readonly faults: Faults;
  readonly controllers: Controllers;
  readonly truth: Truth;
  readonly log: (line: string) => void;
  /** The hash keys of what starts from now on are others. */
  readonly turnKeysOver: () => void;
  /** What is not recorded on a workload is in doubt from now on. */
  readonly inDoubt: () => void;
  /** Redis has lost what it had. */
  readonly redisLost: () => void;
  readonly etcdRestored: () => void;
}

export class Disturber {
  readonly stale: StaleServers;
  readonly backups: Backups;
  readonly #by: DisturberBy;
  readonly #strippers: Strippers;
  readonly #handlers: { readonly [Name in Disturbance['do']]: (step: Of<Name>) => void };
  /** As a backup, or a replica that is behind. */
  #snapshot: ReturnType<SimulatedRedis['snapshot']> | undefined;

  constructor(by: DisturberBy) {
    this.#by = by;
    this.stale = new StaleServers(by);
    this.backups = new Backups({ ...by, isApiQuietSince: (time) => this.isApiQuietSince(time) });
    this.#strippers = new Strippers({ ...by, count: (what) => by.faults.count(what) });
    const { redis, faults, places } = by;
    const trouble = (step: { do: Trouble; for: number }): void => faults.begin(step.do, step.for);
    this.#handlers = {
      kill: (step) => this.#process(step),
      stop: (step) => this.#process(step),
      freeze: (step) => this.#process(step),
      moveApi: ({ which, server }) => places.move(which, server),
      lagApi: (step) => this.stale.lag(step),
      cutOffApi: (step) => this.stale.cutOff(step),
      upgradeApi: (step) => this.#upgradeApi(step),
      turnKeysOver: ({ pace }) => {
        by.turnKeysOver();
        places.restartAll(pace);
      },
      rescope: ({ pace }) => rescope(by, pace),
      backUpEtcd: () => this.backups.take(),
      restoreEtcd: ({ bump }) => this.backups.restore(bump),
      strip: (step) => this.#strippers.begin(step),
      cutWatches: () => this.#onEachServer((server) => server.cutWatches('reset')),
      refuseKind: ({ kind, for: time }) => {
        const type = typeOfKind(kind);
        faults.refuse(type, time);
        this.#onEachServer((server) => server.expire(type));
      },
      cutRedis: () => redis.cutConnections(),
      slowApi: trouble,
      faultyApi: trouble,
      slowRedis: trouble,
      faultyRedis: trouble,
      faultyReceiver: trouble,
      apiDown: (step) => this.#apiDown(step),
      redisDown: (step) => this.#forAWhile(step, (isOn) => (redis.isDown = isOn)),
      redisFull: (step) => this.#forAWhile(step, (isOn) => (redis.state.isFull = isOn)),
      compact: () => this.#compact(),
      flushRedis: () => this.#setBack(() => redis.flush()),
      failOverRedis: (step) => this.#failOverRedis(step),
      setRedisBack: () => this.#setBack(() => this.#snapshot && redis.restore(this.#snapshot)),
      clockJump: (step) => this.#clockJump(step),
    };
  }

  disturb(step: Disturbance): void {
    this.#by.faults.count(step.do);
    const handler = this.#handlers[step.do] as (given: Disturbance) => void;
    handler(step);
  }

  /** Whether every request to an API server that changes something was answered in time since then. */
  isApiQuietSince(time: number): boolean {
    return this.#by.faults.isApiQuietSince(time) && !this.stale.wasBehindSince(time);
  }

  /** Everything works from now on. */
  heal(): void {
    const { redis, places, faults } = this.#by;
    faults.end();
    this.stale.heal();
    this.#strippers.end();
    redis.isDown = false;
    redis.state.isFull = false;
    this.#startServers();
    places.heal();
  }

  #process(step: Of<'kill' | 'stop' | 'freeze'>): void {
    const { events, places } = this.#by;
    const process = step.whom === 'leader' ? places.leader() : places.process(step.whom, step.which);
    if (process?.isAlive !== true) return;
    if (step.do !== 'freeze') return places[step.do](process, step.for);
    if (process.frozenUntil <= events.now()) process.frozenSince = events.now();
    process.frozenUntil = events.now() + step.for;
  }

  #upgradeApi({ server: name }: Of<'upgradeApi'>): void {
    const { api, truth } = this.#by;
    const server = api.server(name);
    server.isUpgraded = true;
    server.cutWatches('reset');
    truth.upgraded(SERVERS.some((each) => !api.server(each).isUpgraded));
  }

  #forAWhile(step: { for: number }, set: (isOn: boolean) => void): void {
    set(true);
    this.#by.events.after(step.for, undefined, () => set(false));
  }

  /** Nobody watches, and after it everybody lists again. */
  #apiDown(step: Of<'apiDown'>): void {
    const { faults, inDoubt } = this.#by;
    faults.troubleApi(step.for);
    this.#forAWhile(step, (isOn) => {
      if (isOn) this.#onEachServer((server) => server.stop());
      else this.#startServers();
      inDoubt();
    });
  }

  #startServers(): void {
    this.#onEachServer((server) => {
      if (server.isDown) server.start();
    });
  }

  #onEachServer(act: (server: SimulatedApi['servers'][number]) => void): void {
    for (const server of this.#by.api.servers) act(server);
  }

  /** Who lists in pages, or watches from earlier, is told 410. */
  #compact(): void {
    const { api, inDoubt } = this.#by;
    inDoubt();
    api.compact(api.etcd.revision);
    this.#onEachServer((server) => server.restart());
  }

  /** A replica takes over that has not got the last writes. */
  #failOverRedis({ behind }: Of<'failOverRedis'>): void {
    const { events, redis, inDoubt, redisLost } = this.#by;
    const replica = redis.snapshot();
    events.after(behind, undefined, () => {
      inDoubt();
      redisLost();
      redis.restore(replica);
      redis.cutConnections();
    });
  }

  #setBack(change: () => void): void {
    this.#by.inDoubt();
    this.#by.redisLost();
    change();
    this.#snapshot = this.#by.redis.snapshot();
  }

  #clockJump({ which, by }: Of<'clockJump'>): void {
    const process = this.#by.places.processes[which];
    if (process) process.clockSkew += by;
  }
}
