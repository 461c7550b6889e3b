import { Module } from '@nestjs/common';
import { CatalogModule } from '@reroll/nest/catalog.module';
import { Process } from '@reroll/nest/process';
import { provided } from '@reroll/nest/provided';
import { RedisRoom } from '@reroll/redis/connection/redis-room';
import { History } from '@reroll/redis/history/history';
import { OutcomeRecorder } from './outcome-recorder.ts';
import { Activity } from './queue-runner.ts';
import { WORKER_METRICS } from './tokens.ts';

/** Milliseconds between two trims of the history by age. */
const HOUSEKEEPING = 15_000;

/** What all jobs share: whether any is running, and the recorder of their outcomes. */
@Module({
  imports: [CatalogModule],
  providers: [
    Activity,
    provided(
      OutcomeRecorder,
      [History, RedisRoom, WORKER_METRICS, Process],
      (history, room, metrics, { lifecycle, log }) => {
        const outcomes = new OutcomeRecorder({ history, room, metrics, log });
        lifecycle.onStop('history', 3_000, () => outcomes.flush());
        const timer = setInterval(() => {
          history
            .trim(Date.now())
            .catch((error: unknown) => log.failure('housekeeping in Redis failed', error));
        }, HOUSEKEEPING);
        lifecycle.onStop('housekeeping', 500, () => clearInterval(timer));
        return outcomes;
      },
    ),
  ],
  exports: [Activity, OutcomeRecorder],
})
export class OutcomesModule {}
