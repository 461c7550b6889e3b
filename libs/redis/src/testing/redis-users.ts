import { readFileSync } from 'node:fs';
import type { Redis } from 'ioredis';
import type { RealRedis } from './real-redis.ts';
import { join } from 'node:path';

const GUIDE = join(import.meta.dirname, '../../../../docs/guide/redis.md');

/** The Redis users in the guide, by component. */
export const REDIS_USERS = {
  watcher: 'reroll-watcher',
  worker: 'reroll-worker',
  admin: 'reroll-admin',
} as const;

/** Returns the permissions that the guide gives to a user, one rule for each item, as `ACL SETUSER` takes them. */
export function documentedRules(user: string): readonly string[] {
  const guide = readFileSync(GUIDE, 'utf8');
  const rules = new RegExp(`^ACL SETUSER ${user} on >PASSWORD (.+)$`, 'm').exec(guide)?.[1];
  if (rules === undefined) throw new Error(`expected a line ACL SETUSER ${user} … in docs/guide/redis.md`);
  return rules.match(/\([^)]*\)|\S+/gu) ?? [];
}

/** A connection with the rights that the guide gives to a user. */
export async function connectAs(redis: RealRedis, user: string): Promise<Redis> {
  await redis.client.acl('SETUSER', user, 'reset', 'on', 'nopass', ...documentedRules(user));
  const client = redis.connect();
  await client.auth(user, '');
  return client;
}
