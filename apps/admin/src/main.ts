import 'reflect-metadata';
import { runProcess } from '@reroll/nest/run-process';
import { loadOptions } from '@reroll/shared/platform/options/parsing/load';
import { AdminModule } from './admin.module.ts';
import { serveApi } from './serve-api.ts';

const loaded = loadOptions('admin');
if (loaded.ok) {
  const { options } = loaded;
  await runProcess('admin', options, (process) => serveApi(process, [AdminModule.of(options, process)]));
}
