import type { DynamicModule } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { KubeError } from '@reroll/kube/client/errors';
import { CatalogError } from '@reroll/redis/connection/errors';
import { ListenError } from '@reroll/shared/platform/http/listening';
import { trustMessagesOf } from '@reroll/shared/platform/logging/error-fields';
import { Process, type ProcessOptions } from './process.ts';
import { ProcessModule } from './process.module.ts';
import { SettingsError } from './settings-error.ts';

/** Never rejects: a failed start ends the process. */
export async function runProcess(
  name: string,
  options: ProcessOptions,
  start: (process: Process) => Promise<unknown>,
): Promise<void> {
  const process = new Process(name, options);
  trustMessagesOf(KubeError, CatalogError, ListenError, SettingsError);
  try {
    await start(process);
  } catch (error) {
    await process.startFailed(error);
  }
}

/** Resolves when everything is created and started. */
export async function startModules(process: Process, modules: readonly DynamicModule[]): Promise<void> {
  const root = ProcessModule.of(process, modules);
  await NestFactory.createApplicationContext(root, { logger: false, abortOnError: false });
}
