import { ReplyError } from 'ioredis';
import { expect, it } from 'vitest';
import { RedisSecrets } from './redis-secrets.ts';
import { serverOptions } from './redis-server.ts';

const REFUSED = "READONLY You can't write against a read only replica.";
const RECONNECT_AND_REPEAT = 2;
const CASES: readonly (readonly [of: string, message: string, reconnects: 2 | false])[] = [
  ['a command', REFUSED, RECONNECT_AND_REPEAT],
  ['a script', `${REFUSED} script: 0a1b, on @user_script:1.`, RECONNECT_AND_REPEAT],
  [
    'a script before Redis 7',
    `ERR Error running script (call to f_0a1b): @user_script:1: @user_script: 1: -${REFUSED}`,
    RECONNECT_AND_REPEAT,
  ],
  ['a want of rights', "NOPERM this user has no permissions to run 'eval'", false],
];

it.each(CASES)('the answer to %s: a replica is left, and the command repeated', (_, message, reconnects) => {
  const { reconnectOnError } = serverOptions({}, new RedisSecrets({}));
  expect(reconnectOnError?.(new ReplyError(message))).toBe(reconnects);
});
