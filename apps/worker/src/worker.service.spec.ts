import type { Process } from '@reroll/nest/process';
import { silentLogger } from '@reroll/shared/platform/logging/logging';
import { expect, it, vi } from 'vitest';
import { WorkerService } from './worker.service.ts';

type Given = ConstructorParameters<typeof WorkerService>;

it.each([
  [true, 0],
  [false, 1],
])(
  'the records that a dry run pretended are dropped by a worker that writes real ones (dry run: %s)',
  (dryRun, times) => {
    const dropPretended = vi.fn(async () => await Promise.resolve());
    const service = new WorkerService(
      { lifecycle: { onStop: () => undefined }, log: silentLogger } as unknown as Process,
      { concurrency: 1, shutdownTimeout: 20_000, dryRun } as unknown as Given[1],
      {} as unknown as Given[2],
      { take: () => [] } as unknown as Given[3],
      { start: () => undefined } as unknown as Given[4],
      { dropPretended } as unknown as Given[5],
    );
    service.onApplicationBootstrap();
    expect(dropPretended).toHaveBeenCalledTimes(times);
  },
);
