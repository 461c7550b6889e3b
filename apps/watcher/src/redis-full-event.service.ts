import { Inject, Injectable } from '@nestjs/common';
import { KubeClient } from '@reroll/kube/client/connection';
import { EventRecorder } from '@reroll/kube/kube-events';
import { RoomHooks } from '@reroll/nest/room-hooks';
import { LOG } from '@reroll/nest/tokens';
import type { Logger } from '@reroll/shared/platform/logging/logging';
import type { WatcherOptions } from '@reroll/shared/platform/options/parsing/table';
import { recordOnLease } from './lease-event.ts';
import { WatcherState } from './state.ts';
import { WATCHER_OPTIONS } from './tokens.ts';

const NOTE =
  'Redis has no room: the history is dropped, and not written until there is room. Reloads wait if that is not enough. Give ' +
  'Redis more memory (maxmemory), or find out what else fills it.';

/** Lets the leader trim the history and record an Event when Redis is full. */
@Injectable()
export class FullRedisEvents {
  constructor(
    private readonly client: KubeClient,
    private readonly events: EventRecorder,
    @Inject(WATCHER_OPTIONS) private readonly options: WatcherOptions,
    @Inject(LOG) log: Logger,
    state: WatcherState,
    hooks: RoomHooks,
  ) {
    hooks.trims = () => state.isLeading;
    hooks.onRoom = (isFull) => {
      if (!isFull || !state.isLeading) return;
      this.#record().catch((error: unknown) =>
        log.failure('cannot record the Event about the full Redis', error),
      );
    };
  }

  async #record(): Promise<void> {
    const { client, events, options } = this;
    const lease = { namespace: options.podNamespace, name: options.leaseName };
    await recordOnLease({ client, events, lease }, { reason: 'RedisFull', note: NOTE });
  }
}
