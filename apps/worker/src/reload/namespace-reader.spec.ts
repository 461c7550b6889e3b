import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { refusal } from '../testing/fake-api.ts';
import { NamespaceReader } from './namespace-reader.ts';

const FROZEN = { 'reroll.dev/freeze': '' };

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A reader, and the paths that it has asked for. */
function reader(answer: () => unknown) {
  const asked: string[] = [];
  const get = async (path: string) => {
    asked.push(path);
    return { body: answer() } as never;
  };
  return { namespaces: new NamespaceReader({ get }), asked };
}

it('reads a Namespace once in two seconds, however many ask, and keeps only what holds reloads', async () => {
  const { namespaces, asked } = reader(() => ({ metadata: { annotations: { ...FROZEN, other: 'x' } } }));
  const read = (name: string) => namespaces.annotations(name);
  expect(await Promise.all([read('a'), read('a'), read('b')])).toEqual([FROZEN, FROZEN, FROZEN]);
  vi.advanceTimersByTime(1_999);
  await read('a');
  expect(asked).toEqual(['/api/v1/namespaces/a', '/api/v1/namespaces/b']);
  vi.advanceTimersByTime(1);
  await read('a');
  expect(asked).toHaveLength(3);
});

it('has nothing of a Namespace that is not there, and asks again after an error', async () => {
  let error = refusal(404);
  const { namespaces, asked } = reader(() => {
    throw error;
  });
  expect(await namespaces.annotations('gone')).toEqual({});
  error = refusal(503);
  await expect(namespaces.annotations('a')).rejects.toBe(error);
  await expect(namespaces.annotations('a')).rejects.toBe(error);
  expect(asked).toHaveLength(3);
});
