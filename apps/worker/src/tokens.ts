/** Tokens of what the modules provide besides classes. */
export const WORKER_OPTIONS = Symbol('options of the worker');
export const WORKER_METRICS = Symbol('metrics of the worker');
export const JOB_OBSERVERS = Symbol('observers of jobs');
export const TAKING_OPTIONS = Symbol('options of taking jobs');
export const RELOAD_WAYS = Symbol('ways of reloading');
export const RELOAD_SETTINGS = Symbol('settings of reload jobs');
