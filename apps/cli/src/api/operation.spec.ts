import { describe, expect, it } from 'vitest';
import type { OperationId } from '@reroll/shared/api/operations';
import { httpCall } from './operation.ts';

describe('input that the API does not take is refused with what was expected and given', () => {
  it.each<[OperationId, Parameters<typeof httpCall>[1], string]>([
    [
      'getChange',
      { params: { id: 'nope' } },
      'id: expected the id of a change, e.g. 1763737200123-0, given "nope"',
    ],
    [
      'retryJob',
      { params: { id: 'foo' }, body: { reason: 'r' } },
      'id: expected <queue>:<number of the job>, e.g. reloads:1234, given "foo"',
    ],
    [
      'retryJob',
      { params: { id: 'reloads:1' }, body: { reason: ' ' } },
      'reason: expected at least 1 character, given ""',
    ],
    ['retryJob', { params: { id: 'reloads:1' } }, 'reason: expected text, given nothing'],
  ])('%s %j', (id, input, message) => {
    expect(() => httpCall(id, input)).toThrow(expect.objectContaining({ message }));
  });
});
