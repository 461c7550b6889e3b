import { expect, it } from 'vitest';
import { REQUEST_ANNOTATION } from './request-id.ts';
import { requestVerdict, type RequestFacts, type RequestVerdict } from './request-verdict.ts';

const NOW = 1_795_000_000_000;
const ID = `${NOW}-0123456789`;
const LATER = `${NOW + 1}-0123456789`;
const FACTS: RequestFacts = { request: ID, template: {}, workload: {}, dependencies: 1, now: NOW };

it.each<[string, Partial<RequestFacts>, RequestVerdict]>([
  ['a workload that opts in is rolled', {}, 'roll'],
  ['one without annotations at all too', { template: undefined, workload: undefined }, 'roll'],
  ['without a request nothing is', { request: undefined }, 'none'],
  ['one that does not opt in is not', { dependencies: 0 }, 'notAsked'],
  [
    'one whose pod template has the id is not rolled again',
    { template: { [REQUEST_ANNOTATION]: ID } },
    'done',
  ],
  ['one that has the id beside its record neither', { workload: { [REQUEST_ANNOTATION]: ID } }, 'done'],
  ['nor one that was rolled for a later request', { template: { [REQUEST_ANNOTATION]: LATER } }, 'done'],
  ['also if it opts in no more', { dependencies: 0, template: { [REQUEST_ANNOTATION]: ID } }, 'done'],
])('%s', (_what, facts, expected) => {
  expect(requestVerdict({ ...FACTS, ...facts })).toBe(expected);
});
