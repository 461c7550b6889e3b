/** Tokens of what the shared modules provide besides classes. */
import type { InstallIdentity } from '@reroll/kube/install-identity';
import type { RedisClient } from '@reroll/redis/connection/redis';
import type { Logger } from '@reroll/shared/platform/logging/logging';
import { token } from './provided.ts';

export const LOG = token<Logger>('log');
export const IDENTITY = token<InstallIdentity>('identity of the install');
export const REDIS = token<RedisClient>('Redis');
