/**
 * One process that is watcher, worker and admin, made of the compiled modules of the three apps. Options come from the
 * environment, since a flag of one app is an error for another.
 */
import 'reflect-metadata';
import { join } from 'node:path';
import { runProcess } from '@reroll/nest/run-process';
import { loadOptions } from '@reroll/shared/platform/options/parsing/load';

const APPS = join(import.meta.dirname, '../../apps');

const { WatcherModule } = (await import(
  join(APPS, 'watcher/build/watcher.module.js')
)) as typeof import('../../apps/watcher/src/watcher.module.ts');
const { WorkerModule } = (await import(
  join(APPS, 'worker/build/worker.module.js')
)) as typeof import('../../apps/worker/src/worker.module.ts');
const { AdminModule } = (await import(
  join(APPS, 'admin/build/admin.module.js')
)) as typeof import('../../apps/admin/src/admin.module.ts');
const { serveApi } = (await import(
  join(APPS, 'admin/build/serve-api.js')
)) as typeof import('../../apps/admin/src/serve-api.ts');

const watcher = loadOptions('watcher');
const worker = loadOptions('worker');
const admin = loadOptions('admin');
if (watcher.ok && worker.ok && admin.ok)
  await runProcess('reroll', worker.options, (process) =>
    serveApi(process, [
      WatcherModule.of(watcher.options, process),
      WorkerModule.of(worker.options, process),
      AdminModule.of(admin.options, process),
    ]),
  );
