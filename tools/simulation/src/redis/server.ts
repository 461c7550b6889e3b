import type { Owner, Scheduler } from '../scheduler.ts';
import { connectorTo, type ConnectorClass } from './connector.ts';
import { RedisError, type Reply } from './replies.ts';
import { Scripts } from './scripts.ts';
import { connectionRefused, ServerConnection, type Args, type Delivery } from './server-connection.ts';
import { serverCommands, type ServerCommand } from './server-commands.ts';
import { Session } from './session.ts';
import { SimulatedSocket } from './simulated-socket.ts';
import { ServerState } from './state.ts';
import type { Snapshot } from './store/database.ts';
import type { Value } from './store/values.ts';

export interface SimulatedRedisOptions {
  readonly scheduler: Scheduler;
  /**
   * Asked what is to happen to the commands that a connection sends together, and, with no commands, to a new connection, which is
   * refused if its fate is not `ok`. Default: all arrive at once.
   */
  readonly onRequest?: (owner: Owner, commands: readonly Args[]) => Delivery;
  /** Called for each command that is carried out, with its arguments. One character is a byte. */
  readonly onCommand?: (owner: Owner, args: Args) => void;
}

const AT_ONCE: Delivery = { before: 0, after: 0, fate: 'ok' };

/** A command that waits for data. */
interface Blocked {
  readonly connection: ServerConnection;
  readonly attempt: () => Reply;
  readonly cancelTimeout: () => void;
}

/** A Redis in memory. It answers what a Redis 7 answers, with RESP2. */
export class SimulatedRedis {
  readonly #options: SimulatedRedisOptions;
  readonly #state = new ServerState();
  readonly #scripts = new Scripts(this.#state);
  readonly #commands: Readonly<Record<string, ServerCommand>>;
  readonly #connections = new Set<ServerConnection>();
  /** In the order in which they began to wait. */
  #blocked: Blocked[] = [];
  #nextId = 1;
  #isDown = false;

  constructor(options: SimulatedRedisOptions) {
    this.#options = options;
    this.#commands = serverCommands((text) => this.#scripts.load(text));
  }

  /** Faults that are states: `isFull`, `isReadOnly`, `isLoading`, `maxMemory`, `usedMemory`; and what was asked and is not known. */
  get state(): Omit<ServerState, 'db' | 'scripts'> {
    return this.#state;
  }

  /** While it is down, connections are cut and refused. */
  get isDown(): boolean {
    return this.#isDown;
  }

  set isDown(isDown: boolean) {
    this.#isDown = isDown;
    if (isDown) this.cutConnections();
  }

