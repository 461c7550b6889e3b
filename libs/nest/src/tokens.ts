/** Tokens of what the shared modules provide besides classes. */
export const LOG = Symbol('log');
export const IDENTITY = Symbol('identity of the install');
export const REDIS = Symbol('Redis');
