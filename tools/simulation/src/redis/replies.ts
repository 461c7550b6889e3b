/** An error of Redis, with its text as sent. Thrown by commands, and a reply itself. */
export class RedisError extends Error {
  override readonly name = 'RedisError';
}

/** A simple string, such as OK. */
export class Status {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

export const OK = new Status('OK');
export const QUEUED = new Status('QUEUED');
/** The array that is none, as `EXEC` and blocking commands answer. */
export const NO_ARRAY: unique symbol = Symbol('no array');

/** Strings have one character a byte. */
export type Reply = string | number | null | Status | RedisError | typeof NO_ARRAY | readonly Reply[];

export const WRONG_TYPE = 'WRONGTYPE Operation against a key holding the wrong kind of value';
export const NOT_INTEGER = 'ERR value is not an integer or out of range';
export const NOT_FLOAT = 'ERR value is not a valid float';
export const SYNTAX = 'ERR syntax error';

/** Writes a reply in RESP2. */
export function encodeReply(reply: Reply): string {
  if (typeof reply === 'string') return `$${reply.length}\r\n${reply}\r\n`;
  if (typeof reply === 'number') return `:${reply}\r\n`;
  if (reply === null) return '$-1\r\n';
  if (reply === NO_ARRAY) return '*-1\r\n';
  if (reply instanceof Status) return `+${reply.text}\r\n`;
  if (reply instanceof RedisError) return `-${reply.message.replaceAll(/[\r\n]/gu, ' ')}\r\n`;
  let text = `*${reply.length}\r\n`;
  for (const item of reply) text += encodeReply(item);
  return text;
}
