/** What the modules provide besides classes. */
export const OPTIONS = Symbol('options');
export const LOG = Symbol('log');
export const REGISTRY = Symbol('metrics registry');
export const METRICS = Symbol('metrics');
export const LIFECYCLE = Symbol('lifecycle');
export const KUBE = Symbol('Kubernetes client');
/** These only in the module of the API, which is made when Redis is known to be ours. */
export const REDIS = Symbol('Redis');
export const ROOM = Symbol('room in Redis');
export const CATALOG = Symbol('catalog');
export const HISTORY = Symbol('history');
export const QUEUES = Symbol('queues');
export const AUTHENTICATOR = Symbol('authenticator');
export const WHY = Symbol('why');
export const PROCESSES = Symbol('processes');
export const REQUESTS = Symbol('requests');
export const LIMITS = Symbol('limits');
export const IDENTITY = Symbol('identity of the install');
