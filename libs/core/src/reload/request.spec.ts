import { expect, it } from 'vitest';
import {
  isRequestDone,
  isRequestId,
  REQUEST_ANNOTATION,
  requestState,
  type RequestFacts,
  type RequestState,
} from './request.ts';

const NOW = 1_795_000_000_000;
const id = (time: number, tail = '0123456789'): string => `${time}-${tail}`;

it.each<[string, string | undefined, string, boolean]>([
  ['a template without an id was rolled for none', undefined, id(NOW), false],
  ['a template with the id itself was', id(NOW), id(NOW), true],
  ['a template with a later id was', id(NOW + 1), id(NOW), true],
  ['a template with an earlier id was not', id(NOW - 1), id(NOW), false],
  ['another id of the same moment says nothing', id(NOW, 'aaaaaaaaaa'), id(NOW), false],
  ['an id of the far future is of nobody', id(NOW + 300_001), id(NOW), false],
  ['an id of a clock that is a little ahead counts', id(NOW + 300_000), id(NOW), true],
  ['what is no id says nothing', 'tomorrow', id(NOW), false],
  ['what is no id is itself all the same', 'tomorrow', 'tomorrow', true],
])('%s', (_what, done, request, expected) => {
  expect(isRequestDone(done, request, NOW)).toBe(expected);
});

it.each([
  [id(NOW), true],
  ['', false],
  ['1795000000000', false],
  ['1795000000000-0123456789\n', false],
  ['-0123456789', false],
  [`${'9'.repeat(16)}-0123456789`, false],
])('%j is an id of a request: %s', (text, expected) => {
  expect(isRequestId(text)).toBe(expected);
});

const LATER = id(NOW + 1);
const FACTS: RequestFacts = { request: id(NOW), template: {}, workload: {}, dependencies: 1, now: NOW };

it.each<[string, Partial<RequestFacts>, RequestState]>([
  ['a workload that opts in is rolled', {}, 'reload'],
  ['one without annotations at all too', { template: undefined, workload: undefined }, 'reload'],
  ['without a request nothing is', { request: undefined }, 'none'],
  ['one that does not opt in is not', { dependencies: 0 }, 'notAsked'],
  [
    'one whose pod template has the id is not rolled again',
    { template: { [REQUEST_ANNOTATION]: id(NOW) } },
    'done',
  ],
  ['one that has the id beside its record neither', { workload: { [REQUEST_ANNOTATION]: id(NOW) } }, 'done'],
  ['nor one that was rolled for a later request', { template: { [REQUEST_ANNOTATION]: LATER } }, 'done'],
  ['also if it opts in no more', { dependencies: 0, template: { [REQUEST_ANNOTATION]: id(NOW) } }, 'done'],
])('%s', (_what, facts, expected) => {
  expect(requestState({ ...FACTS, ...facts })).toBe(expected);
});
