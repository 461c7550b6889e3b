import 'reflect-metadata';
import { runProcess, startModules } from '@reroll/nest/run-process';
import { loadOptions } from '@reroll/shared/platform/options/parsing/load';
import { WorkerModule } from './worker.module.ts';

const loaded = loadOptions('worker');
if (loaded.ok) {
  const { options } = loaded;
  await runProcess('worker', options, (process) =>
    startModules(process, [WorkerModule.of(options, process)]),
  );
}
