import { at, globMatcher, read, type Command } from './commands/command.ts';
import { OK, RedisError, Status, type Reply } from './replies.ts';
import { VERSION, type ServerState } from './state.ts';

/** What a connection is to the server. */
export interface Client {
  readonly id: number;
  name: string;
}

type ServerRun = (args: readonly string[], state: ServerState, client: Client) => Reply;

export interface ServerCommand extends Pick<Command, 'arity'> {
  readonly run: ServerRun;
}

const POLICY = 'noeviction';

function info(state: ServerState): string {
  const used = state.isFull ? Math.max(state.maxMemory, 1) : state.usedMemory;
  return [
    '# Server',
    `redis_version:${VERSION}`,
    'redis_mode:standalone',
    '# Memory',
    `used_memory:${used}`,
    `maxmemory:${state.maxMemory}`,
    `maxmemory_policy:${POLICY}`,
    'mem_not_counted_for_evict:0',
    '# Persistence',
    `loading:${Number(state.isLoading)}`,
    '# Replication',
    `role:${state.isReadOnly ? 'slave' : 'master'}`,
    '',
  ].join('\r\n');
}

function config(args: readonly string[]): Reply {
  if (at(args, 1).toUpperCase() !== 'GET') return OK;
  const isMatch = globMatcher(at(args, 2));
  return isMatch('maxmemory-policy') ? ['maxmemory-policy', POLICY] : [];
}

const client: ServerRun = (args, _, self) => {
  switch (at(args, 1).toUpperCase()) {
    case 'SETNAME':
      self.name = at(args, 2);
      return OK;
    case 'GETNAME':
      return self.name === '' ? null : self.name;
    case 'ID':
      return self.id;
    case 'LIST':
    case 'INFO':
      return `id=${self.id} addr=127.0.0.1:${10_000 + self.id} name=${self.name}\n`;
    default:
      return OK;
  }
};

function script(args: readonly string[], state: ServerState, load: (text: string) => string): Reply {
  switch (at(args, 1).toUpperCase()) {
    case 'LOAD':
      return load(at(args, 2));
    case 'EXISTS':
      return args.slice(2).map((sha) => Number(state.scripts.has(sha.toLowerCase())));
    case 'FLUSH':
      state.scripts.clear();
      return OK;
    default:
      throw new RedisError(`ERR unknown subcommand '${at(args, 1)}'. Try SCRIPT HELP.`);
  }
}

/** The commands about the server and the connection. `load` keeps a script and returns its SHA-1. */
export function serverCommands(load: (text: string) => string): Readonly<Record<string, ServerCommand>> {
  const ok = (arity: number): ServerCommand => ({ arity, run: () => OK });
  return {
    PING: { arity: -1, run: (args) => args[1] ?? new Status('PONG') },
    ECHO: { arity: 2, run: (args) => at(args, 1) },
    TIME: { arity: 1, run: (_, { db }) => timeReply(db.now) },
    INFO: { arity: -1, run: (_, state) => info(state) },
    CONFIG: { arity: -2, run: config },
    CLIENT: { arity: -2, run: client },
    SCRIPT: { arity: -2, run: (args, state) => script(args, state, load) },
    WAIT: { arity: 3, run: () => 0 },
    AUTH: ok(-2),
    QUIT: ok(-1),
    SELECT: {
      arity: 2,
      run: (args) => {
        if (args[1] !== '0') throw new RedisError('ERR DB index is out of range');
        return OK;
      },
    },
    // ioredis then speaks RESP2, as with servers before Redis 6.
    HELLO: {
      arity: -1,
      run: () => {
        throw new RedisError('NOPROTO unsupported protocol version');
      },
    },
  };
}

function timeReply(now: number): Reply {
  return [String(Math.floor(now / 1000)), String((now % 1000) * 1000)];
}

/** Those that scripts may call. */
export const IN_SCRIPTS: Readonly<Record<string, (state: ServerState) => Command>> = {
  TIME: ({ db }) => read(1, () => timeReply(db.now)),
  INFO: (state) => read(-1, () => info(state)),
  PING: () => read(-1, () => new Status('PONG')),
};
