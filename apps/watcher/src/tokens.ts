/** Tokens of what the module provides besides classes. */
import type { Rv } from '@reroll/core/rv';
import { token } from '@reroll/nest/provided';
import type { WatcherMetrics } from '@reroll/shared/platform/metrics/watcher';
import type { WatcherOptions } from '@reroll/shared/platform/options/parsing/table';
import type { BeginAnew } from './leadership.service.ts';
import type { StreamsContext } from './watch/kind-streams.ts';

export const WATCHER_OPTIONS = token<WatcherOptions>('options of the watcher');
export const WATCHER_METRICS = token<WatcherMetrics>('metrics of the watcher');
/** The term of the last leader that wrote before this process began; '0' if there is none. */
export const EARLIER_TERM = token<Rv>('term of the earlier leader');
export const STREAMS = token<StreamsContext>('what streams need');
export const BEGIN_ANEW = token<BeginAnew>('what is done after a restore of etcd');
export const META_INFO = token<boolean>('the meta info ConfigMap');
