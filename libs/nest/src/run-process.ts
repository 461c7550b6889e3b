import type { DynamicModule } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { KubeError } from '@reroll/kube/client/errors';
import { CatalogError } from '@reroll/redis/connection/errors';
import { ListenError } from '@reroll/shared/platform/http/listening';
import { trustMessagesOf } from '@reroll/shared/platform/logging/error-fields';
import { Process, type ProcessOptions } from './process.ts';
import { ProcessModule } from './process.module.ts';
import { SettingsError } from './settings-error.ts';

const WRONG_SETTINGS = 2;

/** Never rejects: a start that fails ends the process, with exit code 2 if its settings are wrong. */
export async function runProcess(
  name: string,
  options: ProcessOptions,
  start: (process: Process) => Promise<unknown>,
): Promise<void> {
  const process = new Process(name, options);
  const { lifecycle } = process;
  trustMessagesOf(KubeError, CatalogError, ListenError, SettingsError);
  try {
    await start(process);
  } catch (error) {
    // The shutdown began while it waited for a server. What the shutdown interrupts is not a failed start.
    if (lifecycle.signal.aborted) return;
    if (error instanceof CatalogError || error instanceof SettingsError)
      await lifecycle.stop(error.message, WRONG_SETTINGS);
    else await lifecycle.fail(`The ${name} could not start`, error);
  }
}

/** Resolves when everything is created and has been started. */
export async function startModules(process: Process, modules: readonly DynamicModule[]): Promise<void> {
  const root = ProcessModule.of(process, modules);
  await NestFactory.createApplicationContext(root, { logger: false, abortOnError: false });
}
