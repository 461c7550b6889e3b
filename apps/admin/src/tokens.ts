/** Tokens of what the module provides besides classes. */
export const ADMIN_OPTIONS = Symbol('options of the admin');
export const ADMIN_METRICS = Symbol('metrics of the admin');
export const AUTHENTICATOR = Symbol('authenticator');
