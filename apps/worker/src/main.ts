import 'reflect-metadata';
import { NestFactory } from '@nestjs/core';
import { loadOptions } from '@reroll/shared/platform/options/parsing/load';
import { WorkerModule } from './worker.module.ts';
import { WorkerService } from './worker.service.ts';

const loaded = loadOptions('worker');
if (loaded.ok) {
  const app = await NestFactory.createApplicationContext(WorkerModule.of(loaded.options), { logger: false });
  await app.get(WorkerService).run();
}
