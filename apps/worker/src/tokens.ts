/** What the module provides besides classes. */
export const WORKER_OPTIONS = Symbol('options of the worker');
export const WORKER_METRICS = Symbol('metrics of the worker');