  /** Cuts the connections of an owner, or all. */
  cutConnections(owner?: Owner): void {
    for (const connection of this.#connections)
      if (owner === undefined || connection.owner === owner) connection.cut();
  }

  /** The data as it is now. */
  snapshot(): Snapshot {
    this.#state.db.now = Math.floor(this.#options.scheduler.now());
    return this.#state.db.snapshot();
  }

  /** Sets the data back. Scripts are forgotten, as by a restart or a failover; connections stay. */
  restore(snapshot: Snapshot): void {
    this.#state.db.restore(snapshot);
    this.#state.scripts.clear();
    this.#wake();
  }

  /** Removes all keys. */
  flush(): void {
    this.#state.db.clear();
  }

  /** How many keys there are, and elements in them. */
  usedEntries(): number {
    this.#state.db.now = Math.floor(this.#options.scheduler.now());
    return this.#state.db.entries;
  }

  /** The keys that there are, with their values. */
  each(): Iterable<readonly [string, Value]> {
    this.#state.db.now = Math.floor(this.#options.scheduler.now());
    return this.#state.db.each();
  }

  /** All keys, fields, members and values, one character a byte. */
  texts(): Iterable<string> {
    return this.#state.db.texts();
  }

  /** Carries out a command at once and beside all connections; for the world. Throws a `RedisError`. */
  call(...args: readonly string[]): Reply {
    const session = new Session(0, this.#sessionContext());
    const reply = session.run(args, this.#options.scheduler.now());
    if (reply instanceof RedisError) throw reply;
    this.#wake();
    return isWaiting(reply) ? reply.wait.nothing : reply;
  }

  /** The class for the option `Connector` of ioredis: it connects a process to this server. */
  connectorFor(owner: Owner): ConnectorClass {
    return connectorTo(() => this.#connect(owner));
  }

  #connect(owner: Owner): SimulatedSocket {
    const { scheduler } = this.#options;
    const socket = new SimulatedSocket(scheduler, owner);
    const { before, after, fate } = this.#deliveryOf(owner, []);
    scheduler.after(before + after, owner, () => {
      if (this.#isDown || fate !== 'ok') socket.fail(connectionRefused());
      else socket.open(this.#accept(socket, owner));
    });
    return socket;
  }

  #accept(socket: SimulatedSocket, owner: Owner): ServerConnection {
    const connection = new ServerConnection(socket, {
      scheduler: this.#options.scheduler,
      owner,
      session: new Session(this.#nextId, this.#sessionContext()),
      deliveryOf: (commands) => this.#deliveryOf(owner, commands),
      run: (args, self) => this.#run(args, self),
      onClosed: (self) => this.#forget(self),
    });
    this.#nextId++;
    this.#connections.add(connection);
    return connection;
  }

  #sessionContext() {
    return { state: this.#state, scripts: this.#scripts, commands: this.#commands };
  }

  #deliveryOf(owner: Owner, commands: readonly Args[]): Delivery {
    return this.#options.onRequest?.(owner, commands) ?? AT_ONCE;
  }

  #run(args: Args, connection: ServerConnection): Reply | undefined {
    const { scheduler, onCommand } = this.#options;
    onCommand?.(connection.owner, args);
    const reply = connection.session.run(args, scheduler.now());
    if (isWaiting(reply)) {
      this.#block(connection, reply.wait);
      return undefined;
    }
    if (this.#blocked.length > 0) this.#wake();
    return reply;
  }

  #block(
    connection: ServerConnection,
    { attempt, timeout = 0, nothing }: { attempt: () => Reply; timeout: number | undefined; nothing: Reply },
  ): void {
    const end = (): void => {
      this.#unblock(connection);
      connection.answer(nothing);
    };
    const cancelTimeout =
      timeout > 0 ? this.#options.scheduler.after(timeout, undefined, end) : () => undefined;
    this.#blocked.push({ connection, attempt, cancelTimeout });
  }

  /** Answers those that wait, the first first, for which there is something now. */
  #wake(): void {
    // Answering may make others wait, or wait no more.
    const all = this.#blocked.slice();
    for (const blocked of all) {
      const { connection, attempt } = blocked;
      if (!connection.isOpen) this.#forget(connection);
      else if (this.#blocked.includes(blocked)) this.#tryToAnswer(connection, attempt);
    }
  }

  #tryToAnswer(connection: ServerConnection, attempt: () => Reply): void {
    const reply = attemptSafely(attempt);
    if (reply === null) return;
    this.#unblock(connection);
    connection.answer(reply);
  }

  #unblock(connection: ServerConnection): void {
    for (const blocked of this.#blocked) if (blocked.connection === connection) blocked.cancelTimeout();
    this.#blocked = this.#blocked.filter((blocked) => blocked.connection !== connection);
  }

  #forget(connection: ServerConnection): void {
    this.#unblock(connection);
    this.#connections.delete(connection);
  }
}

function isWaiting(reply: ReturnType<Session['run']>): reply is Exclude<typeof reply, Reply> {
  return typeof reply === 'object' && reply !== null && 'wait' in reply;
}

/** A key that now has another type is waited for. */
function attemptSafely(attempt: () => Reply): Reply {
  try {
    return attempt();
  } catch (error) {
    if (error instanceof RedisError) return null;
    throw error;
  }
}
