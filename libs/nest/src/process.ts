import { hashKey, type HashKeys } from '@reroll/core/record/record-hash';
import type { KubeClientOptions } from '@reroll/kube/client/connection';
import { CatalogError } from '@reroll/redis/connection/errors';
import type { RedisAccess } from '@reroll/redis/connection/redis-access';
import { createLogger, type Logger, type LogSink } from '@reroll/shared/platform/logging/logging';
import { createRegistry } from '@reroll/shared/platform/metrics/registry';
import type { HttpPostSettings } from '@reroll/shared/platform/http/http-post';
import { loadHashKeys } from '@reroll/shared/platform/options/hash-keys';
import type {
  AdminOptions,
  CommonOptions,
  WorkerOptions,
} from '@reroll/shared/platform/options/parsing/table';
import { Lifecycle, type ProcessPort } from '@reroll/shared/platform/process/shutdown';
import { SettingsError } from './settings-error.ts';

const WRONG_SETTINGS = 2;

/** The options of every app, and those of some apps that the shared modules read. */
export type ProcessOptions = Pick<CommonOptions, keyof CommonOptions & keyof AdminOptions> &
  Partial<Pick<WorkerOptions, 'debounce' | 'hashKeyFile' | 'hash'>> &
  Pick<RedisAccess, 'redisSocket'> & {
    /** Where the API of this process is reached, if only the leader's is to answer. */
    readonly leaderAddress?: string;
  };

/** What a process reaches outside of itself. The simulation gives each of its processes its own. */
export interface Outside {
  /** Default: Node.js' process. */
  readonly process?: ProcessPort;
  /** Default: standard error. */
  readonly logSink?: LogSink;
  /** Default: connections to the API server of the kubeconfig. */
  readonly openPool?: KubeClientOptions['openPool'];
  /** Opens the connections to a receiver of alerts or of the webhook. Default: to the URL of the options. */
  readonly openReceiver?: (() => HttpPostSettings['dispatcher']) | undefined;
  /** Whether it serves metrics and health. Default true. */
  readonly isListening?: boolean;
}

/** What all modules of a process share. It exists before them, and even if they cannot be created. */
export class Process {
  /** `watcher`, for example. */
  readonly name: string;
  readonly options: ProcessOptions;
  readonly log: Logger;
  readonly registry = createRegistry();
  readonly lifecycle: Lifecycle;
  readonly outside: Outside;
  #hashKeys: HashKeys | undefined;

  constructor(name: string, options: ProcessOptions, outside: Outside = {}) {
    const { logFormat: format, logLevel: level, shutdownTimeout: timeout } = options;
    this.name = name;
    this.options = options;
    this.outside = outside;
    const { logSink: sink, process } = outside;
    this.log = createLogger({ format, level, ...(sink ? { sink } : {}) });
    this.lifecycle = new Lifecycle({ log: this.log, timeout, ...(process ? { process } : {}) });
  }

  /** The keys of `--hash-key-file`, read once. Throws a `SettingsError`. */
  get hashKeys(): HashKeys {
    const { hashKeyFile, hash } = this.options;
    return (this.#hashKeys ??= readHashKeys(hashKeyFile, hash === 'hmac-sha256'));
  }

  /** Ends the process after a failed start, with exit code 2 if its settings are wrong. */
  async startFailed(error: unknown): Promise<void> {
    const { name, lifecycle } = this;
    // A start that is interrupted by a shutdown has not failed.
    if (lifecycle.signal.aborted) return;
    if (error instanceof CatalogError || error instanceof SettingsError)
      await lifecycle.stop(error.message, WRONG_SETTINGS);
    else await lifecycle.fail(`The ${name} could not start`, error);
  }
}

function readHashKeys(file: string | undefined, isNeeded: boolean): HashKeys {
  const loaded = loadHashKeys(file, isNeeded);
  if (!loaded.ok) throw new SettingsError(loaded.error);
  return loaded.keys.map((key) => hashKey(Buffer.from(key)));
}
