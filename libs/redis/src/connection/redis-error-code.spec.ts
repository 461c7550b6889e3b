import { ReplyError } from 'ioredis';
import { expect, it } from 'vitest';
import { redisErrorCode } from './redis-error-code.ts';

const withCode = Object.assign(new Error('connect ECONNRESET 10.0.0.1'), { code: 'ECONNREFUSED' });
const ofCluster = Object.assign(new Error('Failed to refresh slots cache.'), { lastNodeError: withCode });
const CASES: readonly (readonly [text: string, error: unknown, code: string])[] = [
  ['a code', withCode, 'ECONNREFUSED'],
  ["a Cluster's last node", ofCluster, 'ECONNREFUSED'],
  ['a refusal', new ReplyError('WRONGPASS invalid username-password pair or user is disabled.'), 'WRONGPASS'],
  ['a want of rights', new ReplyError("NOPERM this user has no permissions to run 'info'"), 'NOPERM'],
  ['an answer that is not known', new ReplyError("ERR unknown command 'hunter2'"), 'ReplyError'],
  [
    'Sentinels that cannot be reached',
    new Error('All sentinels are unreachable. Retrying. Last error: connect ECONNREFUSED 127.0.0.1:1'),
    'ECONNREFUSED',
  ],
  [
    'a Sentinel that knows no such master',
    new Error('failed to connect to sentinel a:1 because ERR No such master with that name'),
    'UnknownMaster',
  ],
  [
    'a Sentinel that gives no address',
    new Error('connected to sentinel a:1 successfully, but got an invalid reply: null'),
    'UnknownMaster',
  ],
  ['something else', 'hunter2', 'Error'],
];

it.each(CASES)('of %s no text of a server is told', (_, error, code) => {
  expect(redisErrorCode(error)).toBe(code);
});
