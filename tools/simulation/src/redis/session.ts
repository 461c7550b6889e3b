import { BLOCKING_COMMANDS, type Wait } from './commands/blocking.ts';
import { DATA_COMMANDS } from './commands/all-commands.ts';
import { at } from './commands/command.ts';
import { NO_ARRAY, OK, QUEUED, RedisError, type Reply } from './replies.ts';
import type { Scripts } from './scripts.ts';
import type { Client, ServerCommand } from './server-commands.ts';
import { LOADING, OUT_OF_MEMORY, READ_ONLY, type ServerState } from './state.ts';

export interface SessionContext {
  readonly state: ServerState;
  readonly scripts: Scripts;
  readonly commands: Readonly<Record<string, ServerCommand>>;
}

/** A command that waits: it is answered later. */
export interface Waiting {
  readonly wait: Wait;
}

/** What the server needs to know of a command before it runs. */
interface Known {
  readonly arity: number;
  readonly kind: 'read' | 'write' | 'grow';
}

const TRANSACTION: Readonly<Record<string, Known>> = {
  MULTI: { arity: 1, kind: 'read' },
  EXEC: { arity: 1, kind: 'read' },
  DISCARD: { arity: 1, kind: 'read' },
  UNWATCH: { arity: 1, kind: 'read' },
};
const SCRIPT: Known = { arity: -3, kind: 'read' };
const SCRIPTS: ReadonlySet<string> = new Set(['EVAL', 'EVALSHA']);
const WHILE_LOADING: ReadonlySet<string> = new Set(['INFO', 'HELLO', 'AUTH', 'CLIENT', 'SELECT', 'QUIT']);

/** The state of one connection: its transaction, and what its commands do. */
export class Session implements Client {
  readonly id: number;
  name = '';
  readonly #context: SessionContext;
  #queued: (readonly string[])[] | undefined;
  #isRefused = false;

  constructor(id: number, context: SessionContext) {
    this.id = id;
    this.#context = context;
  }

  /** Runs a command at a time. Errors are replies too. */
  run(args: readonly string[], now: number): Reply | Waiting {
    this.#context.state.db.now = Math.floor(now);
    const name = at(args, 0).toUpperCase();
    try {
      this.#check(name, args);
      return this.#runKnown(name, args);
    } catch (error) {
      if (!(error instanceof RedisError)) throw error;
      return error;
    }
  }

  #runKnown(name: string, args: readonly string[]): Reply | Waiting {
    if (name in TRANSACTION) return this.#transaction(name);
    if (this.#queued) {
      this.#queued.push(args);
      return QUEUED;
    }
    const waiting = BLOCKING_COMMANDS[name];
    if (!waiting) return this.#execute(name, args);
    const wait = waiting.prepare(this.#context.state.db, args);
    return wait.attempt() ?? (wait.timeout === undefined ? wait.nothing : { wait });
  }

  /** Throws what Redis refuses a command for before it runs. */
  #check(name: string, args: readonly string[]): void {
    try {
      const known = this.#find(name, args);
      if (known.arity < 0 ? args.length < -known.arity : args.length !== known.arity)
        throw new RedisError(`ERR wrong number of arguments for '${name.toLowerCase()}' command`);
      this.#admit(name, known);
    } catch (error) {
      this.#isRefused ||= this.#queued !== undefined;
      throw error;
    }
  }

  #find(name: string, args: readonly string[]): Known {
    const known = DATA_COMMANDS[name] ?? BLOCKING_COMMANDS[name] ?? TRANSACTION[name];
    if (known) return known;
    if (SCRIPTS.has(name)) return SCRIPT;
    const command = this.#context.commands[name];
    if (command) return { arity: command.arity, kind: 'read' };
    this.#context.state.unsupported.add(name);
    const beginning = args.slice(1, 4).map((arg) => `'${arg}' `);
    throw new RedisError(
      `ERR unknown command '${at(args, 0)}', with args beginning with: ${beginning.join('')}`,
    );
  }

  #admit(name: string, { kind }: Known): void {
    const { isLoading, isFull, isReadOnly } = this.#context.state;
    if (isLoading && !WHILE_LOADING.has(name)) throw new RedisError(LOADING);
    // Whatever is queued takes memory too.
    const isQueued = this.#queued !== undefined && !(name in TRANSACTION);
    if (isFull && (kind === 'grow' || isQueued)) throw new RedisError(OUT_OF_MEMORY);
    if (isReadOnly && kind !== 'read') throw new RedisError(READ_ONLY);
  }

  #transaction(name: string): Reply {
    if (name === 'UNWATCH') return OK;
    if (name === 'MULTI') {
      if (this.#queued) throw new RedisError('ERR MULTI calls can not be nested');
      this.#queued = [];
      return OK;
    }
    const queued = this.#queued;
    if (!queued) throw new RedisError(`ERR ${name} without MULTI`);
    const isRefused = this.#isRefused;
    this.#queued = undefined;
    this.#isRefused = false;
    if (name === 'DISCARD') return OK;
    if (isRefused) throw new RedisError('EXECABORT Transaction discarded because of previous errors.');
    return this.#executeAll(queued);
  }

  #executeAll(queued: readonly (readonly string[])[]): Reply {
    const { isFull } = this.#context.state;
    if (isFull && queued.some((args) => DATA_COMMANDS[at(args, 0).toUpperCase()]?.kind === 'grow'))
      throw new RedisError(`EXECABORT Transaction discarded because of: ${OUT_OF_MEMORY}`);
    return queued.map((args) => {
      try {
        return this.#execute(at(args, 0).toUpperCase(), args);
      } catch (error) {
        if (!(error instanceof RedisError)) throw error;
        return error;
      }
    });
  }

  #execute(name: string, args: readonly string[]): Reply {
    const { state, scripts, commands } = this.#context;
    const command = DATA_COMMANDS[name];
    if (command) return command.run(state.db, args);
    if (name === 'EVAL') return scripts.eval(args);
    if (name === 'EVALSHA') return scripts.evalSha(args);
    const waiting = BLOCKING_COMMANDS[name];
    if (waiting) {
      const { attempt, nothing } = waiting.prepare(state.db, args);
      return attempt() ?? nothing;
    }
    return commands[name]?.run(args, state, this) ?? NO_ARRAY;
  }
}
