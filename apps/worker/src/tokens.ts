/** What the module provides besides classes. */
export const OPTIONS = Symbol('options');
export const LOG = Symbol('log');
export const REGISTRY = Symbol('metrics registry');
export const METRICS = Symbol('metrics');
export const LIFECYCLE = Symbol('lifecycle');
export const KUBE = Symbol('Kubernetes client');
