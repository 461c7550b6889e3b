import { find, inBrowser, mount, requests, text } from '../testing/mounted.ts';
import { h, type JSX } from 'preact';
import { expect, it, vi } from 'vitest';
import { call } from '../api/client.ts';
import { keepCalm } from '../state/calm.ts';
import { pulse } from '../state/live.ts';
import { goLongAgo } from '../testing/long-ago.ts';
import { localTime } from '../time.ts';
import { useAnswer } from '../use-answer.ts';
import { Answer } from './answer.tsx';

inBrowser();

function Queues(): JSX.Element {
  const answer = useAnswer('listQueues', {}, 'pulse');
  return h(Answer<(typeof answer)['data'] & {}>, {
    of: answer,
    what: 'queues',
    children: ({ items }) => `${items.length} queues`,
  });
}

it.each([
  ['is lost', () => requests.at(-1)?.fail()],
  ['is 503', () => requests.at(-1)?.answer({ title: 'Redis cannot be reached' }, 503)],
])('of data whose next answer %s, the time is told at which they came', async (_, goWrong) => {
  await mount(h(Queues, {}));
  const cameAt = new Date();
  await requests[0]?.answer({ items: [] });
  await vi.advanceTimersByTimeAsync(30 * 60_000);
  const other = call('getLimits');
  await requests.at(-1)?.answer({});
  await other;

  pulse.value += 1;
  await mount(h(Queues, {}));
  await goWrong();
  expect(text()).toContain('What is shown is from');
  expect(text()).toContain('0 queues');
  expect(find('time').attributes.get('dateTime')).toBe(cameAt.toISOString());
});

it('while the API wants to be left alone, it is said why and until when nothing is asked for', async () => {
  goLongAgo();
  const until = (seconds: number) => {
    keepCalm(seconds);
    const at = new Date(Date.now() + seconds * 1_000);
    return `Loading queues: waiting until ${localTime(at, new Date())}, because you have asked too often.`;
  };
  const first = until(30);
  await mount(h(Queues, {}));
  expect([text(), requests]).toEqual([first, []]);
  // Another request was one too many.
  const second = until(60);
  await vi.advanceTimersByTimeAsync(30_000);
  expect([text(), requests]).toEqual([second, []]);
  await vi.advanceTimersByTimeAsync(30_000);
  expect([text(), requests.length]).toEqual(['Loading queues…', 1]);
  await requests[0]?.answer({ items: [] });
  expect(text()).toBe('0 queues');
});

it('an answer that cannot be read is not called a lost connection', async () => {
  await mount(h(Queues, {}));
  await requests[0]?.answer(undefined);
  expect(text()).toContain('The answer could not be read.');
  expect(text()).not.toContain('connection');
});

it('a right that is missing is named', async () => {
  await mount(h(Queues, {}));
  await requests[0]?.answer({ detail: 'expected the right to list pods in the namespace shop' }, 403);
  expect(text()).toContain('You need the right to list pods in the namespace shop.');
});

it.each([
  [{ title: 'Unavailable', detail: 'Redis did not answer' }, 'Unavailable. Redis did not answer.'],
  [
    { title: 'Conflict', detail: 'the job has changed meanwhile' },
    'Conflict. The job has changed meanwhile.',
  ],
  [{}, 'The answer is not from Reroll. Something in between, such as a proxy, answered with status 502.'],
])('a problem is told in sentences: %o', async (problem, told) => {
  await mount(h(Queues, {}));
  await requests[0]?.answer(problem, 502);
  expect(text()).toContain(told);
});
