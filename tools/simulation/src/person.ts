/** Somebody who asks for reloads, as the admin does for its users. */
import type { WorkloadKey } from '@reroll/core/model';
import { catalogKeys } from '@reroll/redis/catalog/keys';
import { ReloadRequests } from '@reroll/redis/catalog/requests';
import { openRedis } from '@reroll/redis/connection/redis';
import { Queues } from '@reroll/redis/queue/queues';
import type { SimulatedApi } from './api/simulated-api.ts';
import type { SimulatedRedis } from './redis/server.ts';
import type { Events, Owner } from './scheduler.ts';
import { INSTALL } from './world/shapes.ts';

export interface PersonBy {
  readonly events: Events;
  readonly api: SimulatedApi;
  readonly redis: SimulatedRedis;
  readonly asked: (workload: WorkloadKey) => void;
  readonly stored: (workload: WorkloadKey, id: string) => void;
}

interface Admin {
  readonly requests: ReloadRequests;
  readonly queues: Queues;
}

export class Person {
  readonly #by: PersonBy;
  readonly #owner: Owner = { name: 'admin', isAlive: true };
  #admin: Admin | undefined;

  constructor(by: PersonBy) {
    this.#by = by;
  }

  /** Asks for a reload of the workload. Does not try again if that fails. */
  ask(workload: WorkloadKey): void {
    this.#by.events.after(0, this.#owner, () => {
      this.#admin ??= this.#open();
      this.#by.asked(workload);
      // Of one that failed nobody can tell whether it was stored.
      this.#request(this.#admin, workload).catch(() => undefined);
    });
  }

  /** For good. */
  end(): void {
    this.#owner.isAlive = false;
  }

  async #request({ requests, queues }: Admin, workload: WorkloadKey): Promise<void> {
    const { id } = await requests.put(workload, { actor: 'ann', reason: 'a test' });
    this.#by.stored(workload, id);
    await queues.enqueueReloadNow(workload, Date.now());
  }

  #open(): Admin {
    const { api, redis } = this.#by;
    const system = api.as('world').get({ kind: 'Namespace', namespace: '', name: 'kube-system' });
    const keys = catalogKeys({ cluster: system?.metadata.uid ?? '', namespace: INSTALL });
    const connection = openRedis(
      { redisConnector: redis.connectorFor(this.#owner) },
      { onDown: () => undefined, onUp: () => undefined },
    );
    const queues = new Queues({ connection, prefix: keys.prefix, debounce: 0, attempts: 5, backoff: 1_000 });
    return { requests: new ReloadRequests(connection, keys.requests), queues };
  }
}
