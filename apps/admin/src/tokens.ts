/** Tokens of what the module provides besides classes. */
import { token } from '@reroll/nest/provided';
import type { AdminMetrics } from '@reroll/shared/platform/metrics/admin';
import type { AdminOptions } from '@reroll/shared/platform/options/parsing/table';
import type { Authenticator } from './auth/caller.ts';

export const ADMIN_OPTIONS = token<AdminOptions>('options of the admin');
export const ADMIN_METRICS = token<AdminMetrics>('metrics of the admin');
export const AUTHENTICATOR = token<Authenticator>('authenticator');
