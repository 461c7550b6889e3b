import { compile, type CompiledScript, type Surroundings } from './lua/compile.ts';
import { errorValue, sha1Hex } from './lua/library.ts';
import { formatGeneral } from './lua/numbers.ts';
import { LuaCompileError } from './lua/scope.ts';
import { first, LuaError, LuaTable, typeOf, type LuaValue } from './lua/values.ts';
import { at, integer, type Command } from './commands/command.ts';
import { DATA_COMMANDS } from './commands/all-commands.ts';
import { BLOCKING_COMMANDS } from './commands/blocking.ts';
import { NO_ARRAY, RedisError, Status, type Reply } from './replies.ts';
import { IN_SCRIPTS } from './server-commands.ts';
import { OUT_OF_MEMORY, READ_ONLY, type ServerState } from './state.ts';

interface Script {
  readonly text: string;
  readonly sha: string;
  readonly run: CompiledScript;
}

/** For all servers, by the lengths of their texts: to compare two texts is much faster than to hash one. */
const known = new Map<number, Script[]>();

function scriptOf(text: string): Script {
  const ofLength = known.get(text.length) ?? [];
  let script = ofLength.find((each) => each.text === text);
  if (!script) {
    script = { text, sha: sha1Hex(text), run: compile(text) };
    known.set(text.length, [...ofLength, script]);
  }
  return script;
}

/** Runs the scripts of a server. */
export class Scripts {
  readonly #state: ServerState;
  readonly #surroundings: Surroundings;
  /** Whether the script that runs has written: then it is not refused any more. */
  #hasWritten = false;

  constructor(state: ServerState) {
    this.#state = state;
    this.#surroundings = {
      redis: {
        call: (...args) => this.#call(args, true),
        pcall: (...args) => this.#call(args, false),
        error_reply: (text) => new LuaTable().with('err', String(text).replace(/^-/u, '')),
        status_reply: (text) => new LuaTable().with('ok', text),
        sha1hex: (text) => sha1Hex(String(text)),
        log: () => undefined,
        LOG_DEBUG: 0,
        LOG_VERBOSE: 1,
        LOG_NOTICE: 2,
        LOG_WARNING: 3,
      },
      os: {
        time: () => Math.floor(state.db.now / 1000),
        clock: () => state.db.now / 1000,
      },
    };
  }

  /** Keeps the script and returns its SHA-1. */
  load(text: string): string {
    return this.#keep(text).sha;
  }

  eval(args: readonly string[]): Reply {
    return this.#run(this.#keep(at(args, 1)), args);
  }

  evalSha(args: readonly string[]): Reply {
    const sha = at(args, 1).toLowerCase();
    const text = this.#state.scripts.get(sha);
    if (text === undefined) throw new RedisError('NOSCRIPT No matching script. Please use EVAL.');
    return this.#run(scriptOf(text), args);
  }

  #keep(text: string): Script {
    try {
      const script = scriptOf(text);
      this.#state.scripts.set(script.sha, script.text);
      return script;
    } catch (error) {
      if (!(error instanceof LuaCompileError)) throw error;
      this.#state.unsupported.add(error.message);
      throw new RedisError(`ERR Error compiling script (new function): ${error.message}`);
    }
  }

  #run({ sha, run }: Script, args: readonly string[]): Reply {
    const count = integer(at(args, 2));
    if (count < 0) throw new RedisError("ERR Number of keys can't be negative");
    if (count > args.length - 3)
      throw new RedisError("ERR Number of keys can't be greater than number of args");
    this.#hasWritten = false;
    const keys = new LuaTable(args.slice(3, 3 + count));
    const argv = new LuaTable(args.slice(3 + count));
    try {
      return replyOf(first(run(this.#surroundings, keys, argv)));
    } catch (error) {
      if (error instanceof RedisError) throw error;
      throw scriptError(errorValue(error), sha);
    }
  }

  #call(args: readonly LuaValue[], throws: boolean): LuaValue {
    try {
      return luaOf(this.#execute(args.map(argumentText)));
    } catch (error) {
      if (!(error instanceof RedisError)) throw error;
      const value = new LuaTable().with('err', error.message);
      if (throws) throw new LuaError(value);
      return value;
    }
  }

  #execute(args: readonly string[]): Reply {
    const [given] = args;
    if (given === undefined)
      throw new RedisError('ERR Please specify at least one argument for this redis lib call');
    const command = this.#commandOf(given.toUpperCase());
    if (command.arity < 0 ? args.length < -command.arity : args.length !== command.arity)
      throw new RedisError('ERR Wrong number of args calling Redis command from script');
    if (command.kind !== 'read' && !this.#hasWritten) {
      if (this.#state.isReadOnly) throw new RedisError(READ_ONLY);
      if (this.#state.isFull && command.kind === 'grow') throw new RedisError(OUT_OF_MEMORY);
      this.#hasWritten = true;
    }
    return command.run(this.#state.db, args);
  }

  #commandOf(name: string): Command {
    const command = DATA_COMMANDS[name] ?? IN_SCRIPTS[name]?.(this.#state);
    if (command) return command;
    const blocking = BLOCKING_COMMANDS[name];
    if (!blocking) {
      this.#state.unsupported.add(`${name} in a script`);
      throw new RedisError('ERR Unknown Redis command called from script');
    }
    const { arity, kind, prepare } = blocking;
    return {
      arity,
      kind,
      run: (db, args) => {
        const { attempt, nothing } = prepare(db, args);
        return attempt() ?? nothing;
      },
    };
  }
}

function argumentText(value: LuaValue): string {
  if (typeof value === 'string') return value;
  if (typeof value !== 'number')
    throw new RedisError('ERR Lua redis lib command arguments must be strings or integers');
  return Number.isSafeInteger(value) ? String(value) : formatGeneral(value, 17);
}

/** A reply as a script gets it. */
function luaOf(reply: Reply): LuaValue {
  if (typeof reply === 'string' || typeof reply === 'number') return reply;
  if (reply === null || reply === NO_ARRAY) return false;
  if (reply instanceof Status) return new LuaTable().with('ok', reply.text);
  if (reply instanceof RedisError) return new LuaTable().with('err', reply.message);
  return new LuaTable(reply.map(luaOf));
}

/** What a script returns as a reply. */
function replyOf(value: LuaValue): Reply {
  if (typeof value === 'string') return value;
  if (typeof value === 'number') return Number.isFinite(value) ? Math.trunc(value) : 0;
  if (value === true) return 1;
  if (!(value instanceof LuaTable)) return null;
  const error = value.get('err');
  if (typeof error === 'string') return new RedisError(error);
  const status = value.get('ok');
  if (typeof status === 'string') return new Status(status);
  const end = value.items.indexOf(undefined);
  return (end < 0 ? value.items : value.items.slice(0, end)).map(replyOf);
}

/** The line is not known here. */
function scriptError(value: LuaValue, sha: string): RedisError {
  const raised = value instanceof LuaTable ? value.get('err') : value;
  const text = typeof raised === 'string' ? raised : `(error object is a ${typeOf(raised)} value)`;
  const message = value instanceof LuaTable ? text : `ERR ${text}`;
  return new RedisError(`${message} script: ${sha}, on @user_script:0.`);
}
