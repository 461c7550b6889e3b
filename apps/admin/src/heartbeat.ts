import { HEARTBEAT, type Processes } from '@reroll/shared/catalog/processes';
import type { Logger } from '@reroll/shared/platform/logging';
import type { Lifecycle } from '@reroll/shared/platform/shutdown';
import { VERSION } from '@reroll/shared/platform/version';

/** Says that this admin is there, until its end. */
export function beat(by: { processes: Processes; name: string; lifecycle: Lifecycle; log: Logger }): void {
  const { processes, name, lifecycle, log } = by;
  const id = `admin/${name}`;
  const entry = { app: 'admin', name, version: VERSION, startedAt: Date.now() } as const;
  const write = (): void => {
    processes
      .write(id, entry)
      .catch((error: unknown) => log.failure('what this process is could not be told', error));
  };
  write();
  const timer = setInterval(write, HEARTBEAT);
  lifecycle.onStop('heartbeat', 1_000, async () => {
    clearInterval(timer);
    await processes.remove(id);
  });
}
