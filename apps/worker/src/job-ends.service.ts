import { Inject, Injectable } from '@nestjs/common';
import { KubeClient } from '@reroll/kube/client/connection';
import { REDIS } from '@reroll/nest/tokens';
import { Catalog } from '@reroll/redis/catalog/catalog';
import type { RedisClient } from '@reroll/redis/connection/redis';
import { RedisRoom } from '@reroll/redis/connection/redis-room';
import { History } from '@reroll/redis/history/history';
import { Queues } from '@reroll/redis/queue/queues';

/** What jobs read and write. */
@Injectable()
export class JobSources {
  constructor(
    readonly client: KubeClient,
    @Inject(REDIS) readonly redis: RedisClient,
    readonly catalog: Catalog,
  ) {}
}

/** Where jobs leave what they did, and further jobs. */
@Injectable()
export class JobResults {
  constructor(
    readonly queues: Queues,
    readonly history: History,
    readonly room: RedisRoom,
  ) {}
}
