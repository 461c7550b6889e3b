import 'reflect-metadata';
import { runProcess, startModules } from '@reroll/nest/run-process';
import { loadOptions } from '@reroll/shared/platform/options/parsing/load';
import { WatcherModule } from './watcher.module.ts';

const loaded = loadOptions('watcher');
if (loaded.ok) {
  const { options } = loaded;
  await runProcess('watcher', options, (process) =>
    startModules(process, [WatcherModule.of(options, process)]),
  );
}
