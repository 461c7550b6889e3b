import { Module } from '@nestjs/common';
import { CatalogModule } from '@reroll/nest/catalog.module';
import { RedisModule } from '@reroll/nest/redis.module';
import { Notifying } from './notifying.service.ts';

@Module({ imports: [CatalogModule, RedisModule], providers: [Notifying], exports: [Notifying] })
export class NotifyModule {}
