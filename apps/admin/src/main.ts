import 'reflect-metadata';
import { NestFactory } from '@nestjs/core';
import { loadOptions } from '@reroll/shared/platform/options/parsing/load';
import { AdminModule } from './admin.module.ts';
import { AdminService } from './admin.service.ts';

const loaded = loadOptions('admin');
if (loaded.ok) {
  const app = await NestFactory.createApplicationContext(AdminModule.of(loaded.options), { logger: false });
  await app.get(AdminService).run();
}
