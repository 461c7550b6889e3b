import { hashKey, type HashKeys } from '@reroll/core/record/record-hash';
import { createLogger, type Logger } from '@reroll/shared/platform/logging/logging';
import { createRegistry } from '@reroll/shared/platform/metrics/registry';
import { loadHashKeys } from '@reroll/shared/platform/options/hash-keys';
import type {
  AdminOptions,
  CommonOptions,
  WorkerOptions,
} from '@reroll/shared/platform/options/parsing/table';
import { Lifecycle } from '@reroll/shared/platform/process/shutdown';
import { SettingsError } from './settings-error.ts';

/** The options that every app has, and those of some apps that the shared modules read. */
export type ProcessOptions = Pick<CommonOptions, keyof CommonOptions & keyof AdminOptions> &
  Partial<Pick<WorkerOptions, 'debounce' | 'hashKeyFile' | 'hash'>>;

/** What all modules of a process share. It exists before they do, and remains if they cannot be created. */
export class Process {
  /** `watcher`, for example. */
  readonly name: string;
  readonly options: ProcessOptions;
  readonly log: Logger;
  readonly registry = createRegistry();
  readonly lifecycle: Lifecycle;
  #hashKeys: HashKeys | undefined;

  constructor(name: string, options: ProcessOptions) {
    const { logFormat: format, logLevel: level, shutdownTimeout: timeout } = options;
    this.name = name;
    this.options = options;
    this.log = createLogger({ format, level });
    this.lifecycle = new Lifecycle({ log: this.log, timeout });
  }

  /** Those of `--hash-key-file`, read once. Throws a `SettingsError`. */
  get hashKeys(): HashKeys {
    const { hashKeyFile, hash } = this.options;
    return (this.#hashKeys ??= readHashKeys(hashKeyFile, hash === 'hmac-sha256'));
  }
}

function readHashKeys(file: string | undefined, isNeeded: boolean): HashKeys {
  const loaded = loadHashKeys(file, isNeeded);
  if (!loaded.ok) throw new SettingsError(loaded.error);
  return loaded.keys.map((key) => hashKey(Buffer.from(key)));
}
