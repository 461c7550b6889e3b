import { RedisError } from '../replies.ts';

export interface StreamId {
  readonly time: number;
  readonly sequence: number;
}

export const FIRST_ID: StreamId = { time: 0, sequence: 0 };
export const LAST_ID: StreamId = { time: Number.MAX_SAFE_INTEGER, sequence: Number.MAX_SAFE_INTEGER };

export function compareIds(a: StreamId, b: StreamId): number {
  return a.time - b.time || a.sequence - b.sequence;
}

export function idText({ time, sequence }: StreamId): string {
  return `${time}-${sequence}`;
}

/** Parses `time-sequence`, or `time` alone with the given sequence. */
export function parseId(text: string, sequence: number): StreamId {
  const parts = /^(\d+)(?:-(\d+))?$/u.exec(text);
  if (!parts) throw new RedisError('ERR Invalid stream ID specified as stream command argument');
  return { time: Number(parts[1]), sequence: parts[2] === undefined ? sequence : Number(parts[2]) };
}

export function nextId({ time, sequence }: StreamId): StreamId {
  return { time, sequence: sequence + 1 };
}
