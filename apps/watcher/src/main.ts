import 'reflect-metadata';
import { NestFactory } from '@nestjs/core';
import { loadOptions } from '@reroll/shared/platform/options/parsing/load';
import { WatcherModule } from './watcher.module.ts';
import { WatcherService } from './watcher.service.ts';

const loaded = loadOptions('watcher');
if (loaded.ok) {
  const app = await NestFactory.createApplicationContext(WatcherModule.of(loaded.options), { logger: false });
  await app.get(WatcherService).run();
}
