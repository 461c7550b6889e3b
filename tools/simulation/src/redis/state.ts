import { Database } from './store/database.ts';

/** What the simulated server is told to be like, and its data. */
export class ServerState {
  readonly db = new Database();
  /** The texts of scripts by their SHA-1. */
  readonly scripts = new Map<string, string>();
  /** Memory is used up, with the policy `noeviction`: writes that may need more are refused. */
  isFull = false;
  /** It is a replica: writes are refused. */
  isReadOnly = false;
  /** It reads its data from disk: nearly all commands are refused. */
  isLoading = false;
  /** `maxmemory` in bytes; 0: no limit, and `INFO` tells nothing about its use. */
  maxMemory = 0;
  /** What `INFO` tells as used while it is not full. */
  usedMemory = 0;
  /** Commands and scripts that it was asked for and does not know; it answered them with Redis' errors. */
  readonly unsupported = new Set<string>();
}

export const OUT_OF_MEMORY = "OOM command not allowed when used memory > 'maxmemory'.";
export const READ_ONLY = "READONLY You can't write against a read only replica.";
export const LOADING = 'LOADING Redis is loading the dataset in memory';

/** The version that it says to be. */
export const VERSION = '7.0.15';
