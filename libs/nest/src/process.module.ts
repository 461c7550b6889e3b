import { Module, type DynamicModule } from '@nestjs/common';
import { redisFileProblems } from '@reroll/shared/platform/options/groups/redis-files';
import { Lifecycle } from '@reroll/shared/platform/process/shutdown';
import { Registry } from 'prom-client';
import { Process } from './process.ts';
import { SettingsError } from './settings-error.ts';
import { LOG } from './tokens.ts';

/** The root module of every process: its roles, and what they share. */
@Module({})
export class ProcessModule {
  /** Throws a `SettingsError`. */
  static of(process: Process, roles: readonly DynamicModule[]): DynamicModule {
    const problems = redisFileProblems(process.options);
    if (problems.length > 0) throw new SettingsError(problems.join('; '));
    return {
      module: ProcessModule,
      global: true,
      imports: [...roles],
      providers: [
        { provide: Process, useValue: process },
        { provide: LOG, useValue: process.log },
        { provide: Registry, useValue: process.registry },
        { provide: Lifecycle, useValue: process.lifecycle },
      ],
      exports: [Process, LOG, Registry, Lifecycle],
    };
  }
}
