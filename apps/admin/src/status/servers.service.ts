import { Inject, Injectable } from '@nestjs/common';
import type { Status } from '@reroll/shared/api/status';
import { Catalog } from '@reroll/redis/catalog/catalog';
import { RedisRoom } from '@reroll/redis/connection/redis-room';
import type { RedisClient } from '@reroll/redis/connection/redis';
import { KubeClient } from '@reroll/kube/client/connection';
import type { InstallIdentity } from '@reroll/kube/install-identity';
import { Reachability, type Reachable } from './reachability.ts';
import { IDENTITY, REDIS } from '@reroll/nest/tokens';

/** Every authenticated user of a cluster may read it (`system:public-info-viewer`). */
const VERSION_PATH = '/version';
const AWAY: Reachable = { ok: false, milliseconds: null };

@Injectable()
export class Servers {
  readonly #reachability = new Reachability();

  constructor(
    @Inject(REDIS) private readonly client: RedisClient,
    private readonly catalog: Catalog,
    private readonly kube: KubeClient,
    private readonly room: RedisRoom,
    @Inject(IDENTITY) private readonly identity: InstallIdentity,
  ) {}

  get cluster(): string {
    return this.identity.cluster;
  }

  async redis(): Promise<Status['redis']> {
    if (this.client.status !== 'ready') return AWAY;
    const reachable = await this.#reachability.of('redis', () => this.catalog.ask());
    const { isFull, memory } = this.room;
    return { ...reachable, full: isFull, ...(memory ? { usedRatio: memory.used / memory.max } : {}) };
  }

  apiServer(): Promise<Reachable> {
    return this.#reachability.of('API server', (signal) => this.kube.get(VERSION_PATH, { signal }));
  }
}
