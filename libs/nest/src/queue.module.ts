import { Module } from '@nestjs/common';
import { Catalog } from '@reroll/redis/catalog/catalog';
import { Queues } from '@reroll/redis/queue/queues';
import { CatalogModule } from './catalog.module.ts';
import { Process } from './process.ts';
import { provided } from './provided.ts';
import { RedisModule } from './redis.module.ts';
import { REDIS } from './tokens.ts';
import { endIfUnusable } from './unusable-queues.ts';

/** The queues, for modules that enqueue jobs. */
@Module({
  imports: [CatalogModule, RedisModule],
  providers: [
    provided(Queues, [Process, Catalog, REDIS], ({ options, lifecycle }, { keys }, connection) => {
      const { debounce = 0, attempts, backoff } = options;
      const queues = new Queues({ connection, prefix: keys.prefix, debounce, attempts, backoff });
      endIfUnusable(lifecycle, queues.all);
      lifecycle.onStop('queues', 2_000, () => queues.close());
      return queues;
    }),
  ],
  exports: [Queues],
})
export class QueueModule {}
