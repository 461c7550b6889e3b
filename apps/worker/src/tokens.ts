/** Tokens of what the modules provide besides classes. */
import { token } from '@reroll/nest/provided';
import type { WorkerMetrics } from '@reroll/shared/platform/metrics/worker';
import type { WorkerOptions } from '@reroll/shared/platform/options/parsing/table';
import type { JobObservers, TakingOptions } from './queue-runner.ts';
import type { ReloadPorts, ReloadSettings } from './reload/reload.processor.ts';
import type { ReloadWays } from './reload/send/reload-ways.ts';

export const WORKER_OPTIONS = token<WorkerOptions>('options of the worker');
export const WORKER_METRICS = token<WorkerMetrics>('metrics of the worker');
export const JOB_OBSERVERS = token<JobObservers>('observers of jobs');
export const TAKING_OPTIONS = token<TakingOptions>('options of taking jobs');
export const RELOAD_WAYS = token<ReloadWays>('ways of reloading');
export const RELOAD_PORTS = token<ReloadPorts>('ports of reload jobs');
export const RELOAD_SETTINGS = token<ReloadSettings>('settings of reload jobs');
