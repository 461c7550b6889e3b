/** Tokens of what the module provides besides classes. */
export const WATCHER_OPTIONS = Symbol('options of the watcher');
export const WATCHER_METRICS = Symbol('metrics of the watcher');
/** The term of the last leader that wrote before this process began; '0' if there is none. */
export const EARLIER_TERM = Symbol('term of the earlier leader');
export const STREAMS = Symbol('what streams need');
export const BEGIN_ANEW = Symbol('what is done after a restore of etcd');
export const META_INFO = Symbol('the meta info ConfigMap');
